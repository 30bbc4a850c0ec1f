"""Rows written as JSON Lines, however many there are."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterable, Sequence
from pathlib import Path

import msgspec

from services.archives.working import Gauge
from services.archives.writing.files import FileSum, FreshFile, blocks
from services.errors import ArchiveError
from services.home import BlockingCalls


async def write_rows(
    calls: BlockingCalls,
    directory: Path,
    name: str,
    pages: AsyncIterable[Sequence[msgspec.Struct]],
    gauge: Gauge,
) -> tuple[FileSum, int]:
    """Write pages of rows, a line each, and count the lines that are on the disk.

    Args:
        calls: Threads for the disk.
        directory: The archive's.
        name: The file's path in the archive.
        pages: Read one by one; no more than one is held.
        gauge: Told of the rows.

    Raises:
        ArchiveError: What was read back is not what was written.
        OSError: The disk refuses.
    """
    file = await calls.run(FreshFile, directory, name)
    with file:
        written = 0
        async for page in pages:
            await calls.run(_append, file, page)
            written += len(page)
            gauge.advance(len(page))
        return await calls.run(_finish, file, written), written


def _append(file: FreshFile, page: Sequence[msgspec.Struct]) -> None:
    encode = msgspec.json.Encoder().encode
    file.write(b"".join([encode(row) + b"\n" for row in page]))


def _finish(file: FreshFile, written: int) -> FileSum:
    digest, size, lines = hashlib.sha256(), 0, 0
    for block in blocks(file.synced()):
        digest.update(block)
        size += len(block)
        lines += bytes(block).count(b"\n")
    if lines != written:
        raise ArchiveError(f"{file.name} was not kept", why=f"{written:,} rows were written, {lines:,} are on the disk")
    return file.finish(digest.hexdigest(), size)
