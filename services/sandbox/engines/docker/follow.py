"""A sandbox's output, from the engine's log into the spool: nothing lost, nothing twice, however often either is lost.

One loop does it all. Ask what the container is; while it runs, follow its log from the spool's cursor until the stream
ends, for whatever reason; once it has exited, read the log without following until such a reading is whole and brings
nothing new, since the engine cuts the tail of a follow at the end of a container. While the engine is away, wait.
"""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from services.errors import EngineUnavailable, SandboxGone, SpoolError
from services.output import Chunk, Cursor, Demultiplexer, Position, SpoolWriter, Stream
from services.sandbox.engines.docker.api import Api, EngineStream
from services.sandbox.engines.docker.container import Container
from services.sandbox.engines.docker.failures import Refused
from services.sandbox.engines.docker.instants import since

_IDLE_SECONDS = 0.1
"""After so long without output a line that has not ended is written as it is."""

_PAUSES = ((40 * 1024, 0.001), (8 * 1024, 0.003), (1024, 0.01), (0, 0.1))
"""After so many bytes at once, how many seconds output may gather: few large reads cost less than many small ones.

The kernel holds some 270 lines for a reader that pauses, so a busy sandbox gets short pauses."""

_SKEW, _SKEW_AT_THE_END = 5_000_000_000, 1_000_000_000
"""Nanoseconds by which one stream's frames may lie behind the other's in the log; generous by far."""

_OPEN_LINE = 600_000_000_000
"""Nanoseconds a line may stay without its end, when it is not known whether one is open."""

_FIRST_WAIT, _LONGEST_WAIT = 0.05, 2.0
_ATTEMPTS_AT_THE_END = 6


class _Reading(Enum):
    """How a log is read."""

    FOLLOW = "while the sandbox runs"
    FIRST = "of an ended sandbox, to catch up"
    LAST = "of an ended sandbox, until one reading is whole and brings nothing new"


@dataclass
class _Waits:
    """Grows from attempt to attempt; starts again after a success."""

    seconds: float = _FIRST_WAIT

    async def wait(self) -> None:
        await asyncio.sleep(self.seconds)
        self.seconds = min(self.seconds * 2, _LONGEST_WAIT)

    def reset(self) -> None:
        self.seconds = _FIRST_WAIT


class Follower:
    """Brings one sandbox's output into its spool.

    Args:
        look: Returns the engine and the inspected container; raises SandboxGone when it is not there, or not ours.
        spool: Where to; its cursor says where to begin.
    """

    def __init__(self, look: Callable[[], Awaitable[tuple[Api, Container]]], spool: SpoolWriter) -> None:
        self._look = look
        self._spool = spool
        self._open_lines: dict[Stream, bool] = {}
        self._complaint = ""

    async def run(self) -> None:
        """Follow until the sandbox has ended and every byte is in the spool.

        Raises:
            SandboxGone: The engine does not know it any more.
        """
        waits = _Waits()
        failures, exited, caught_up = 0, False, False
        while True:
            try:
                api, container = await self._look()
                if container.status == "created":
                    await waits.wait()
                    continue
                exited = container.status == "exited"
                reading = _Reading.FOLLOW if not exited else _Reading.LAST if caught_up else _Reading.FIRST
                taken = await self._take_in(api, container, reading)
            except EngineUnavailable:
                await waits.wait()
                continue
            except (Refused, SpoolError) as error:
                failures += 1
                self._complain(error, final=failures >= _ATTEMPTS_AT_THE_END and exited)
                if failures >= _ATTEMPTS_AT_THE_END and exited:
                    return
                await waits.wait()
                continue
            failures = 0
            if reading is _Reading.LAST and not taken:
                return
            if taken or (exited and not caught_up):
                waits.reset()
            else:
                await waits.wait()
            caught_up = True

    async def _take_in(self, api: Api, container: Container, reading: _Reading) -> bool:
        """Read the log once from the cursor on; whether it brought anything new.

        Raises:
            SandboxGone: There is no such container.
            Refused: The engine will not show its log.
            SpoolError: What it shows cannot be read.
            EngineUnavailable: The connection broke.
        """
        before = self._spool.cursor
        demultiplexer = Demultiplexer(before, terminal=container.config.tty)
        skew = _SKEW_AT_THE_END if reading is _Reading.LAST else _SKEW
        begin = None if before == Cursor() else earliest(before, self._open_lines, skew)
        with await _open(api, container.id, begin, reading) as stream:
            while True:
                data = await stream.read_within(_IDLE_SECONDS)
                if data is None:
                    self._append(demultiplexer.flush(), demultiplexer)
                    data = await stream.read()
                if not data:
                    break
                chunks = demultiplexer.feed(data)
                if chunks and self._spool.cursor == before and not demultiplexer.repeated:
                    self._note_gap(before, chunks[0])
                self._append(chunks, demultiplexer)
                await asyncio.sleep(_pause(len(data)) if reading is _Reading.FOLLOW else 0)
            if reading is _Reading.LAST:
                self._append(demultiplexer.flush(ended=True), demultiplexer)
        return self._spool.cursor != before

    def _append(self, chunks: Sequence[Chunk], demultiplexer: Demultiplexer) -> None:
        if chunks:
            for chunk in chunks:
                self._open_lines[chunk.stream] = not chunk.data.endswith(b"\n")
            self._spool.append(chunks, demultiplexer.cursor)

    def _note_gap(self, before: Cursor, first: Chunk) -> None:
        """Say what is missing: what was taken last should have come again, and did not."""
        latest = max(before.stdout.at, before.stderr.at)
        if latest:
            self._spool.note(
                f"output between {_clock(latest)} and {_clock(first.at)} is missing: the engine did not keep it"
            )

    def _complain(self, error: Refused | SpoolError, *, final: bool) -> None:
        words = error.why or error.what
        if words != self._complaint:
            self._complaint = words
            self._spool.note(f"the engine cannot show the output: {words}")
        if final:
            self._spool.note("the rest of the output, if there is any, cannot be read")


async def _open(api: Api, container: str, begin: int | None, reading: _Reading) -> EngineStream:
    """Open the log.

    HTTP 1.1 marks the end of an answer, and puts a chunk around every line; 1.0 costs less, and its end may be a loss.
    """
    query: dict[str, str | int] = {"stdout": 1, "stderr": 1, "timestamps": 1, "follow": 0}
    if begin is not None:
        query["since"] = since(begin)
    if reading is _Reading.FOLLOW:
        query["follow"] = 1
    http = "1.1" if reading is _Reading.LAST else "1.0"
    try:
        return await api.open("cannot read the output", "GET", f"/containers/{container}/logs", query, http=http)
    except Refused as refused:
        if refused.status == 404:
            raise SandboxGone("the engine does not know this sandbox", why=refused.reason) from refused
        raise


def earliest(cursor: Cursor, open_lines: dict[Stream, bool], skew: int) -> int:
    """Find from when on the log must be read again so that nothing new is left out.

    The parts of a long line all carry the instant of its first. So a stream whose line has not ended is read from its
    own position on, however far the other one is ahead.

    Args:
        cursor: What was taken in.
        open_lines: Whether a stream's last line lacks its end; a stream of which that is not known is missing.
        skew: Nanoseconds by which one stream's frames may lie behind the other's in the log.
    """
    latest = max(cursor.stdout.at, cursor.stderr.at)
    found = latest - skew
    positions: tuple[tuple[Stream, Position], ...] = ((Stream.STDOUT, cursor.stdout), (Stream.STDERR, cursor.stderr))
    for stream, position in positions:
        is_open = open_lines.get(stream)
        if position.at and is_open is not False:
            found = min(found, position.at if is_open else max(position.at, latest - _OPEN_LINE))
    return found


def _pause(size: int) -> float:
    return next(seconds for least, seconds in _PAUSES if size >= least)


def _clock(at: int) -> str:
    moment = datetime.datetime.fromtimestamp(at / 1e9, datetime.UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
