"""Rows found by words and by likeness as one list. Row E16 of the checklist."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agents import VectorSection
from services.memory import Recalled, Row
from services.memory.agents.vectors.merging import merged

USUAL = VectorSection(min_relevance=0.0)


def found(scores: dict[str, float]) -> list[Recalled]:
    def row(name: str) -> Row:
        return Row(id=name, agent="a", agent_id="a", key=name, content="x", category="core", created_at=1, updated_at=1)

    ranked = sorted(scores.items(), key=lambda one: (-one[1], one[0]))
    return [Recalled(row(name), score) for name, score in ranked]


@pytest.mark.parametrize(
    ("keywords", "alike", "section", "expected"),
    [
        ({"a": 1.0, "b": 0.5}, {}, USUAL, {"a": 1.0, "b": 0.5}),
        ({}, {"a": 0.9, "b": 0.2}, USUAL, {"a": 0.9, "b": 0.2}),
        ({"a": 1.0}, {"a": 0.5}, USUAL, {"a": 0.65}),  # 0.7 * 0.5 + 0.3 * 1
        ({"a": 1.0, "b": 0.4}, {"b": 0.9}, USUAL, {"a": 1.0, "b": 0.75}),  # 0.63 + 0.12
        ({"a": 1.0, "b": 0.2}, {"a": 0.1, "b": 0.8}, USUAL, {"b": 0.62, "a": 0.37}),  # 0.56 + 0.06, 0.07 + 0.3
        ({"b": 1.0}, {"a": 1.0}, USUAL, {"a": 1.0, "b": 1.0}),
        ({"a": 1.0}, {"a": 0.5}, VectorSection(vector_weight=0.5, keyword_weight=0.0), {"a": 0.5}),
        ({"a": 1.0}, {"a": 0.5}, VectorSection(vector_weight=0.2, keyword_weight=0.2), {"a": 0.75}),
        ({"a": 0.0}, {"a": 0.5}, USUAL, {"a": 0.35}),
        ({"a": 0.1}, {"b": 0.39, "c": 0.4}, VectorSection(), {"c": 0.4, "a": 0.1}),
        ({"a": 1.0}, {"a": 0.1}, VectorSection(), {"a": 0.37}),
        ({}, {}, USUAL, {}),
    ],
    ids=[
        "words alone",
        "likeness alone",
        "both",
        "both beside words alone",
        "likeness turns the order",
        "ties by id",
        "words count for nothing",
        "weights need not sum to 1",
        "words that were not ranked",
        "what is hardly alike",
        "hardly alike with the word",
        "nothing",
    ],
)
def test_e16_scores_are_merged_by_weight(
    keywords: dict[str, float], alike: dict[str, float], section: VectorSection, expected: dict[str, float]
) -> None:
    result = merged(found(keywords), found(alike), section, 10)
    assert [recalled.row.id for recalled in result] == list(expected)
    assert [recalled.score for recalled in result] == pytest.approx(list(expected.values()))


SCORES = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1))


@given(keywords=SCORES, alike=SCORES, vector=st.floats(0.01, 1), words=st.floats(0, 1), limit=st.integers(1, 9))
def test_what_words_find_is_never_lost_and_no_score_leaves_what_it_is_made_of(
    keywords: dict[str, float], alike: dict[str, float], vector: float, words: float, limit: int
) -> None:
    section = VectorSection(vector_weight=vector, keyword_weight=words)
    whole = merged(found(keywords), found(alike), section, 100)
    assert keywords.keys() <= {recalled.row.id for recalled in whole} <= keywords.keys() | alike.keys()
    for recalled in whole:
        parts = [scores[recalled.row.id] for scores in (keywords, alike) if recalled.row.id in scores]
        assert min(parts) - 1e-9 <= recalled.score <= max(parts) + 1e-9
        assert math.isfinite(recalled.score)
    assert whole == sorted(whole, key=lambda recalled: (-recalled.score, recalled.row.id))
    assert merged(found(keywords), found(alike), section, limit) == whole[:limit]
