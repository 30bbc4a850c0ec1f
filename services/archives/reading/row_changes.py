"""Rows of memory compared by key, with no more than their digests held."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterable, Sequence
from dataclasses import dataclass

import msgspec

from services.archives.reading.model import LISTED_CHANGES, Change, RowChange
from services.archives.working import Gauge
from services.memory import Row

_PREVIEW = 200


@dataclass
class RowComparison:
    """What differs between the rows of two sides.

    Attributes:
        more: How many differ beyond those that are named.
    """

    changes: list[RowChange]
    same: int = 0
    more: int = 0

    def add(self, change: RowChange) -> None:
        """Name a difference, or count it when there are too many."""
        if len(self.changes) < LISTED_CHANGES:
            self.changes.append(change)
        else:
            self.more += 1


async def compared_rows(
    before: AsyncIterable[Sequence[Row]], after: AsyncIterable[Sequence[Row]], gauge: Gauge
) -> RowComparison:
    """Compare rows by key: what they say, their category, and whether they are pinned, superseded or withheld.

    Args:
        before: The archive's.
        after: The other side's.
        gauge: Told of the rows.
    """
    known: dict[str, tuple[bytes, str]] = {}
    async for page in before:
        gauge.advance(items=len(page))
        known.update((row.key, (_digest(row), row.content[:_PREVIEW])) for row in page)
    found = RowComparison([])
    async for page in after:
        gauge.advance(items=len(page))
        for row in page:
            _compare(found, row, known.pop(row.key, None))
    for key, (_, content) in known.items():
        found.add(RowChange(key, Change.REMOVED, before=content))
    found.changes.sort(key=lambda change: change.key)
    return found


def _compare(found: RowComparison, row: Row, old: tuple[bytes, str] | None) -> None:
    if old is None:
        found.add(RowChange(row.key, Change.ADDED, after=row.content[:_PREVIEW]))
    elif old[0] == _digest(row):
        found.same += 1
    else:
        found.add(RowChange(row.key, Change.CHANGED, old[1], row.content[:_PREVIEW]))


def _digest(row: Row) -> bytes:
    said = (row.content, row.category, row.session, row.importance, row.pinned, bool(row.superseded_by), row.withheld)
    return hashlib.blake2b(msgspec.json.encode(said), digest_size=16).digest()
