"""`pinfold archives restore`: an agent, or a part of one, brought back."""

from __future__ import annotations

from typing import cast

import click

from services.operations import Part
from tui.verbs.call import Call, verb
from tui.verbs.operations.running import refuse, run_to_end, show_plan


@click.command("restore")
@verb
@click.argument("archive")
@click.option("--alias", default="", help="Whose it is to be; else the agent's that was archived.")
@click.option(
    "--part",
    type=click.Choice(["agent", "config", "memory", "files"]),
    default="agent",
    show_default=True,
    help="What is restored; a part needs an agent that is there.",
)
@click.option("--path", default="", help="With --part files: the file or folder, such as workspace/src.")
@click.option("--overwrite", is_flag=True, help="Replace what is there; with --part config it is archived first.")
@click.option(
    "--reference",
    multiple=True,
    metavar="FILE:KEY",
    help="Put back this reference; `archives show` names them.",
)
@click.option("--all-references", is_flag=True, help="Put back every dropped reference.")
@click.option("--dry-run", is_flag=True, help="Show what would change and change nothing.")
async def restore(
    call: Call,
    archive: str,
    alias: str,
    part: str,
    path: str,
    overwrite: bool,
    reference: tuple[str, ...],
    all_references: bool,
    dry_run: bool,
) -> None:
    """Bring back what an archive keeps; it is verified first, and stays as it is."""
    async with call.pinfold(supervise=False) as pinfold:
        plan = await pinfold.operations.plan_restore(
            archive,
            alias=alias,
            part=cast("Part", part),
            path=path,
            overwrite=overwrite,
            references=("*",) if all_references else reference,
        )
        if dry_run:
            show_plan(call, plan)
        refuse(plan)
        if not dry_run:
            await run_to_end(call, pinfold.operations.carry_out(plan))
