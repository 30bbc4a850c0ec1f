"""Keeps back lines that have not ended, so that two streams do not break each other's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from services.output.model import Chunk, Stream
from services.output.spool.blocks import Piece

_LIMIT = 64 * 1024


class HeldLines:
    """The unfinished last line of each stream, up to 64 KiB of it."""

    def __init__(self) -> None:
        self._parts: dict[Stream, list[bytes]] = {}
        self._sizes: dict[Stream, int] = {}
        self._since: dict[Stream, int] = {}

    def __bool__(self) -> bool:
        return bool(self._parts)

    def take(self, chunks: Iterable[Chunk]) -> Iterator[Piece]:
        """Give back what may be written now: whole lines, and lines too long to keep."""
        for chunk in chunks:
            stream, data = chunk.stream, chunk.data
            end = data.rfind(b"\n") + 1
            if end:
                yield self._joined(stream, data[:end], chunk.at)
            if end < len(data):
                self._parts.setdefault(stream, []).append(data[end:])
                self._since.setdefault(stream, chunk.at)
                self._sizes[stream] = self._sizes.get(stream, 0) + len(data) - end
                if self._sizes[stream] > _LIMIT:
                    yield self._joined(stream, b"", chunk.at)

    def release(self) -> list[Piece]:
        """Give back everything."""
        return [self._joined(stream, b"", 0) for stream in list(self._parts)]

    def _joined(self, stream: Stream, data: bytes, at: int) -> Piece:
        parts = self._parts.pop(stream, None)
        if parts is None:
            return Piece(stream, data, at)
        del self._sizes[stream]
        parts.append(data)
        return Piece(stream, b"".join(parts), self._since.pop(stream))
