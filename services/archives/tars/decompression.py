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
        descriptor: Of the compressed file, at its beginning; not closed.
        limit: The most bytes that may come out of it.
        advance: Told how many compressed bytes were read.

    Attributes:
        position: How many bytes came out so far.

    Raises:
        Damaged: From here and every method: it is not compressed, or its bytes are damaged or end too early.
        TooMuch: From every method: the limit is reached.
    """

    def __init__(self, descriptor: int, limit: int, advance: Callable[[int], None] = lambda _: None) -> None:
        self.position = 0
        self._limit = limit

        def compressed(size: int) -> bytes:
            data = os.read(descriptor, size)
            advance(len(data))
            return data

        magic = os.pread(descriptor, 4, 0)
        if magic.startswith(_GZIP_MAGIC):
            self._source: _Source = _Gzip(compressed)
        elif magic == _ZSTD_MAGIC:
            self._source = _zstd(compressed)
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


class _Gzip:
    def __init__(self, compressed: Callable[[int], bytes]) -> None:
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


class _Compressed:
    """The compressed bytes as the file that `zstandard` reads."""

    def __init__(self, compressed: Callable[[int], bytes]) -> None:
        self.read = compressed


def _zstd(compressed: Callable[[int], bytes]) -> _Source:
    try:
        import zstandard
    except ImportError as error:
        raise Damaged("it is compressed by zstd: install pinfold[zstd] to read it") from error
    reader = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(
        _Compressed(compressed),  # type: ignore[arg-type]  # it only reads
        read_across_frames=True,
    )
    return _Zstd(reader, zstandard.ZstdError)
