"""`pinfold sessions`: what ran and runs."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import click

from services.errors import PinfoldError
from tui.figures import ago, counted, duration, moment, size
from tui.glyphs import glyphs
from tui.invocation import complain
from tui.looks import LOOKS
from tui.verbs.call import Call, verb
from tui.verbs.documents import (
    LimitsDocument,
    MountDocument,
    OrphanDocument,
    OutputDocument,
    ResultDocument,
    SessionDetails,
    SessionDocument,
    StepDocument,
)
from tui.verbs.logs import logs
from tui.verbs.table import Cell, Column

if TYPE_CHECKING:
    from services.pinfold import Pinfold
    from services.sandbox import Orphan, Session, Step
    from tui.looks import Tone

FAILED = 1
_SECOND = 1_000_000_000
_COLUMNS = (
    Column("ID"),
    Column("AGENT", cut="middle"),
    Column("RUNNER", spare=4),
    Column("ENGINE", spare=2),
    Column("STATE"),
    Column("LIFECYCLE", spare=3),
    Column("AGE", right=True, spare=6),
    Column("RAN", right=True, spare=5),
    Column("EXIT", right=True, spare=1),
    Column("DETAIL", cut="end", spare=7),
)


@click.group("sessions")
def command() -> None:
    """List sessions, read their output, stop and remove them.

    A session is named by its id, by a start of the id that fits no other, or by an agent's alias, which means the
    newest session of that agent.
    """


command.add_command(logs)


@command.command("list")
@verb
@click.option("--live", is_flag=True, help="Only those that run, start or stop.")
@click.option("--agent", metavar="ALIAS", default="", help="Only those of this agent.")
async def list_sessions(call: Call, live: bool, agent: str) -> None:
    """List sessions, the newest first."""
    async with call.pinfold() as pinfold:
        sessions = await pinfold.sandboxes.sessions()
    shown = [session for session in sessions if session.state.live >= live and agent in ("", session.agent)]
    if call.json:
        call.printer.document([SessionDocument.of(session) for session in shown])
    elif shown or not call.printer.terminal:
        call.printer.table(_COLUMNS, [_row(session, time.time_ns()) for session in shown])
    else:
        call.printer.line("No sessions. `pinfold run ALIAS` starts one.", "muted")


@command.command("show")
@verb
@click.argument("name", metavar="SESSION")
async def show_session(call: Call, name: str) -> None:
    """Show one session: its steps, what its sandbox sees and may use, how much it printed."""
    async with call.pinfold() as pinfold:
        session = await pinfold.sandboxes.session(name)
        steps = await pinfold.sandboxes.steps(session.id)
        with await pinfold.sandboxes.output(session.id) as reader:
            output = OutputDocument.of(reader)
    if call.json:
        call.printer.document(_details(session, steps, output))
    else:
        _print_session(call, session, output)
        _print_steps(call, steps)


@command.command("interrupt")
@verb
@click.argument("names", metavar="SESSION...", nargs=-1, required=True)
async def interrupt_sessions(call: Call, names: tuple[str, ...]) -> int:
    """Send an interrupt to the main process, as ctrl-c would; it may go on."""

    async def interrupt(pinfold: Pinfold, session: Session) -> str:
        await pinfold.sandboxes.interrupt(session.id)
        return "interrupted"

    return await _each(call, names, interrupt)


@command.command("stop")
@verb
@click.argument("names", metavar="SESSION...", nargs=-1, required=True)
async def stop_sessions(call: Call, names: tuple[str, ...]) -> int:
    """Stop: interrupt, then TERM, then KILL, each after the agent's stop_timeout."""

    async def stop(pinfold: Pinfold, session: Session) -> str:
        return (await pinfold.sandboxes.stop(session.id)).state.value

    return await _each(call, names, stop)


@command.command("kill")
@verb
@click.argument("names", metavar="SESSION...", nargs=-1, required=True)
async def kill_sessions(call: Call, names: tuple[str, ...]) -> int:
    """Kill at once."""

    async def kill(pinfold: Pinfold, session: Session) -> str:
        return (await pinfold.sandboxes.kill(session.id)).state.value

    return await _each(call, names, kill)


@command.command("rm")
@verb
@click.argument("names", metavar="SESSION...", nargs=-1, required=True)
@click.option("--force", is_flag=True, help="Kill it first when it is live.")
async def remove_sessions(call: Call, names: tuple[str, ...], force: bool) -> int:
    """Remove sessions with their sandboxes, records and output."""

    async def remove(pinfold: Pinfold, session: Session) -> str:
        await pinfold.sandboxes.remove(session.id, force=force)
        return "removed"

    return await _each(call, names, remove)


@command.command("shell", context_settings={"allow_interspersed_args": False})
@verb
@click.argument("name", metavar="SESSION")
@click.argument("program", metavar="[COMMAND]...", nargs=-1, type=click.UNPROCESSED)
async def open_shell(call: Call, name: str, program: tuple[str, ...]) -> int:
    """Open a shell, or a command, in a running sandbox; exits with its status.

    ctrl-] typed three times within a second leaves a shell that does not answer.
    """
    if call.json:
        raise click.UsageError("a shell has no JSON")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("a shell needs a terminal")
    from tui.terminal import relay

    async with call.pinfold() as pinfold:
        terminal = os.get_terminal_size(sys.stdout.fileno())
        shell = await pinfold.sandboxes.shell(name, program, terminal.columns, terminal.lines)
        return await relay(shell)


@command.command("orphans")
@verb
@click.option("--remove", is_flag=True, help="Remove them.")
async def list_orphans(call: Call, remove: bool) -> None:
    """List sandboxes that carry this home's label and belong to no session."""
    async with call.pinfold() as pinfold:
        orphans = await pinfold.sandboxes.find_orphans()
        for orphan in orphans if remove else ():
            await pinfold.sandboxes.remove_orphan(orphan)
    if call.json:
        call.printer.document([OrphanDocument.of(orphan) for orphan in orphans])
    elif orphans or not call.printer.terminal:
        columns = (Column("ENGINE"), Column("SANDBOX", cut="end"), Column("SESSION"), Column("AGENT"), Column("STATUS"))
        call.printer.table(columns, [_orphan_row(orphan, removed=remove) for orphan in orphans])
    else:
        call.printer.line("No orphans.", "muted")


async def _each(call: Call, names: tuple[str, ...], act: Callable[[Pinfold, Session], Awaitable[str]]) -> int:
    """Do something with each session at once, with all of them even when one fails; 1 when one did.

    All names are looked up first, so that a slip does nothing by halves.
    """
    async with call.pinfold() as pinfold:
        sessions = {found.id: found for found in [await pinfold.sandboxes.session(name) for name in names]}
        results = await asyncio.gather(*(_result(pinfold, session, act) for session in sessions.values()))
    if call.json:
        call.printer.document(results)
    for result in () if call.json else results:
        if result.error:
            complain(result.error)
        else:
            call.printer.line(f"{result.id}  {result.agent}  {result.result}")
    return FAILED if any(result.error for result in results) else 0


async def _result(
    pinfold: Pinfold, session: Session, act: Callable[[Pinfold, Session], Awaitable[str]]
) -> ResultDocument:
    try:
        return ResultDocument(session.id, session.agent, await act(pinfold, session))
    except PinfoldError as error:
        return ResultDocument(session.id, session.agent, "", str(error))


def _row(session: Session, now: int) -> list[Cell]:
    sign, tone = LOOKS[session.state.value]
    end = session.ended_at or now
    ran = duration((end - session.started_at) / _SECOND) if session.started_at else ""
    return [
        Cell(session.id),
        Cell(session.agent),
        Cell(session.runner),
        Cell(session.engine) if session.confined else Cell(f"{session.engine} (unconfined)", "warn"),
        Cell(session.state.value, tone, getattr(glyphs(), sign)),
        Cell(session.lifecycle),
        Cell(ago(session.created_at, now), "muted"),
        Cell(ran),
        Cell("" if session.exit_code is None else str(session.exit_code), tone),
        Cell(session.detail, "muted"),
    ]


def _orphan_row(orphan: Orphan, *, removed: bool) -> list[Cell]:
    status = "removed" if removed else orphan.status
    return [Cell(orphan.engine), Cell(orphan.sandbox), Cell(orphan.session), Cell(orphan.agent), Cell(status)]


def _details(session: Session, steps: list[Step], output: OutputDocument) -> SessionDetails:
    spec = session.spec
    return SessionDetails(
        session=SessionDocument.of(session),
        network=spec.network,
        secrets=spec.secrets,
        limits=LimitsDocument(spec.limits.memory, spec.limits.cpus, spec.limits.pids),
        mounts=tuple(MountDocument(mount.source, mount.target, mount.writable) for mount in spec.mounts),
        output=output,
        steps=tuple(StepDocument.of(step) for step in steps),
    )


def _print_session(call: Call, session: Session, output: OutputDocument) -> None:
    spec = session.spec
    limits = spec.limits
    lost = output.dropped_lines + output.lost_lines
    facts = (
        ("agent", session.agent),
        ("state", f"{session.state.value}  {session.detail}".rstrip()),
        ("exit", "" if session.exit_code is None else str(session.exit_code)),
        ("runner", session.runner),
        ("engine", session.engine if session.confined else f"{session.engine}, unconfined"),
        ("image", session.image),
        ("command", shlex.join(spec.command)),
        ("prompt", session.prompt),
        ("lifecycle", session.lifecycle),
        ("idle after", "" if session.idle_timeout is None else duration(session.idle_timeout)),
        ("workspace", session.workspace),
        ("network", spec.network),
        ("memory", "unlimited" if limits.memory is None else size(limits.memory)),
        ("cpus", "unlimited" if limits.cpus is None else f"{limits.cpus:g}"),
        ("pids", "unlimited" if limits.pids is None else str(limits.pids)),
        ("secrets", " ".join(spec.secrets)),
        ("created", moment(session.created_at)),
        ("started", moment(session.started_at) if session.started_at else ""),
        ("ended", moment(session.ended_at) if session.ended_at else ""),
        ("output", counted(output.end - output.first, "line")),
        ("missing", counted(lost, "line") if lost else ""),
    )
    call.printer.line(session.id, "strong")
    for name, value in facts:
        if value:
            call.printer.line(f"  {name:<10}  {value}")
    for mount in spec.mounts:
        access = "writes" if mount.writable else "reads"
        call.printer.line(f"  {access:<10}  {mount.target}  from {mount.source}")


def _print_steps(call: Call, steps: list[Step]) -> None:
    if steps:
        call.printer.line()
        call.printer.table(
            (Column("STEP"), Column("STATE"), Column("TOOK", right=True), Column("DETAIL", cut="end")),
            [_step_row(step) for step in steps],
        )


def _step_row(step: Step) -> list[Cell]:
    tones: dict[str, Tone] = {"failed": "bad", "running": "good", "cancelled": "muted"}
    took = duration((step.ended_at - step.started_at) / _SECOND) if step.ended_at else ""
    return [Cell(step.name), Cell(step.state, tones.get(step.state, "")), Cell(took), Cell(step.detail, "muted")]
