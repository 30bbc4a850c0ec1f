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

from services.errors import EngineUnavailable, SandboxGone, SpoolError
from services.output import Chunk, Cursor, Demultiplexer, Position, SpoolWriter, Stream
from services.sandbox.engines.docker.api import Api, EngineStream
from services.sandbox.engines.docker.container import Container
from services.sandbox.engines.docker.failures import Refused
from services.sandbox.engines.docker.instants import since

_IDLE_SECONDS = 0.1
"""After so long without output a line that has not ended is written as it is."""

_BUSY_BYTES = 16 * 1024
_LIVELY_BYTES = 2 * 1024
_BUSY_PAUSE, _LIVELY_PAUSE, _QUIET_PAUSE = 0.001, 0.01, 0.1

_SKEW = 5_000_000_000
"""Nanoseconds by which one stream's frames may lie behind the other's in the log."""

_OPEN_LINE = 600_000_000_000
"""Nanoseconds a line may stay without its end, when it is not known whether one is open."""

_FIRST_WAIT, _LONGEST_WAIT = 0.05, 2.0
_ATTEMPTS_AT_THE_END = 6


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
        failures, exited = 0, False
        while True:
            try:
                api, container = await self._look()
                if container.status == "created":
                    await waits.wait()
                    continue
                exited = container.status == "exited"
                taken = await self._take_in(api, container, follow=not exited)
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
            if taken:
                waits.reset()
            elif exited:
                return
            else:
                await waits.wait()

    async def _take_in(self, api: Api, container: Container, *, follow: bool) -> bool:
        """Read the log once from the cursor on; whether it brought anything new.

        Raises:
            SandboxGone: There is no such container.
            Refused: The engine will not show its log.
            SpoolError: What it shows cannot be read.
            EngineUnavailable: The connection broke.
        """
        before = self._spool.cursor
        demultiplexer = Demultiplexer(before, terminal=container.config.tty)
        query: dict[str, str | int] = {"stdout": 1, "stderr": 1, "timestamps": 1, "follow": int(follow)}
        if before != Cursor():
            query["since"] = since(earliest(before, self._open_lines))
        size = self._spool.size
        with await _open(api, container.id, query, follow=follow) as stream:
            while True:
                data = await stream.read_within(_IDLE_SECONDS)
                if data is None:
                    self._append(demultiplexer.flush(), demultiplexer)
                    data = await stream.read()
                if not data:
                    break
                chunks = demultiplexer.feed(data)
                if chunks and size == self._spool.size and not demultiplexer.repeated:
                    self._note_gap(before, chunks[0])
                self._append(chunks, demultiplexer)
                await asyncio.sleep(_pause(len(data)) if follow else 0)
            if not follow:
                self._append(demultiplexer.flush(ended=True), demultiplexer)
        return self._spool.size > size

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


async def _open(api: Api, container: str, query: dict[str, str | int], *, follow: bool) -> EngineStream:
    """Open the log; an endless one without HTTP's chunks, of which the engine makes one for every line."""
    what, path, http = "cannot read the output", f"/containers/{container}/logs", "1.0" if follow else "1.1"
    try:
        return await api.open(what, "GET", path, query, http=http)
    except Refused as refused:
        if refused.status == 404:
            raise SandboxGone("the engine does not know this sandbox", why=refused.reason) from refused
        raise


def earliest(cursor: Cursor, open_lines: dict[Stream, bool]) -> int:
    """Find from when on the log must be read again so that nothing new is left out.

    The parts of a long line all carry the instant of its first. So a stream whose line has not ended is read from its
    own position on, however far the other one is ahead.

    Args:
        cursor: What was taken in.
        open_lines: Whether a stream's last line lacks its end; a stream of which that is not known is missing.
    """
    latest = max(cursor.stdout.at, cursor.stderr.at)
    found = latest - _SKEW
    positions: tuple[tuple[Stream, Position], ...] = ((Stream.STDOUT, cursor.stdout), (Stream.STDERR, cursor.stderr))
    for stream, position in positions:
        is_open = open_lines.get(stream)
        if position.at and is_open is not False:
            found = min(found, position.at if is_open else max(position.at, latest - _OPEN_LINE))
    return found


def _pause(size: int) -> float:
    """Seconds to let output gather after so many bytes: few large reads cost less than many small ones."""
    if size >= _BUSY_BYTES:
        return _BUSY_PAUSE
    return _LIVELY_PAUSE if size >= _LIVELY_BYTES else _QUIET_PAUSE


def _clock(at: int) -> str:
    moment = datetime.datetime.fromtimestamp(at / 1e9, datetime.UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
