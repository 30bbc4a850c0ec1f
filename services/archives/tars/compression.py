"""The compressed stream a tar is written to."""

from __future__ import annotations

import importlib.util
import queue
import threading
import zlib
from types import TracebackType
from typing import Protocol, Self

from services.archives.layout import WORKSPACE_TARS

_LEVEL = 6
_GZIP = 31
_WAITING = 8
_BATCH = 512 * 1024
"""Bytes handed over at once: small files would else wake the other thread for each header."""


class Sink(Protocol):
    """Takes bytes."""

    def write(self, data: bytes, /) -> None:
        """Add bytes at the end.

        Raises:
            OSError: The disk refuses.
        """
        ...


class _Compressor(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


def preferred_tar() -> str:
    """The name of the tar that is written here: zstd where the package for it is installed, else gzip."""
    gz, zst = WORKSPACE_TARS
    return zst if importlib.util.find_spec("zstandard") else gz


class CompressedFile:
    """Compresses in a thread of its own, so that the next bytes are read meanwhile.

    The same bytes give the same file: there is no name and no time in its header.

    Args:
        file: Where the compressed bytes go.
        zstd: Use zstd; else gzip.

    Attributes:
        size: Bytes before compression.
    """

    def __init__(self, file: Sink, *, zstd: bool) -> None:
        self.size = 0
        self._file = file
        self._compressor = _zstd() if zstd else zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
        self._waiting: queue.Queue[bytes | None] = queue.Queue(_WAITING)
        self._gathered: list[bytes] = []
        self._gathered_size = 0
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="pinfold-compress", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Add bytes.

        Raises:
            OSError: The disk refused some earlier ones.
        """
        if self._error is not None:
            raise self._error
        self.size += len(data)
        self._gathered.append(data)
        self._gathered_size += len(data)
        if self._gathered_size >= _BATCH:
            self._hand_over()

    def finish(self) -> None:
        """Wait until all is written.

        Raises:
            OSError: The disk refuses.
        """
        self._hand_over()
        self._end()
        if self._error is not None:
            raise self._error
        self._file.write(self._compressor.flush())

    def _hand_over(self) -> None:
        self._waiting.put(b"".join(self._gathered))
        self._gathered.clear()
        self._gathered_size = 0

    def _work(self) -> None:
        while (data := self._waiting.get()) is not None:
            if self._error is not None:
                continue  # so that whoever writes is never blocked
            try:
                if compressed := self._compressor.compress(data):
                    self._file.write(compressed)
            except BaseException as error:
                self._error = error

    def _end(self) -> None:
        if self._thread.is_alive():
            self._waiting.put(None)
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()


def _zstd() -> _Compressor:
    import zstandard

    return zstandard.ZstdCompressor(level=3, write_checksum=True).compressobj()
