"""Refusals are told of soon, counted, and never flood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.sandbox.egress.refusal import Refusal, read_refusal
from services.sandbox.egress.tally import WINDOW, Tally


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def told() -> list[Refusal]:
    return []


@pytest.fixture
def tally(told: list[Refusal], clock: Clock) -> Tally:
    return Tally(told.append, clock)


def test_the_first_is_told_at_once_and_the_rest_as_a_number(tally: Tally, told: list[Refusal], clock: Clock) -> None:
    for _ in range(1000):
        tally.add("evil.org:443", "no")
    assert told == [Refusal("evil.org:443", "no")]
    clock.seconds = WINDOW
    tally.tick()
    assert told[1:] == [Refusal("evil.org:443", "no", 999)]
    tally.add("evil.org:443", "no")
    assert len(told) == 3


def test_nothing_is_told_twice_and_nothing_when_nothing_was(tally: Tally, told: list[Refusal], clock: Clock) -> None:
    tally.add("evil.org:443", "no")
    tally.flush()
    tally.flush()
    clock.seconds = 10 * WINDOW
    tally.tick()
    assert told == [Refusal("evil.org:443", "no")]


@given(st.lists(st.integers(0, 300), max_size=600))
def test_however_many_targets_few_lines_tell_the_exact_number(targets: list[int]) -> None:
    told: list[Refusal] = []
    tally = Tally(told.append, Clock())
    for target in targets:
        tally.add(f"{target}.evil.org:443", "no")
    tally.flush()
    assert len(told) <= 41
    assert sum(refusal.times for refusal in told) == len(targets)


@given(st.text(), st.text(), st.integers(1, 10**12))
def test_a_refusal_is_read_as_it_was_written_but_cleaned(target: str, reason: str, times: int) -> None:
    line = Refusal(target, reason, times).line()
    assert "\n" not in line
    assert line.isascii()
    found = read_refusal(line.encode())
    assert found is not None
    assert found.times == times
    assert found.target.isprintable()
    assert len(str(found)) < 700
    if target.isascii() and target.isprintable() and len(target) <= 300:
        assert found.target == target


LINES = [
    b"", b"{", b"[]", b"7", b'"x"', b"null", b'{"ready": true}', b'{"target": 1, "reason": "x", "times": 1}', b"\xff",
    b'{"target": "x", "reason": "x", "times": true}', b'{"target": "x", "reason": "x", "times": "1"}', b"[" * 100_000,
    b'{"target": "x", "reason": "x", "times": 1.5}', b'{"target": "x", "times": 1}',
]  # fmt: skip


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_other_lines_are_no_refusals(line: bytes) -> None:
    assert read_refusal(line) is None


@given(st.binary(max_size=300))
def test_any_line_is_a_refusal_or_none(line: bytes) -> None:
    read_refusal(line)


def test_numbers_are_bounded() -> None:
    assert read_refusal(b'{"target": "x", "reason": "y", "times": -5}') == Refusal("x", "y", 1)
    assert read_refusal(b'{"target": "x", "reason": "y", "times": 99999999999999999999}') == Refusal("x", "y", 10**12)
