"""Rows of memory as a back-end reads them out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from services.memory import Row


def some_rows(count: int, content: str = "content") -> list[Row]:
    """Rows with the keys k0, k1 and so on."""
    return [
        Row(
            id=f"id{number}",
            agent="bot",
            agent_id="u1",
            key=f"k{number}",
            content=f"{content} {number}",
            category="core",
            created_at=1,
            updated_at=2,
        )
        for number in range(count)
    ]


async def rows_of(rows: Sequence[Row]) -> AsyncGenerator[Sequence[Row], None]:
    """Rows page by page."""
    for start in range(0, len(rows), 200):
        yield rows[start : start + 200]
