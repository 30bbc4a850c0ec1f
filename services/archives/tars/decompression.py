"""The bytes of a compressed tar, read forward only, and never more of them than asked for."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from typing import Protocol

_PIECE = 128 * 1024
_GZIP = 31
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_GZIP_MAGIC = b"\x1f\x8b"
_MAGIC_SIZE = 4

Compressed = Callable[[int], bytes]
"""Reads at most so many bytes; none at the end."""


class Damaged(Exception):
    """The bytes are not those of a whole compressed tar."""


class TooMuch(Exception):
    """More bytes come out of it than are allowed."""


class _Source(Protocol):
    def read(self, size: int) -> bytes:
        """Give at most `size` bytes; none at the end."""
        ...


class TarBytes:
    """What a compressed file holds.

    Args:
        compressed: Reads at most so many bytes of it, none at its end.
        limit: The most bytes that may come out of it.

    Attributes:
        position: How many bytes came out so far.

    Raises:
        Damaged: From here and every method: it is not compressed, or its bytes are damaged or end too early.
        TooMuch: From every method: the limit is reached.
    """

    def __init__(self, compressed: Compressed, limit: int) -> None:
        self.position = 0
        self._limit = limit
        begun = _Begun(compressed)
        if begun.magic.startswith(_GZIP_MAGIC):
            self._source: _Source = _Gzip(begun.read)
        elif begun.magic == _ZSTD_MAGIC:
            self._source = _zstd(begun)
        else:
            raise Damaged("it is compressed neither by gzip nor by zstd")

    def read(self, size: int) -> bytes:
        """Read at most `size` bytes; none at the end."""
        data = self._source.read(size)
        self.position += len(data)
        if self.position > self._limit:
            raise TooMuch
        return data

    def exactly(self, size: int) -> bytes:
        """Read `size` bytes; the caller sees to it that they fit into memory."""
        pieces, left = [], size
        while left:
            piece = self.read(left)
            if not piece:
                raise Damaged("it ends too early")
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)

    def skip(self, size: int) -> None:
        """Read past `size` bytes."""
        while size:
            piece = self.read(min(size, _PIECE))
            if not piece:
                raise Damaged("it ends too early")
            size -= len(piece)


def compressed_file(descriptor: int, advance: Callable[[int], None] = lambda _: None) -> Compressed:
    """Read a compressed file from where it is.

    Args:
        descriptor: Not closed.
        advance: Told how many bytes were read.
    """

    def read(size: int) -> bytes:
        data = os.read(descriptor, size)
        advance(len(data))
        return data

    return read


class _Begun:
    """Compressed bytes of which the first few were looked at."""

    def __init__(self, compressed: Compressed) -> None:
        self.magic = b""
        while len(self.magic) < _MAGIC_SIZE and (piece := compressed(_MAGIC_SIZE - len(self.magic))):
            self.magic += piece
        self._compressed = compressed
        self._first = self.magic

    def read(self, size: int) -> bytes:
        first, self._first = self._first[:size], self._first[size:]
        return first or self._compressed(size)


class _Gzip:
    def __init__(self, compressed: Compressed) -> None:
        self._compressed = compressed
        self._stream = zlib.decompressobj(_GZIP)
        self._waiting = b""

    def read(self, size: int) -> bytes:
        while True:
            if not self._waiting:
                self._waiting = self._compressed(_PIECE)
                if not self._waiting:
                    if self._stream.eof:
                        return b""
                    raise Damaged("it ends too early")
            if self._stream.eof:  # another member may follow
                self._stream = zlib.decompressobj(_GZIP)
            try:
                data = self._stream.decompress(self._waiting, size)
            except zlib.error as error:
                raise Damaged(str(error)) from error
            self._waiting = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
            if data:
                return data


class _Zstd:
    def __init__(self, reader: _Source, error: type[Exception]) -> None:
        self._reader = reader
        self._error = error

    def read(self, size: int) -> bytes:
        try:
            return self._reader.read(size)
        except self._error as error:
            raise Damaged(str(error)) from error


def _zstd(compressed: _Source) -> _Source:
    try:
        import zstandard
    except ImportError as error:
        raise Damaged("it is compressed by zstd: install pinfold[zstd] to read it") from error
    reader = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(
        compressed,  # type: ignore[arg-type]  # it only reads
        read_across_frames=True,
    )
    return _Zstd(reader, zstandard.ZstdError)
