"""`pinfold sessions logs`: what a session printed."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

import click

from services.agents import parse_duration
from services.output import Stream
from tui.verbs.call import Call, verb
from tui.verbs.copying import ALL_STREAMS, OUTPUT_STREAMS, AsJson, AsText, Bytes, Lines, Target, copy_output

if TYPE_CHECKING:
    from services.output import SpoolReader

_STREAMS = {"stdout": frozenset({Stream.STDOUT}), "stderr": frozenset({Stream.STDERR}), "all": ALL_STREAMS}
_QUIET_SECONDS = 0.5
_CATCH_UP_SECONDS = 30.0


def _moment(_context: click.Context, _parameter: click.Parameter, text: str | None) -> int | None:
    """Read how long ago, or a date with a time; returns nanoseconds since 1970."""
    if text is None:
        return None
    with suppress(ValueError):
        return time.time_ns() - int((parse_duration(text) or 0) * 1_000_000_000)
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1_000_000) * 1000
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(f"{text!r} is neither like 10m nor like 2026-11-30T12:04:31") from error


@click.command("logs")
@verb
@click.argument("name", metavar="SESSION")
@click.option("-f", "--follow", is_flag=True, help="Go on until the session has ended.")
@click.option("--tail", type=click.IntRange(min=0), metavar="N", help="Only the last N lines of what is there.")
@click.option(
    "--since", callback=_moment, metavar="TIME", help="Only from this moment on: 10m, 1h30m, or 2026-11-30T12:04:31."
)
@click.option("--stream", "chosen", type=click.Choice(["stdout", "stderr", "all"]), default="all", show_default=True)
@click.option("--times", is_flag=True, help="Put the local time of arrival before each line.")
@click.option("--raw", is_flag=True, help="Bytes as they came, also on a terminal, which they may then drive.")
async def logs(
    call: Call,
    name: str,
    follow: bool,
    tail: int | None,
    since: int | None,
    chosen: str,
    times: bool,
    raw: bool,
) -> None:
    """Print what a session printed, and Pinfold's own notes in between.

    On a terminal lines are cleaned of everything that could drive it. In a pipe they are the bytes as they came,
    without notes.
    """
    if raw and (times or call.json):
        raise click.UsageError("--raw prints bytes as they came; leave out --times and --json")
    async with call.pinfold(supervise=False) as pinfold, asyncio.TaskGroup() as tasks:
        session = await pinfold.sandboxes.session(name)
        # Whoever waits for a session also brings its output here when no other Pinfold does.
        waiting = tasks.create_task(pinfold.sandboxes.wait(session.id))
        with await pinfold.sandboxes.output(session.id) as reader:
            if session.state.live and not follow:
                await _catch_up(reader)
            start = _first_line(reader, tail, since)
            target = _target(call, session.id, chosen, start, times=times, raw=raw)
            await copy_output(reader, [target], follow=follow)
        waiting.cancel()


def _target(call: Call, session: str, chosen: str, start: int, *, times: bool, raw: bool) -> Target:
    descriptor = sys.stdout.fileno()
    if call.json:
        return Lines(descriptor, _STREAMS[chosen], start, AsJson(session), partial=False)
    printer = call.printer
    if times or (printer.terminal and not raw):
        draw = AsText(times, printer.terminal, printer.colours)
        return Lines(descriptor, _STREAMS[chosen], start, draw, partial=not times)
    return Bytes(descriptor, _STREAMS[chosen] & OUTPUT_STREAMS, start)


def _first_line(reader: SpoolReader, tail: int | None, since: int | None) -> int:
    first = reader.first if since is None else reader.line_at(since)
    return first if tail is None else max(first, reader.end - tail)


async def _catch_up(reader: SpoolReader) -> None:
    """Wait until what a live session printed up to now is in the spool, also when no Pinfold was following it."""
    now = time.time_ns()
    deadline = time.monotonic() + _CATCH_UP_SECONDS
    with suppress(TimeoutError):  # nothing came for a moment
        while not reader.complete and reader.line_at(now) == reader.end and time.monotonic() < deadline:
            async with asyncio.timeout(_QUIET_SECONDS):
                await reader.changed(reader.size)
