"""A sandbox's output, from the engine's log into the spool: nothing lost, nothing twice, however often either is lost.

One loop does it all. Ask what the container is, and read its log from the spool's cursor on: following while it runs,
and once it has exited without following, until such a reading is whole and brings nothing new. Four habits of engines
make it so:
- they cut the tail of a follow when a container exits after a burst;
- they find where to begin by reading their log from its start, so that who is close behind asks for the last lines;
- they skip a whole file of their log when the follower is more than a file behind. No sandbox fills a file in no time,
  so that shows as a jump in time, and what is there is read again without following, which skips nothing. A log of
  files so small that no jump would show is only read so, again and again;
- a stream they lose ends like any other. While they are away, the loop waits.
"""

from __future__ import annotations

import asyncio
import datetime
import math
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
from services.sandbox.engines.docker.pace import Pace, Rate

_IDLE_SECONDS = 0.1
"""After so long without output it is a silence, and a line that has not ended is written as it is."""

_SKEW = 1_000_000_000
"""Nanoseconds by which one stream's frames may lie behind the other's in the log; generous by far."""

_NEAR = 60_000_000_000
"""Nanoseconds that output may be old to be followed at once."""

_TAIL_SECONDS, _TAIL_LINES = 0.5, 1000
"""How much more than the lines of the last moment is asked for, by who is close behind."""

_FASTEST = 200_000_000
"""Bytes a second that no sandbox writes through an engine: so a log file lasts some time at least."""

_CHUNK = 100_000_000
"""Nanoseconds that may lie between the first and the last line of a chunk."""

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
        self._rate = Rate()
        self._caught_up = False
        self._jumped = False
        self._whole_at = 0.0
        self._asks_for_tail = True
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
            reading, whole = None, False
            try:
                api, container = await self._look()
                exited = container.status == "exited"
                if container.status != "created":
                    reading = self._reading(container, exited=exited)
                    whole = await self._read(api, container, reading)
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
                if reading is _Reading.LAST and whole and not taken:
                    return
                more = reading is _Reading.CATCH_UP and (exited or _shortest_jump(container.log_file_size) >= _CHUNK)
                if taken or more or (reading is not None and not whole):
                    waits.reset()
                    continue
            await waits.wait()

    def _reading(self, container: Container, *, exited: bool) -> _Reading:
        if exited:
            return _Reading.LAST if self._caught_up else _Reading.CATCH_UP
        if _shortest_jump(container.log_file_size) < _CHUNK:
            return _Reading.CATCH_UP
        near = self._caught_up or (self._is_near(container) and not self._jumped)
        return _Reading.FOLLOW if near else _Reading.CATCH_UP

    def _is_near(self, container: Container) -> bool:
        """Whether what is to come is young: then it is one piece, most likely, and may be followed at once."""
        newest = _newest(self._spool.cursor) or nanoseconds(container.created) or 0
        return 0 <= self._now() - newest < _NEAR

    async def _read(self, api: Api, container: Container, reading: _Reading) -> bool:
        """Read the log once from the cursor on; whether that came to its end, so that we are close behind now.

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
        jumps = _Jumps(_newest(before), _shortest_jump(container.log_file_size) if follows else math.inf)
        tail = self._tail()
        pace = Pace(self._rate, self._now)
        opened_at = time.monotonic()
        with await _open(api, container.id, reading, begin=begin, tail=tail) as stream:
            while data := await self._next(stream, demultiplexer, pace, jumps):
                chunks, cursor = demultiplexer.feed(data), demultiplexer.cursor
                if tail is not None and not self._reaches_back(demultiplexer.began_at, before):
                    self._asks_for_tail = False
                    return False
                if jumps.are_in(chunks):
                    self._caught_up, self._jumped = False, True
                    return False
                if chunks and self._spool.cursor == before and not demultiplexer.repeated:
                    self._note_gap(before, chunks[0])
                self._append(chunks, cursor)
                await asyncio.sleep(pace.pause_after(data, _newest(cursor)))
            if reading is _Reading.LAST:
                self._append(demultiplexer.flush(ended=True), demultiplexer.cursor)
        self._caught_up = self._asks_for_tail = True
        self._jumped = False
        self._whole_at = time.monotonic() if follows else opened_at
        return True

    async def _next(self, stream: EngineStream, demultiplexer: Demultiplexer, pace: Pace, jumps: _Jumps) -> bytes:
        """Wait for more of the log; b"" at its end. A line that has not ended is written once nothing comes."""
        began = time.monotonic()
        came = False
        if not pace.quiet:
            data = await stream.read_within(_IDLE_SECONDS)
            if data is not None:
                return data
        elif demultiplexer.held:
            came = await stream.gathered_within(_IDLE_SECONDS)
        if not came:
            self._append(demultiplexer.flush(), demultiplexer.cursor)
            await stream.gathered()
            if time.monotonic() - began >= _IDLE_SECONDS:
                jumps.waited()
                pace.waited()
        return await stream.read()

    def _tail(self) -> int | None:
        """How many of the last lines hold all that is new, and what came shortly before; None when nobody can tell."""
        away = time.monotonic() - self._whole_at
        if not (self._caught_up and self._asks_for_tail and away < _TAIL_SECONDS and self._spool.cursor != Cursor()):
            return None
        return self._rate.lines_in(_SKEW / 1e9 + _TAIL_SECONDS + away) + _TAIL_LINES

    @staticmethod
    def _reaches_back(began_at: int, cursor: Cursor) -> bool:
        """Whether lines from `began_at` on hold all that is new, and of no instant taken before only a part."""
        if not began_at:
            return True
        positions = [position.at for position in (cursor.stdout, cursor.stderr) if position.at]
        return began_at < max(positions) - _SKEW and all(abs(began_at - at) > _SKEW for at in positions)

    def _append(self, chunks: Sequence[Chunk], cursor: Cursor) -> None:
        if chunks:
            for chunk in chunks:
                self._open_lines[chunk.stream] = not chunk.data.endswith(b"\n")
            self._rate.note(chunks)
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


async def _open(api: Api, container: str, reading: _Reading, *, begin: int | None, tail: int | None) -> EngineStream:
    """Open the log from an instant on, or at its last lines where their number is given.

    HTTP 1.1 marks the end of an answer, and puts a chunk around every line; 1.0 costs less, and its end may be a loss.
    """
    query: dict[str, str | int] = {"stdout": 1, "stderr": 1, "timestamps": 1, "follow": 0}
    if tail is not None:
        query["tail"] = tail
    elif begin is not None:
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


class _Jumps:
    """Looks for jumps in time that cannot be the sandbox's silence, since the engine had more to send all along.

    Args:
        at: When the last frame taken was written, nanoseconds since 1970; 0 for none.
        shortest: Nanoseconds.
    """

    def __init__(self, at: int, shortest: float) -> None:
        self._at = at
        self._shortest = shortest

    def waited(self) -> None:
        """There was nothing to read for a while."""
        self._at = 0

    def are_in(self, chunks: Sequence[Chunk]) -> bool:
        """Whether there is a jump before or among these."""
        for chunk in chunks:
            before, self._at = self._at, chunk.at
            if before and chunk.at - before > self._shortest:
                return True
        return False


def _shortest_jump(file_size: int | None) -> float:
    """Nanoseconds within which no file of the log can be filled; for ever when there is only one."""
    return math.inf if file_size is None else file_size * 1e9 / _FASTEST


def _newest(cursor: Cursor) -> int:
    return max(cursor.stdout.at, cursor.stderr.at)


def _clock(at: int) -> str:
    moment = datetime.datetime.fromtimestamp(at / 1e9, datetime.UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
