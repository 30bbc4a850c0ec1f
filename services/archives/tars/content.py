"""The bytes of one member, holes told as holes."""

from __future__ import annotations

from collections.abc import Iterator

from services.archives.tars.decompression import Damaged, TarBytes
from services.archives.tars.headers import BLOCK, Header

PIECE = 256 * 1024
_STRETCHES = 200_000
_DIGITS = 20


def content(stream: TarBytes, header: Header) -> Iterator[bytes | int]:
    """Yield the bytes of a file that follow its header, and a number for as many zeros of a hole.

    All of it is read, with what fills up its last block. Whoever looks at it before does not go on with the tar.

    Raises:
        Damaged: They end too early, or the table of a file with holes is none.
        TooMuch: The stream's limit is reached.
    """
    begun = stream.position
    if header.sparse:
        yield from _spread(stream, header, begun)
    else:
        yield from _pieces(stream, header.stored)
    left = header.stored - (stream.position - begun)
    if left < 0:
        raise Damaged("the table of a file with holes is damaged")
    stream.skip(left + -header.stored % BLOCK)


def skip_content(stream: TarBytes, header: Header) -> None:
    """Read past the bytes of a member."""
    stream.skip(header.stored + -header.stored % BLOCK)


def _spread(stream: TarBytes, header: Header, begun: int) -> Iterator[bytes | int]:
    at = 0
    for start, length in _table(stream, header, begun):
        if start < at or start + length > header.size:
            raise Damaged("the table of a file with holes is damaged")
        if start > at:
            yield start - at
        yield from _pieces(stream, length)
        at = start + length
    if header.size > at:
        yield header.size - at


def _table(stream: TarBytes, header: Header, begun: int) -> list[tuple[int, int]]:
    text = b""
    numbers: list[int] = []
    wanted: int | None = None
    while wanted is None or len(numbers) < wanted:
        if stream.position - begun + BLOCK > header.stored:
            raise Damaged("the table of a file with holes is damaged")
        *lines, text = (text + stream.exactly(BLOCK)).split(b"\n")
        for line in lines:
            if not line.isdigit() or len(line) > _DIGITS:
                raise Damaged("the table of a file with holes is damaged")
            if wanted is None:
                wanted = 2 * int(line)
                if wanted > 2 * _STRETCHES:
                    raise Damaged("a file has too many holes")
            elif len(numbers) < wanted:
                numbers.append(int(line))
        if len(text) > _DIGITS and text.strip(b"\0"):
            raise Damaged("the table of a file with holes is damaged")
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _pieces(stream: TarBytes, size: int) -> Iterator[bytes]:
    while size:
        piece = stream.read(min(size, PIECE))
        if not piece:
            raise Damaged("it ends too early")
        size -= len(piece)
        yield piece
