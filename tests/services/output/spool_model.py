"""A simple model of what a spool holds, to compare the real one with."""

from __future__ import annotations

from services.output import Chunk, SpoolReader, Stream

HELD_LIMIT = 64 * 1024


class SpoolModel:
    """Lines in order, each of one stream, and the bytes of each stream."""

    def __init__(self) -> None:
        self.lines: list[tuple[Stream, bytes]] = []
        self.raw: dict[Stream, bytes] = dict.fromkeys(Stream, b"")
        self._waiting: dict[Stream, bytes] = {}
        self._open: Stream | None = None

    def append(self, chunk: Chunk) -> None:
        data = self._waiting.get(chunk.stream, b"") + chunk.data
        end = data.rfind(b"\n") + 1
        if len(data) - end > HELD_LIMIT:
            end = len(data)
        if end:
            self._waiting.pop(chunk.stream, None)
        self.write(chunk.stream, data[:end])
        if data[end:]:
            self._waiting[chunk.stream] = data[end:]

    def flush(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for stream, data in waiting.items():
            self.write(stream, data)

    def write(self, stream: Stream, data: bytes) -> None:
        self.raw[stream] += data
        for line in lines_in(data):
            if self._open is stream:
                self.lines[-1] = (stream, self.lines[-1][1] + line.removesuffix(b"\n"))
            else:
                self.lines.append((stream, line.removesuffix(b"\n")))
            self._open = None if line.endswith(b"\n") else stream


def lines_in(data: bytes) -> list[bytes]:
    """Split behind line ends, keeping them."""
    *whole, rest = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])


def lines_of(reader: SpoolReader) -> list[tuple[Stream, bytes]]:
    """Every line of a spool with its stream."""
    return [(line.stream, line.data) for line in reader.lines(0, 10**9, cut=10**9)]


def raw_of(reader: SpoolReader, *streams: Stream) -> bytes:
    """Every byte of some streams."""
    return b"".join(reader.raw(streams=streams))


def batch(number: int) -> list[Chunk]:
    """What a writer in another process appends as its batch of this number."""
    size = number * 7919 % 3000 + (200_000 if number % 97 == 0 else 0)
    streams = (Stream.STDOUT, Stream.STDERR) if number % 3 else (Stream.STDERR, Stream.STDOUT, Stream.STDERR)
    return [
        Chunk(stream, b"%d " % number + b"." * (size // (place + 1)) + b"\n" * (number % 5 > 0), number * 10**7)
        for place, stream in enumerate(streams)
    ]
