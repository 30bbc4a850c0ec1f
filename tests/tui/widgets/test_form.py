"""The form by itself: where things stand, and what keys and clicks tell."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual import on
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from themes import style_sheets
from tui.theming import VARIABLE_DEFAULTS
from tui.widgets.form import Form, FormRow, Note
from tui.widgets.form.layout import Columns, lay_out

ROWS = (
    FormRow("level", "Level", "choice", ("full",)),
    FormRow("#files", "Files", "heading"),
    FormRow("roots", "Roots", "list", ("/a", "/b"), own=True),
    FormRow("empty", "Empty", "list", empty="none"),
    FormRow("memory", "Memory", "text", ("2g",)),
    FormRow("fixed", "Fixed", "fixed", ("yes",)),
    FormRow("#columns", "Siblings", "columns", ("read", "write", "none")),
    FormRow("one", "one", "matrix", ("read", "write", "none"), chosen=2),
)


class Harness(App[None]):
    CSS_PATH = style_sheets()  # type: ignore[assignment]  # Textual takes paths

    def __init__(self, rows: tuple[FormRow, ...]) -> None:
        super().__init__()
        self.rows = rows
        self.told: list[tuple[Any, ...]] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(VARIABLE_DEFAULTS)

    def compose(self) -> ComposeResult:
        yield Form()

    def on_mount(self) -> None:
        form = self.query_one(Form)
        form.show(self.rows)
        form.focus()

    @on(Form.ChangeAsked)
    @on(Form.RemoveAsked)
    @on(Form.ResetAsked)
    def _asked(self, message: Form.About) -> None:
        self.told.append((type(message).__name__, message.row.key, message.slot))

    @on(Form.Given)
    def _given(self, message: Form.Given) -> None:
        self.told.append(("Given", message.row.key, message.slot, message.typed))


@asynccontextmanager
async def form(rows: tuple[FormRow, ...] = ROWS) -> AsyncIterator[tuple[Harness, Pilot[None], Form]]:
    app = Harness(rows)
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        yield app, pilot, app.query_one(Form)


async def test_the_cursor_goes_over_fields_and_entries_and_skips_headings() -> None:
    async with form() as (_, pilot, shown):
        places = []
        for key in ("down", "l", "l", "l", "h", "j", "j", "j", "j", "k"):
            await pilot.press(key)
            places.append(shown.at)
        assert places == [
            ("roots", 0),
            ("roots", 1),
            ("roots", 2),
            ("roots", 2),
            ("roots", 1),
            ("empty", 0),
            ("memory", 0),
            ("fixed", 0),
            ("one", 2),
            ("fixed", 0),
        ]


async def test_keys_tell_what_is_wanted_only_where_it_can_be_done() -> None:
    async with form() as (app, pilot, shown):
        for key, slot in (("level", 0), ("roots", 1), ("roots", 2), ("fixed", 0), ("one", 1)):
            shown.go_to(key, slot)
            await pilot.press("space", "d", "backspace")
        assert app.told == [
            ("ChangeAsked", "level", 0),
            ("ChangeAsked", "roots", 1),
            ("RemoveAsked", "roots", 1),
            ("ResetAsked", "roots", 1),
            ("ChangeAsked", "roots", 2),
            ("ResetAsked", "roots", 2),
            ("ChangeAsked", "one", 1),
        ]


async def test_a_form_that_is_read_only_tells_nothing() -> None:
    async with form() as (app, pilot, shown):
        shown.read_only = True
        await pilot.press("enter", "j", "enter", "d", "plus", "backspace")
        assert app.told == []


async def test_the_cursor_stays_on_its_field_when_rows_come_and_go() -> None:
    async with form() as (_, _, shown):
        shown.go_to("memory")
        shown.show((FormRow("new", "New", "text", ("x",)), *ROWS))
        assert shown.at == ("memory", 0)
        shown.show(ROWS[:2])
        assert shown.at == ("level", 0)


async def test_what_is_typed_stands_at_its_field_and_is_told_when_given() -> None:
    async with form() as (app, pilot, shown):
        shown.go_to("roots", 1)
        shown.ask("/b")
        await pilot.press("/", "c", "enter")
        assert app.told == [("Given", "roots", 1, "/b/c")]
        shown.show_trouble([Note("no such place")])
        assert [note.text for note in shown.row.notes] == ["no such place"] if shown.row else False
        await pilot.press("escape")


async def test_a_click_on_the_plus_adds_and_on_the_entry_under_the_cursor_changes() -> None:
    async with form() as (app, pilot, shown):
        for slot, wait in ((2, 0.0), (1, 0.6), (1, 0.0)):  # two clicks at once would be a double click
            line, piece = shown._lines.place_of(2, slot)
            assert piece is not None
            await pilot.click("FormLines", offset=(piece.x + 1, line))
            await pilot.pause(wait)
        assert app.told == [("ChangeAsked", "roots", 2), ("ChangeAsked", "roots", 1)]


@given(st.lists(st.text(max_size=90), max_size=30), st.integers(30, 200))
def test_entries_of_any_length_keep_to_their_column(entries, width) -> None:
    columns = Columns.of(width)
    row = FormRow("key", "Label", "list", tuple(entries))
    pieces = [piece for line in lay_out([row], columns) for piece in line.pieces]
    assert [piece.slot for piece in pieces] == list(range(len(entries) + 1))
    assert all(columns.value <= piece.x for piece in pieces)
    assert all(piece.x + cell_len(piece.text) <= columns.value + columns.room for piece in pieces)


@pytest.mark.parametrize("error", [True, False], ids=["error", "warning"])
def test_a_remark_marks_its_entry_and_has_a_line_of_its_own(error) -> None:
    row = FormRow("key", "Label", "list", ("one", "two"), notes=(Note("odd", error, 1),))
    values, remark = lay_out([row], Columns.of(80))
    assert [piece.text.strip() for piece in values.pieces] == ["one", "⚠ two", "+"]
    assert remark.note == Note("odd", error, 1)


FOLLOWED = {
    "in its place": (("a", "b"), ("a", "b"), 1, 1),
    "pushed back": (("a", "b"), ("x", "a", "b"), 1, 2),
    "gone": (("a", "b"), ("a", "c", "d"), 1, 3),
    "drawn as nothing": (("a", ""), ("a", "", "b"), 1, 1),
    "to be added": (("a", "b"), ("a", "b", "c"), 2, 3),
    "one of two alike": (("a", "b", "a"), ("a", "b", "a"), 2, 2),
}


@pytest.mark.parametrize(("before", "after", "slot", "found"), FOLLOWED.values(), ids=FOLLOWED)
def test_an_entry_is_found_where_it_is_now(before, after, slot, found) -> None:
    old, new = (FormRow("key", "Label", "list", entries) for entries in (before, after))
    assert new.slot_of(old.entry_at(slot), slot) == found


async def test_the_cursor_and_what_is_half_typed_stay_with_their_entry() -> None:
    async with form() as (_, pilot, shown):
        shown.go_to("roots", 1)
        await pilot.press("enter")
        shown.ask("/b")
        await pilot.press("c", "left")
        rows = tuple(replace(row, entries=("/0", "/a", "/b")) if row.key == "roots" else row for row in ROWS)
        shown.show(rows)
        asked, entry = shown.asked, shown._entry
        assert asked is not None
        assert entry is not None
        assert (shown.at, asked.slot, asked.typed) == (("roots", 2), 2, "/bc")
        assert entry.cursor_position == 2
