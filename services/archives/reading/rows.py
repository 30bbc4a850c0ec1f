"""Rows read from JSON Lines, some at a time, each line held to a limit."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from services.archives.reading.files import Folder
from services.errors import ArchiveDamaged
from services.home import BlockingCalls

T = TypeVar("T")

_BATCH_LINES = 500
_BATCH_BYTES = 1024 * 1024


async def read_rows(
    calls: BlockingCalls, archive: Path, name: str, kind: type[T], limit: int
) -> AsyncGenerator[tuple[T, ...], None]:
    """Yield the rows of a file; a file that is not there has none.

    Args:
        calls: Threads for the disk.
        archive: Its directory.
        name: The file's path in the archive.
        kind: What a line is.
        limit: The most bytes of a line.

    Raises:
        ArchiveDamaged: A line is no such row or too long, or the file cannot be read.
    """
    decoder = msgspec.json.Decoder(kind)
    with await calls.run(Folder.open, archive) as folder:
        file = await calls.run(open_rows, folder, name)
        if file is None:
            return
        with file:
            number = 0
            while rows := await calls.run(_batch, file, decoder, name, number, limit):
                yield tuple(rows)
                number += len(rows)


def open_rows(folder: Folder, name: str) -> BinaryIO | None:
    """Open a file of rows; None when there is none.

    Raises:
        ArchiveDamaged: It cannot be read.
    """
    try:
        return os.fdopen(folder.descriptor_of(name), "rb")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ArchiveDamaged(f"cannot read {name}", why=error.strerror or str(error)) from error


def _batch(file: BinaryIO, decoder: msgspec.json.Decoder[T], name: str, before: int, limit: int) -> list[T]:
    rows: list[T] = []
    size = 0
    while len(rows) < _BATCH_LINES and size < _BATCH_BYTES and (line := _line(file, name, before + len(rows), limit)):
        try:
            rows.append(decoder.decode(line))
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise _damaged(name, before + len(rows), str(error)) from error
        size += len(line)
    return rows


def _line(file: BinaryIO, name: str, before: int, limit: int) -> bytes:
    try:
        line = file.readline(limit + 1)
    except OSError as error:
        raise _damaged(name, before, error.strerror or str(error)) from error
    if len(line) > limit:
        raise _damaged(name, before, f"it has more than {limit:,} bytes")
    return line


def _damaged(name: str, before: int, why: str) -> ArchiveDamaged:
    return ArchiveDamaged(f"line {before + 1:,} of {name} cannot be read", why=why)
