"""A list that changes keeps the comments of the entries that stay, and its style."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agents.editing import Change, with_changes

FILE = Path("agents/reviewer/agent.toml")

COMMENTED = """\
list = [  # what it runs
    "git",  # history

    # --- looking ---

    # all of them
    "ls",
    "cat"  # no comma here
    # the end
]  # done
"""


def relisted(text: str, *values: object) -> str:
    return with_changes(text.encode(), [Change(("list",), list(values))], FILE).decode()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "values", "after"),
    [
        pytest.param('list = ["a", "b"]\n', "abc", 'list = ["a", "b", "c"]\n', id="one line, added"),
        pytest.param('list = ["a", "b"] # c\n', "b", 'list = ["b"] # c\n', id="one line, first gone"),
        pytest.param('list = [ "a","b" ]\n', "xab", 'list = [ "x","a","b" ]\n', id="one line, its own spaces"),
        pytest.param("list = ['a', 'b']\n", "ac", "list = ['a', 'c']\n", id="its own quotes"),
        pytest.param('list = ["a", "b",]\n', "b", 'list = ["b",]\n', id="one line with a last comma"),
        pytest.param('list = ["a", "b"]\n', "", "list = []\n", id="emptied"),
        pytest.param("list = [ ]\n", "ab", 'list = ["a", "b"]\n', id="filled"),
        pytest.param("list = [\n]\n", "ab", 'list = [\n    "a",\n    "b",\n]\n', id="filled on lines of its own"),
        pytest.param('list = [\n  "a",\n  "b",\n]\n', "ba", 'list = [\n  "b",\n  "a",\n]\n', id="another order"),
        pytest.param('list = [\n\t"a",\n\t"b"\n]\n', "abc", 'list = [\n\t"a",\n\t"b",\n\t"c"\n]\n', id="no last comma"),
        pytest.param('list = ["a",\n        "b"]\n', "abc", 'list = ["a",\n        "b",\n        "c"]\n', id="hanging"),
        pytest.param('list = ["a",\n        "b"]\n', "b", 'list = ["b"]\n', id="hanging, first gone"),
        pytest.param(
            'list = [\n  "a" # 1\n, "b" # 2\n]\n', "abc", 'list = [\n  "a" # 1\n, "b", # 2\n "c"\n]\n', id="comma first"
        ),
        pytest.param('list = [ # c\n  # d\n]\n', "a", 'list = [ # c\n    "a",\n  # d\n]\n', id="only comments"),
        pytest.param('list = ["a", "a", "b"]\n', "aba", 'list = ["a", "b", "a"]\n', id="one value twice"),
        pytest.param(
            'list = [\r\n  "a", # 1\r\n]\r\n', "ab", 'list = [\r\n  "a", # 1\r\n  "b",\r\n]\r\n', id="CRLF"
        ),
        pytest.param(
            'list = [\n  "a", "b", # 1\n  "c",\n]\n', "bcd", 'list = [\n  "b", # 1\n  "c",\n  "d",\n]\n', id="mixed"
        ),
    ],
)  # fmt: skip
def test_a_list_keeps_its_style(before: str, values: str, after: str) -> None:
    assert relisted(before, *values) == after


class TestComments:
    def test_stay_beside_and_above_what_stays(self) -> None:
        assert relisted(COMMENTED, "git", "ls", "cat", "jj") == COMMENTED.replace(
            '"cat"  # no comma here\n', '"cat",  # no comma here\n    "jj"\n'
        )

    def test_go_with_what_goes(self) -> None:
        assert relisted(COMMENTED, "ls", "cat") == COMMENTED.replace('\n    "git",  # history', "")

    def test_above_a_blank_line_stay_when_what_is_below_goes(self) -> None:
        assert relisted(COMMENTED, "git", "cat") == COMMENTED.replace('    # all of them\n    "ls",\n', "")
        assert relisted(COMMENTED, "git") == COMMENTED.replace(
            '    # all of them\n    "ls",\n    "cat"  # no comma here\n', ""
        ).replace('"git",', '"git"')

    def test_move_with_what_moves(self) -> None:
        assert relisted(COMMENTED, "cat", "git", "ls").startswith(
            'list = [  # what it runs\n    "cat",  # no comma here\n    "git",  # history\n\n    # --- looking ---\n'
        )

    def test_of_tables_stay_with_their_tables(self) -> None:
        text = 'list = [\n  { agent = "a" }, # why a\n  { agent = "b", mode = "x" }, # why b\n]\n'
        after = relisted(text, {"mode": "x", "agent": "b"}, {"agent": "c"})
        assert after == 'list = [\n  { agent = "b", mode = "x" }, # why b\n  { agent = "c" },\n]\n'

    def test_that_look_like_entries_are_not(self) -> None:
        text = 'list = [\n  "#", # "b", ]\n  "a,]",\n]\n'
        assert relisted(text, "#", "a,]", "c") == text.replace("\n]", '\n  "c",\n]')


class TestTablesUnderHeaders:
    TEXT = (
        "[sandbox]\npids = 1\n\n# first\n[[list]] # a\nx = 1 # one\n\n[other]\ny = 1\n\n"
        "[[list]]\nx = 2\n# below\n\n[list.inner]\nz = 1\n\n[end]\n"
    )

    def test_are_changed_where_they_stand(self) -> None:
        after = relisted(self.TEXT, {"x": 7}, {"x": 2, "inner": {"z": 1}})
        assert after == self.TEXT.replace("x = 1 # one", "x = 7 # one")

    def test_are_added_behind_the_last(self) -> None:
        after = relisted(self.TEXT, {"x": 1}, {"x": 2, "inner": {"z": 1}}, {"x": 3, "l": ["a"]})
        assert after == self.TEXT.replace("z = 1\n\n", 'z = 1\n\n[[list]]\nx = 3\nl = ["a"]\n\n')

    def test_are_added_in_between(self) -> None:
        after = relisted(self.TEXT, {"x": 0}, {"x": 1}, {"x": 2, "inner": {"z": 1}})
        assert after == self.TEXT.replace("# first\n", "[[list]]\nx = 0\n\n# first\n")

    def test_go_with_what_is_inside_them(self) -> None:
        after = relisted(self.TEXT, {"x": 1})
        assert after == self.TEXT.replace("\n[[list]]\nx = 2\n", "").replace("\n[list.inner]\nz = 1\n", "")

    def test_can_all_go(self) -> None:
        assert relisted("[[list]]\nx = 1\n\n[end]\n") == "list = []\n\n[end]\n"


@st.composite
def commented_lists(draw: st.DrawFn) -> tuple[str, list[int]]:
    """A list of different numbers on as many lines, each with its comments above and beside."""
    numbers = draw(st.lists(st.integers(0, 99), min_size=1, max_size=6, unique=True))
    lines = [f"list = [{draw(st.sampled_from(['', ' # open']))}"]
    for place, number in enumerate(numbers):
        if draw(st.booleans()):
            lines += [f"  # group {number}.", ""]
        if draw(st.booleans()):
            lines.append(f"  # above {number}.")
        last = place == len(numbers) - 1
        comma = "" if last and draw(st.booleans()) else draw(st.sampled_from([",", " ,"]))
        lines.append(f"  {number}{comma}{draw(st.sampled_from(['', f' # beside {number}.']))}")
    lines += draw(st.sampled_from([["]"], ["  # end", "] # after"]]))
    return draw(st.sampled_from(["\n", "\r\n"])).join(["x = 1 # before", *lines, "y = [1] # behind", ""]), numbers


@given(commented_lists(), st.data())
def test_what_stays_keeps_its_comments_what_goes_takes_them_along_and_groups_keep_their_headings(
    written: tuple[str, list[int]], data: st.DataObject
) -> None:
    text, numbers = written
    wanted = data.draw(
        st.permutations(sorted({*numbers, 100, 101})).map(lambda all_: all_[: data.draw(st.integers(0, 8))])
    )
    after = relisted(text, *wanted)
    assert tomllib.loads(after) == {"x": 1, "list": wanted, "y": [1]}
    for number in numbers:
        for comment in (f"# above {number}.", f"# beside {number}."):
            assert after.count(comment) == (text.count(comment) if number in wanted else 0)
        assert after.count(f"# group {number}.") == text.count(f"# group {number}.")
        for line in after.splitlines():
            if f"# beside {number}." in line:
                assert line.split("#")[0].strip(" ,").split("[")[-1].strip() == str(number)
    for comment in ("# open", "# end", "# after", "# before", "# behind"):
        assert after.count(comment) == text.count(comment)
    assert after.count("\n") - after.count("\r\n") in (0, after.count("\n"))
    if wanted == numbers:
        assert after == text


GAPS = st.lists(st.sampled_from([" ", "\t", "\n", '# c ] , "\n', "\n\n"]), max_size=4).map("".join)
ITEMS = st.sampled_from(
    ['"a"', "'b'", "1", "[1, 2]", "[ # x\n 1 ]", "{ a = 1 }", '"""\nx"""', "true", '"#"', "1979-05-27"]
)


@st.composite
def wild_lists(draw: st.DrawFn) -> str:
    """A list with spaces, line ends and comments wherever they can stand."""
    items = [draw(GAPS) + draw(ITEMS) + draw(GAPS) for _ in range(draw(st.integers(0, 4)))]
    comma = draw(st.sampled_from(["", ","])) if items else ""
    return f"list = [{','.join(items)}{comma}{draw(GAPS)}] # end\n"


@given(
    wild_lists(),
    st.lists(st.sampled_from(["a", "b", 1, [1, 2], [1], {"a": 1}, True, "#", "new", "it's"]), max_size=5),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_list_can_be_changed_however_it_is_written(text: str, wanted: list[object], line_end: str) -> None:
    after = relisted(text.replace("\n", line_end), *wanted)
    assert tomllib.loads(after)["list"] == wanted
    assert after.endswith(f"] # end{line_end}")
    assert after.count("\n") == after.count(line_end)
    if text.count("\n") == 1:
        assert after.count("\n") == 1
