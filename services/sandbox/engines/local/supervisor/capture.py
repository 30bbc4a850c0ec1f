"""Take the command's output from its two pipes into the spool."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterable

from services.output import Chunk, SpoolWriter, Stream

_PIPE_SIZE = 256 * 1024
_IDLE_SECONDS = 0.1


class Capture:
    """The reading ends of standard output and standard error.

    Args:
        spool: Where the output goes.
    """

    def __init__(self, spool: SpoolWriter) -> None:
        self._spool = spool
        self._streams: dict[int, Stream] = {}
        self._idle_at: float | None = None

    def open_pipe(self, stream: Stream) -> tuple[int, int]:
        """Make the pipe of one stream; returns its reading end, kept here, and its writing end."""
        read_end, write_end = os.pipe()
        os.set_blocking(read_end, False)
        with contextlib.suppress(PermissionError):  # this user has as many large pipes as allowed; a small one will do
            fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
        self._streams[read_end] = stream
        return read_end, write_end

    @property
    def open_ends(self) -> tuple[int, ...]:
        """The descriptors output may still come from."""
        return tuple(self._streams)

    def take(self, ready: Iterable[int]) -> int:
        """Bring what these reading ends hold into the spool, one read of each; returns the bytes taken."""
        chunks: list[Chunk] = []
        now = time.time_ns()
        for descriptor in ready:
            stream = self._streams[descriptor]
            try:
                data = os.read(descriptor, _PIPE_SIZE)
            except BlockingIOError:
                continue
            if data:
                chunks.append(Chunk(stream, data, now))
            else:
                self._close(descriptor)
        if chunks:
            self._spool.append(chunks)
            self._idle_at = time.monotonic() + _IDLE_SECONDS
        return sum(len(chunk.data) for chunk in chunks)

    def take_all(self) -> None:
        """Bring everything that is there into the spool; does not wait for more."""
        while self.take(self.open_ends):
            pass
        self._spool.flush()

    def seconds_to_idle(self) -> float | None:
        """How long until `flush_when_idle` has something to do; None when output was silent for longer."""
        return None if self._idle_at is None else max(0.0, self._idle_at - time.monotonic())

    def flush_when_idle(self) -> None:
        """Write a line without an end once nothing has followed it for a tenth of a second."""
        if self._idle_at is not None and time.monotonic() >= self._idle_at:
            self._idle_at = None
            self._spool.flush()

    def close(self) -> None:
        """Close the pipes; a process that still writes into them is ended by that."""
        for descriptor in self.open_ends:
            self._close(descriptor)

    def _close(self, descriptor: int) -> None:
        del self._streams[descriptor]
        os.close(descriptor)
