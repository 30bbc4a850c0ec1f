"""Two versions of a file as an operator compares them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.diff import diff_lines

TEXTS = st.lists(st.sampled_from(["[permissions]", "a = 1", "b = 2", "", "# why"]), max_size=12).map("\n".join)


def drawn(before: str, after: str) -> list[str]:
    return ["".join(span.text for span in line) for line in diff_lines(before, after)]


def test_a_changed_line_stands_with_its_number_and_what_is_around_it() -> None:
    before = "[agent]\n\n[permissions]\nallowed = ['git']  # why\n\n[sandbox]\nx = 1\ny = 2\n"
    assert drawn(before, before.replace("'git'", "'git', 'ls'")) == [
        "   2   ",
        "   3   [permissions]",
        "   4 - allowed = ['git']  # why",
        "   4 + allowed = ['git', 'ls']  # why",
        "   5   ",
        "   6   [sandbox]",
    ]


def test_only_what_differs_inside_a_line_is_in_colour() -> None:
    minus, plus = diff_lines("a = [1, 2]", "a = [1, 3, 2]")
    assert [span.text for span in plus if span.tone == "good"] == ["+ ", "3, "]
    assert [span.text for span in minus if span.tone == "bad"] == ["- ", ""]


def test_a_change_far_into_an_endless_line_is_in_sight() -> None:
    line = "x" * 200_000
    lines = drawn(f"{line}old", f"{line}new")
    assert [line[-3:] for line in lines] == ["old", "new"]
    assert max(map(len, lines)) < 500


def test_hostile_lines_are_cleaned() -> None:
    assert drawn("", "a = '\x1b]52;c;AA\x07\u202e[red]'") == ["   1 + a = '<202E>[red]'"]


@given(TEXTS, TEXTS)
def test_every_line_that_went_or_came_is_told_once(before, after) -> None:
    lines = drawn(before, after)
    gone = {int(line[:4]): line[7:] for line in lines if line[5:6] == "-"}
    come = {int(line[:4]): line[7:] for line in lines if line[5:6] == "+"}
    old, new = dict(enumerate(before.splitlines(), 1)), dict(enumerate(after.splitlines(), 1))
    assert gone.items() <= old.items()
    assert come.items() <= new.items()
    assert [old[at] for at in old if at not in gone] == [new[at] for at in new if at not in come]
