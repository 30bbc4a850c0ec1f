"""Rows told apart by what they say, where a back-end cannot tell whether any of them changed."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence

import msgspec

from services.memory import Row

_BYTES = 16


class RowsDigest:
    """The sum of many rows, whatever their order; another one when any of them changed, came or went."""

    def __init__(self) -> None:
        self._sum = 0

    @property
    def text(self) -> str:
        """What it comes to, in hexadecimal digits."""
        return f"{self._sum:032x}"

    async def over(self, pages: AsyncIterator[Sequence[Row]]) -> AsyncIterator[Sequence[Row]]:
        """Pass pages on, and take in their rows."""
        async for page in pages:
            for row in page:
                one = hashlib.blake2b(msgspec.json.encode(row), digest_size=_BYTES).digest()
                self._sum = (self._sum + int.from_bytes(one)) % (1 << 8 * _BYTES)
            yield page


async def digest_of(pages: AsyncIterator[Sequence[Row]]) -> str:
    """Read rows to their end."""
    digest = RowsDigest()
    async for _ in digest.over(pages):
        pass
    return digest.text
