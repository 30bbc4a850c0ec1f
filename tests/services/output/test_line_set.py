"""A line set equals a plain set of numbers, whatever is added, cut off and dropped."""

from __future__ import annotations

import bisect

from hypothesis import given, settings
from hypothesis import strategies as st

from services.output.search.line_set import LineSet, mask_of

acts = st.lists(
    st.tuples(st.sampled_from(["add", "add range", "truncate", "drop"]), st.integers(0, 20_000), st.integers(0, 9_000)),
    max_size=20,
)


@settings(max_examples=100, deadline=None)
@given(acts, st.lists(st.integers(0, 40_000), max_size=5))
def test_equals_a_plain_set(acts: list[tuple[str, int, int]], asked: list[int]) -> None:
    lines, model = LineSet(), set[int]()
    oldest = newest = 0
    for act, number, size in acts:
        if act == "add":
            added = [newest + number % 50 + step * (size % 700 + 1) for step in range(size % 30)]
            lines.add(mask_of(added))
            model.update(added)
        elif act == "add range":
            start = newest + number % 5_000
            lines.add(mask_of(range(start, start + size)))
            model.update(range(start, start + size))
        elif act == "truncate":
            newest = max(oldest, newest - number % 5_000)
            lines.truncate(newest)
            model = {line for line in model if line < newest}
        else:
            oldest += number % 6_000
            lines.drop_before(oldest)
            model = {line for line in model if line >= oldest}
        newest = max(newest, oldest, max(model, default=-1) + 1)
    expected = sorted(model)
    assert len(lines) == len(expected)
    assert lines.lines(0, 10**9) == expected
    for line in (*asked, oldest, newest):
        rank = bisect.bisect_left(expected, line)
        assert lines.rank(line) == rank
        assert lines.lines(rank, 3) == expected[rank : rank + 3]
        assert lines.next(line) == next(iter(expected[bisect.bisect_right(expected, line) :]), None)
        assert lines.previous(line) == next(reversed(expected[:rank]), None)
