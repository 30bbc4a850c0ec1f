"""Writes output to a file of the operator's choice, in a thread."""

from __future__ import annotations

import asyncio
import bisect
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from services.errors import FileConflict, PinfoldError
from services.home import BlockingCalls
from services.output import SpoolReader

_SPAN = 1_000
"""Lines that are read at once."""

_PIECE = 64 * 1024
"""Bytes that are read of one line at once."""


class GivenUp(Exception):
    """The operator wants no file any more."""


class Saving:
    """One file being written.

    Args:
        path: The file.
        replace: Take the place of a file that is there.

    Attributes:
        path: The file.
        done: Bytes written so far.
    """

    def __init__(self, path: Path, *, replace: bool) -> None:
        self.path = path
        self.done = 0
        self._replace = replace
        self._wanted = True
        self._calls = BlockingCalls(1, "pinfold-save")

    def give_up(self) -> None:
        """End it; nothing stays behind."""
        self._wanted = False

    async def run(self, pieces: Iterable[bytes]) -> int:
        """Write the file; returns its size in bytes.

        Args:
            pieces: Taken in a thread.

        Raises:
            FileConflict: The file is there and may not be replaced.
            PinfoldError: It cannot be written, or the output cannot be read.
            GivenUp: `give_up` was called.
        """
        try:
            return await self._calls.run(write_file, self.path, pieces, self._wrote, replace=self._replace)
        finally:
            self.give_up()
            self._calls.close()

    def _wrote(self, done: int) -> None:
        self.done = done
        if not self._wanted:
            raise GivenUp


def numbered_lines(directory: Path, next_numbers: Callable[[int], list[int]], count: int) -> Iterator[bytes]:
    """The lines of some numbers; blocks, so iterate in a thread.

    Args:
        directory: The spool's.
        next_numbers: Gives numbers, rising, from a position on; runs on the event loop that called this.
        count: How many there are.
    """
    loop = asyncio.get_running_loop()

    async def numbers_at(position: int) -> list[int]:
        return next_numbers(position)

    def pieces() -> Iterator[bytes]:
        with SpoolReader.open(directory) as reader:
            position = 0
            while position < count:
                numbers = asyncio.run_coroutine_threadsafe(numbers_at(position), loop).result()[: count - position]
                if not numbers:
                    return
                yield b"".join(_lines(reader, numbers))
                position += len(numbers)

    return pieces()


def _lines(reader: SpoolReader, numbers: list[int]) -> Iterator[bytes]:
    """Lines whole, with a line end; those near each other are read at once."""
    position = 0
    while position < len(numbers):
        first = numbers[position]
        behind = bisect.bisect_left(numbers, first + _SPAN, position)
        wanted = set(numbers[position:behind])
        for line in reader.lines(first, numbers[behind - 1] - first + 1, _PIECE):
            if line.number in wanted:
                yield line.data
                for offset in range(len(line.data), line.length, _PIECE):
                    yield reader.rest(line.number, offset, _PIECE)
                yield b"\n"
        position = behind


def write_file(path: Path, pieces: Iterable[bytes], wrote: Callable[[int], None], *, replace: bool) -> int:
    """Write pieces to a file that holds all of them or is not there; blocks, so call it in a thread.

    Only its owner may read the file: output may hold secrets.

    Args:
        path: The file.
        pieces: What to write.
        wrote: Told the bytes written so far after each piece; raises GivenUp to end it.
        replace: Take the place of a file that is there.

    Returns:
        Bytes written.

    Raises:
        FileConflict: The file is there and may not be replaced.
        PinfoldError: It cannot be written.
        GivenUp: `wrote` said so.
    """
    reserved = False
    try:
        if not replace:
            path.open("xb").close()
            reserved = True
        done = _write_beside(path, pieces, wrote)
        reserved = False
    except FileExistsError as error:
        raise FileConflict(f"{path} is there already", fix="Press enter again to replace it.") from error
    except OSError as error:
        raise PinfoldError(f"cannot save to {path}", why=error.strerror or str(error)) from error
    finally:
        if reserved:
            path.unlink(missing_ok=True)
    return done


def _write_beside(path: Path, pieces: Iterable[bytes], wrote: Callable[[int], None]) -> int:
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    partial = Path(name)
    try:
        done = 0
        with os.fdopen(descriptor, "wb") as file:
            for piece in pieces:
                file.write(piece)
                done += len(piece)
                wrote(done)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return done
