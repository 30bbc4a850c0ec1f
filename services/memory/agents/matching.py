"""Recall among rows that are all at hand: by words, else by parts of words, else by time."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from services.memory.agents.model import Query, Recalled, Row
from services.memory.agents.words import words_of
from services.memory.screening import scan

_FALLBACK_WORDS = 8
_WORDS = re.compile(r"[^\W_]+")


def recall(rows: Iterable[Row], query: Query) -> list[Recalled]:
    """Choose rows, the best first; of every agent that has a fitting row the best is among them, if there is room."""
    allowed = [row for row in rows if _fits(row, query)]
    if not query.has_words:
        found = [Recalled(row, 1.0) for row in allowed]
    else:
        found = _by_words(allowed, query.text) or _by_parts(allowed, query.text)
    found.sort(key=lambda recalled: (-recalled.score, -recalled.row.updated_at, recalled.row.id))
    if not query.withheld:
        found = _harmless(found, query.limit)
    return _shared_out(found, query.limit)


def _fits(row: Row, query: Query) -> bool:
    return (
        not row.superseded_by
        and query.category in (None, row.category)
        and query.session in (None, row.session)
        and (query.since is None or row.created_at >= query.since)
        and (query.until is None or row.created_at < query.until)
    )


def _by_words(rows: Sequence[Row], text: str) -> list[Recalled]:
    wanted = []
    for word in words_of(text):
        parts = _parts(word.text)
        if parts:
            wanted.append(f" {' '.join(parts)}" if word.prefix else f" {' '.join(parts)} ")
    counts = [sum(word in _flat(row) for word in wanted) for row in rows] if wanted else []
    most = max(counts, default=0)
    return [Recalled(row, count / most) for row, count in zip(rows, counts, strict=False) if count]


def _by_parts(rows: Sequence[Row], text: str) -> list[Recalled]:
    parts = [word.text.casefold() for word in words_of(text) if not word.prefix][:_FALLBACK_WORDS]
    texts = ((row, f"{row.key}\n{row.content}".casefold()) for row in rows)
    return [Recalled(row, 1.0) for row, whole in texts if any(part in whole for part in parts)]


def _flat(row: Row) -> str:
    return f" {' '.join(_parts(row.key))}  {' '.join(_parts(row.content))} "


def _parts(text: str) -> list[str]:
    if not text.isascii():
        bare = unicodedata.normalize("NFKD", text)
        text = "".join(sign for sign in bare if not unicodedata.combining(sign))
    return _WORDS.findall(text.casefold())


def _harmless(found: list[Recalled], limit: int) -> list[Recalled]:
    """Leave out what is withheld, and what a person or an agent wrote past the scan.

    Goes on until every agent has as many rows as could be given.
    """
    kept: list[Recalled] = []
    counts: dict[str, int] = {}
    for recalled in found:
        row = recalled.row
        if row.withheld or counts.get(row.agent, 0) >= limit:
            continue
        if not any(finding.family == "threat" for finding in scan(f"{row.key}\n\n{row.content}")):
            kept.append(recalled)
            counts[row.agent] = counts.get(row.agent, 0) + 1
    return kept


def _shared_out(found: list[Recalled], limit: int) -> list[Recalled]:
    seen: set[str] = set()
    firsts: list[int] = []
    others: list[int] = []
    for number, recalled in enumerate(found):
        (others if recalled.row.agent in seen else firsts).append(number)
        seen.add(recalled.row.agent)
    return [found[number] for number in sorted([*firsts, *others][:limit])]
