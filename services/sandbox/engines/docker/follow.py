"""A sandbox's output, from the engine's log into the spool: nothing lost, nothing twice, however often either is lost.

One loop does it all. Ask what the container is, and read its log from the spool's cursor on: following while it runs,
and once it has exited without following, until such a reading is whole and brings nothing new. Three faults of engines
make it so:
- they cut the tail of a follow when a container exits after a burst;
- they skip a whole file of their log when the follower is more than a file behind, so one that is or falls far behind
  catches up by reading what is there, which skips nothing;
- a stream they lose ends like any other. While they are away, the loop waits.
"""

from __future__ import annotations

import asyncio
import datetime
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from services.errors import EngineUnavailable, SandboxGone, SpoolError
from services.output import Chunk, Cursor, Demultiplexer, Position, SpoolWriter, Stream
from services.sandbox.engines.docker.api import Api, EngineStream
from services.sandbox.engines.docker.container import Container
from services.sandbox.engines.docker.failures import Refused
from services.sandbox.engines.docker.instants import nanoseconds, since

_IDLE_SECONDS = 0.1
"""After so long without output a line that has not ended is written as it is."""

_PAUSES = ((40 * 1024, 0.0), (8 * 1024, 0.003), (1024, 0.01), (0, 0.1))
"""After so many bytes at once, how many seconds output may gather: few large reads cost less than many small ones.

The kernel holds some 270 lines, about 40 KiB, for a reader that pauses; then the engine waits."""

_BEHIND = 50_000_000
"""Nanoseconds behind the sandbox from which on there are no pauses."""

_SKEW = 1_000_000_000
"""Nanoseconds by which one stream's frames may lie behind the other's in the log; generous by far."""

_FASTEST = 200_000_000
"""Bytes a second that no sandbox writes through an engine: so a log file lasts some time at least."""

_OPEN_LINE = 600_000_000_000
"""Nanoseconds a line may stay without its end, when it is not known whether one is open."""

_FIRST_WAIT, _LONGEST_WAIT = 0.05, 2.0
_ATTEMPTS_AT_THE_END = 6


class _Reading(Enum):
    """How a log is read."""

    CATCH_UP = "what is there"
    FOLLOW = "what is there and what comes"
    LAST = "what is there, when nothing comes any more"


@dataclass
class _Waits:
    """Grows from attempt to attempt; starts again after a success."""

    seconds: float = _FIRST_WAIT

    async def wait(self) -> None:
        await asyncio.sleep(self.seconds)
        self.seconds = min(self.seconds * 2, _LONGEST_WAIT)

    def reset(self) -> None:
        self.seconds = _FIRST_WAIT


class Lag:
    """How far a reader is behind what it reads, though the clocks of both may differ.

    The least difference between them ever seen stands for none.

    Args:
        least: A difference known before, nanoseconds.
    """

    def __init__(self, least: int | None = None) -> None:
        self.least = least

    def of(self, at: int, now: int) -> int:
        """Nanoseconds by which something written at `at` by the engine's clock is late at `now` by ours."""
        difference = now - at
        if self.least is None or difference < self.least:
            self.least = difference
        return difference - self.least


class Follower:
    """Brings one sandbox's output into its spool.

    Args:
        look: Returns the engine and the inspected container; raises SandboxGone when it is not there, or not ours.
        spool: Where to; its cursor says where to begin.
        now: Nanoseconds since 1970.
    """

    def __init__(
        self,
        look: Callable[[], Awaitable[tuple[Api, Container]]],
        spool: SpoolWriter,
        now: Callable[[], int] = time.time_ns,
    ) -> None:
        self._look = look
        self._spool = spool
        self._now = now
        self._lag = Lag()
        self._caught_up = False
        self._open_lines: dict[Stream, bool] = {}
        self._complaint = ""

    async def run(self) -> None:
        """Follow until the sandbox has ended and every byte is in the spool.

        Raises:
            SandboxGone: The engine does not know it any more.
        """
        waits = _Waits()
        failures, exited = 0, False
        while True:
            before = self._spool.cursor
            reading = None
            try:
                api, container = await self._look()
                exited = container.status == "exited"
                if container.status != "created":
                    reading = self._reading(container, exited=exited)
                    await self._read(api, container, reading)
                failures = 0
            except EngineUnavailable:
                self._caught_up = False
            except (Refused, SpoolError) as error:
                failures += 1
                given_up = exited and failures >= _ATTEMPTS_AT_THE_END
                self._complain(error, final=given_up)
                if given_up:
                    return
            else:
                taken = self._spool.cursor != before
                if reading is _Reading.LAST and not taken:
                    return
                if taken or reading is _Reading.CATCH_UP:
                    waits.reset()
                    continue
            await waits.wait()

    def _reading(self, container: Container, *, exited: bool) -> _Reading:
        if exited:
            return _Reading.LAST if self._caught_up else _Reading.CATCH_UP
        return _Reading.FOLLOW if self._caught_up or self._is_near(container) else _Reading.CATCH_UP

    def _is_near(self, container: Container) -> bool:
        """Whether all that is to come is so young that it lies within one file of the log."""
        longest = _longest_lag(container.log_file_size)
        newest = _newest(self._spool.cursor) or nanoseconds(container.created) or 0
        return longest is None or 0 <= self._now() - newest < longest // 2

    async def _read(self, api: Api, container: Container, reading: _Reading) -> None:
        """Read the log once from the cursor on, and find out whether we are close behind now.

        Raises:
            SandboxGone: There is no such container.
            Refused: The engine will not show its log.
            SpoolError: What it shows cannot be read.
            EngineUnavailable: The connection broke.
        """
        before = self._spool.cursor
        demultiplexer = Demultiplexer(before, terminal=container.config.tty)
        begin = None if before == Cursor() else earliest(before, self._open_lines, _SKEW)
        follows = reading is _Reading.FOLLOW
        longest_lag = _longest_lag(container.log_file_size) if follows else None
        self._lag = Lag(self._lag.least if self._caught_up else 0 if follows else None)
        with await _open(api, container.id, begin, reading) as stream:
            while True:
                data = await stream.read_within(_IDLE_SECONDS)
                if data is None:
                    self._append(demultiplexer.flush(), demultiplexer.cursor)
                    data = await stream.read()
                if not data:
                    break
                chunks, cursor = demultiplexer.feed(data), demultiplexer.cursor
                lag = self._lag.of(_newest(cursor), self._now()) if chunks else None
                if longest_lag is not None and lag is not None and lag > longest_lag:
                    self._caught_up = False
                    return
                if chunks and self._spool.cursor == before and not demultiplexer.repeated:
                    self._note_gap(before, chunks[0])
                self._append(chunks, cursor)
                await asyncio.sleep(0 if lag is None or lag > _BEHIND else _pause(len(data)))
            if reading is _Reading.LAST:
                self._append(demultiplexer.flush(ended=True), demultiplexer.cursor)
        self._caught_up = True

    def _append(self, chunks: Sequence[Chunk], cursor: Cursor) -> None:
        if chunks:
            for chunk in chunks:
                self._open_lines[chunk.stream] = not chunk.data.endswith(b"\n")
            self._spool.append(chunks, cursor)

    def _note_gap(self, before: Cursor, first: Chunk) -> None:
        """Say what is missing: what was taken last should have come again, and did not."""
        latest = _newest(before)
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
        if refused.status in (404, 409):  # removed, or being removed
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
    latest = _newest(cursor)
    found = latest - skew
    positions: tuple[tuple[Stream, Position], ...] = ((Stream.STDOUT, cursor.stdout), (Stream.STDERR, cursor.stderr))
    for stream, position in positions:
        is_open = open_lines.get(stream)
        if position.at and is_open is not False:
            found = min(found, position.at if is_open else max(position.at, latest - _OPEN_LINE))
    return found


def _longest_lag(file_size: int | None) -> int | None:
    """Nanoseconds within which no more than a file of the log can be written; None when there is only one."""
    return None if file_size is None else file_size * 1_000_000_000 // _FASTEST


def _newest(cursor: Cursor) -> int:
    return max(cursor.stdout.at, cursor.stderr.at)


def _pause(size: int) -> float:
    return next(seconds for least, seconds in _PAUSES if size >= least)


def _clock(at: int) -> str:
    moment = datetime.datetime.fromtimestamp(at / 1e9, datetime.UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
