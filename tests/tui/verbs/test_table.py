"""Tables of the command line: fitted to a terminal, tab-separated elsewhere, and never driven by what they show."""

from __future__ import annotations

import io
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.verbs.printer import Printer, json_lines, json_text
from tui.verbs.table import Cell, Column, aligned, tabbed

NAME, PATH, COUNT = Column("NAME"), Column("PATH", cut="middle"), Column("COUNT", right=True)


def row(*texts: str) -> list[Cell]:
    return [Cell(text) for text in texts]


def test_columns_are_aligned_and_numbers_stand_at_the_right() -> None:
    lines = aligned((NAME, COUNT), [row("a", "5"), row("longer", "12345")], 80, colours=False)
    assert lines == ["NAME    COUNT", "a           5", "longer  12345"]


def test_a_table_too_wide_is_cut_in_its_widest_column_that_may_be_cut() -> None:
    lines = aligned((NAME, PATH), [row("name", "/srv/very/long/path/to/somewhere/file.txt")], 30, colours=False)
    assert all(cell_len(line) <= 30 for line in lines)
    assert lines[1].startswith("name  /srv/")
    assert lines[1].endswith("file.txt")
    assert "…" in lines[1]


def test_on_a_narrow_terminal_spare_columns_go() -> None:
    columns = (NAME, Column("FIRST", spare=1), Column("SECOND", spare=2))
    rows = [row("a name", "one", "two")]
    assert aligned(columns, rows, 80, colours=False)[1] == "a name  one    two"
    assert aligned(columns, rows, 14, colours=False) == ["NAME    FIRST", "a name  one"]
    assert aligned(columns, rows, 8, colours=False) == ["NAME", "a name"]


def test_wide_characters_keep_later_columns_in_place() -> None:
    lines = aligned((NAME, COUNT), [row("日本", "1"), row("abcd", "2")], 80, colours=False)
    assert lines[1] == "日本      1"
    assert lines[2] == "abcd      2"


def test_colours_do_not_change_the_width() -> None:
    plain = aligned((NAME, COUNT), [[Cell("a", "bad"), Cell("1")]], 80, colours=False)
    coloured = aligned((NAME, COUNT), [[Cell("a", "bad"), Cell("1")]], 80, colours=True)
    assert "\x1b[31ma\x1b[0m" in coloured[1]
    assert coloured[1].replace("\x1b[31m", "").replace("\x1b[0m", "") == plain[1]


def test_signs_stand_before_words_on_a_terminal_only() -> None:
    cells = [[Cell("running", "good", "●")]]
    assert aligned((NAME,), cells, 80, colours=False)[1] == "● running"
    assert tabbed((NAME,), cells)[1] == "running"


@given(st.lists(st.lists(st.text(max_size=40), min_size=3, max_size=3), max_size=6), st.integers(40, 200))
def test_whatever_is_shown_stays_within_the_terminal_and_on_its_line(rows: list[list[str]], width: int) -> None:
    columns = (Column("A", cut="end"), Column("B", cut="middle"), Column("C", right=True, cut="end"))
    lines = aligned(columns, [row(*texts) for texts in rows], width, colours=False)
    assert len(lines) == len(rows) + 1
    assert all(cell_len(line) <= width for line in lines)
    assert not {unicodedata.category(character) for line in lines for character in line} & {"Cc", "Zl", "Zp"}


@given(st.lists(st.lists(st.text(max_size=20), min_size=2, max_size=2), max_size=6))
def test_piped_rows_have_one_tab_between_any_two_cells(rows: list[list[str]]) -> None:
    lines = tabbed((NAME, COUNT), [row(*texts) for texts in rows])
    assert [line.count("\t") for line in lines] == [1] * (len(rows) + 1)


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("env", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
    ids=["plain", "no-color", "empty-no-color", "dumb"],
)
def test_colours_are_drawn_where_they_are_wanted(env: dict[str, str], coloured: bool) -> None:
    out = Tty()
    Printer(out, env).line("text", "bad")
    assert ("\x1b[31m" in out.getvalue()) is coloured


def test_a_pipe_gets_no_colours() -> None:
    out = io.StringIO()
    Printer(out, {}).line("text", "bad")
    assert out.getvalue() == "text\n"


def test_a_line_acts_on_no_terminal() -> None:
    out = Tty()
    Printer(out, {"NO_COLOR": "1"}).line("a\x1b]0;title\x07b\x1b[2Jc\u202ed")
    assert out.getvalue() == "abc<202E>d\n"


def test_json_holds_the_same_text_and_no_character_that_drives_a_terminal() -> None:
    name = "a\x1b[31m\x9b31m\x7f\u202eé\u200b"
    escaped = r'"a\u001b[31m\u009b31m\u007f\u202eé\u200b"'
    assert json_lines([{"name": name}, {}]) == f'{{"name":{escaped}}}\n{{}}\n'
    assert json_text({"name": name}) == f'{{\n  "name": {escaped}\n}}'
    assert json.loads(json_text({"name": name})) == {"name": name}
