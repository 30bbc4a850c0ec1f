"""Choosing among rows that are all at hand, for back-ends that cannot ask for some of them only."""

from __future__ import annotations

from collections.abc import Iterable

from services.memory.agents.backend import Cutoffs, Listing, Pruned
from services.memory.agents.model import CORE, Row


def chosen(rows: Iterable[Row], listing: Listing) -> list[Row]:
    """The rows of a listing, in no order and without its limit."""
    return [
        row
        for row in rows
        if (listing.superseded or not row.superseded_by)
        and listing.category in (None, row.category)
        and listing.session in (None, row.session)
    ]


def newest_first(rows: Iterable[Row]) -> list[Row]:
    """Rows by when they were stored last."""
    return sorted(rows, key=lambda row: (-row.updated_at, row.id))


def too_old(row: Row, cutoffs: Cutoffs) -> bool:
    """Whether hygiene removes a row."""
    cutoff = cutoffs.times.get(row.category)
    age = row.created_at if row.category == CORE else row.updated_at
    return cutoff is not None and age < cutoff and not row.pinned


def pruned(rows: Iterable[Row]) -> Pruned:
    """Count rows that hygiene removes."""
    counts: dict[str, int] = {}
    size = 0
    for row in rows:
        counts[row.category] = counts.get(row.category, 0) + 1
        size += len(row.content.encode())
    return Pruned(counts, size)
