"""The one writer of an operation's archive."""

from __future__ import annotations

import asyncio

from services.archives import Archives, ArchiveWriter


class SharedWriter:
    """Opens an archive once for all steps of an operation, so that those that run at once know of one another.

    Args:
        archives: Where it lies.
    """

    def __init__(self, archives: Archives) -> None:
        self._archives = archives
        self._opening = asyncio.Lock()
        self._writer: ArchiveWriter | None = None

    async def of(self, archive: str) -> ArchiveWriter:
        """Go on with an archive that was begun.

        Raises:
            ArchiveError: It cannot be gone on with.
        """
        async with self._opening:
            if self._writer is None or self._writer.id != archive:
                self._writer = await self._archives.resume(archive)
            return self._writer
