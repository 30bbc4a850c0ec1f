"""Rows found by words and rows found by likeness as one list."""

from __future__ import annotations

from collections.abc import Sequence

from services.agents import VectorSection
from services.memory.agents.model import Recalled


def merged(
    keywords: Sequence[Recalled], alike: Sequence[Recalled], section: VectorSection, limit: int
) -> list[Recalled]:
    """Merge what was found both ways, the best first, ties by id.

    A row that was found both ways has the weighted mean of its scores, any other the one it has. What has none of the
    words counts from `min_relevance` on; what has some always does.

    Args:
        keywords: Found by words; the best has the score 1.
        alike: Found by likeness; the score is the cosine.
        section: The weights.
        limit: At most so many.
    """
    weights = section.vector_weight + section.keyword_weight
    by_words = {recalled.row.id: recalled for recalled in keywords}
    likeness = {recalled.row.id: recalled.score for recalled in alike}
    found = [recalled for recalled in alike if recalled.row.id not in by_words and is_relevant(recalled, section)]
    for recalled in keywords:
        score = recalled.score
        if recalled.row.id in likeness and weights > 0:
            both = section.vector_weight * likeness[recalled.row.id] + section.keyword_weight * recalled.score
            score = both / weights
        found.append(Recalled(recalled.row, score))
    found.sort(key=lambda recalled: (-recalled.score, recalled.row.id))
    return found[:limit]


def is_relevant(recalled: Recalled, section: VectorSection) -> bool:
    """Whether a row that was found by likeness alone counts."""
    return recalled.score >= section.min_relevance
