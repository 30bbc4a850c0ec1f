"""The verb that gives an agent's memories vectors."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

import click
import msgspec

from tui.figures import counted
from tui.verbs.call import Call, verb

if TYPE_CHECKING:
    from services.memory import EmbedPlan, EmbedProgress


class EmbedDocument(msgspec.Struct, frozen=True):
    """One step of embedding: `plan` first, then `embed` as often as some memories are done, and `done`.

    `outdated` memories had a vector of another model, address or size, `missing` ones none; `kept_back` ones are given
    to nobody because of what the scan found in them, `refused` ones the embedder does not take.
    """

    step: str
    alias: str
    embedder: str
    model: str
    memories: int
    outdated: int
    missing: int
    done: int
    total: int
    kept_back: int
    refused: int

    @classmethod
    def of(cls, step: str, plan: EmbedPlan, progress: EmbedProgress | None = None) -> EmbedDocument:
        """Describe a step."""
        done, total = (progress.done, progress.total) if progress else (0, plan.todo)
        kept_back, refused = (progress.kept_back, progress.refused) if progress else (0, 0)
        return cls(
            step,
            plan.alias,
            plan.embedder,
            plan.model,
            plan.memories,
            plan.outdated,
            plan.missing,
            done,
            total,
            kept_back,
            refused,
        )


@click.command("embed")
@verb
@click.argument("alias")
@click.option("--dry-run", is_flag=True, help="Only say what would be embedded; asks no embedder.")
async def embed(call: Call, alias: str, dry_run: bool) -> None:
    """Give all memories of the agent ALIAS vectors of the embedder in its [memory.vectors].

    What it stores from now on gets its vector by itself; this is for what was there before, and for all of it after
    another model was named. What was interrupted goes on with the same command. With --json every step is a line.
    """
    from tui.verbs.operations.running import ProgressLine

    line = ProgressLine()
    async with call.pinfold(supervise=False) as pinfold:
        run = pinfold.agent_memories.embed_run(alias)
        plan = await run.plan()
        _print_plan(call, plan, dry_run=dry_run)
        if dry_run:
            return
        last: EmbedProgress | None = None
        try:
            async with aclosing(run.run()) as steps:
                async for last in steps:
                    line.show(f"{last.done:,} of {last.total:,} embedded")
                    if call.json:
                        call.printer.json_lines([EmbedDocument.of("embed", plan, last)])
        finally:
            line.clear()
    if last is not None:
        _print_done(call, plan, last)


def _print_plan(call: Call, plan: EmbedPlan, *, dry_run: bool) -> None:
    if call.json:
        call.printer.json_lines([EmbedDocument.of("plan", plan)])
        return
    would = "would be embedded" if dry_run else "to embed"
    memories = counted(plan.memories, "memory", "memories")
    outdated = f", {plan.outdated:,} of them again" if plan.outdated else ""
    call.printer.line(f"{plan.todo:,} of {memories} of {plan.alias} {would} by {plan.model}{outdated}")


def _print_done(call: Call, plan: EmbedPlan, last: EmbedProgress) -> None:
    if call.json:
        call.printer.json_lines([EmbedDocument.of("done", plan, last)])
        return
    call.printer.line(f"{last.done - last.kept_back - last.refused:,} embedded")
    if last.kept_back:
        call.printer.line(f"{last.kept_back:,} given to nobody, because of what the scan found in them", "muted")
    if last.refused:
        call.printer.line(f"{last.refused:,} not taken by the embedder; found by words alone", "warn")


VERBS = (embed,)
"""In the order of the help."""
