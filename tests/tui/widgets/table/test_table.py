"""The table keeps cursor, marks and place on their rows, and paints only what changed."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from textual import on
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.pilot import Pilot

from tui.widgets.table import Column, Table, cell


@dataclass(frozen=True)
class Row:
    name: str
    size: int = 0


class Recorded(Table[Row]):
    """Remembers what it was asked to paint."""

    painted: list[Region]

    def refresh(self, *regions, **kwargs):
        self.__dict__.setdefault("painted", []).extend(regions or [self.size.region])
        return super().refresh(*regions, **kwargs)


class TableApp(App[None]):
    CSS = "Table { height: 8; }"

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []
        self.pilot: Pilot[None]
        self.table = Recorded(
            [
                Column("name", "NAME", lambda row, _: cell(row.name), lambda row: row.name, 10),
                Column("size", "SIZE", lambda row, _: cell(str(row.size)), lambda row: row.size, 6, right=True),
            ],
            lambda row: row.name,
            text=lambda row: row.name,
        )

    def compose(self) -> ComposeResult:
        yield self.table

    @on(Table.Opened)
    def note(self, message: Table.Opened) -> None:
        self.messages.append(f"opened {self.table.row}")


def rows(*names: str) -> list[Row]:
    return [Row(name) for name in names]


@pytest.fixture
async def app():
    app = TableApp()
    async with app.run_test(size=(40, 10)) as pilot:
        app.pilot = pilot
        app.table.focus()
        yield app


def line(app: TableApp, y: int) -> str:
    return app.table.render_line(y).text.rstrip()


async def test_numbers_stand_to_the_right_and_the_cursor_is_marked_by_a_sign(app) -> None:
    app.table.show([Row("ada", 7)])
    assert line(app, 1) == " ▶ ada              7"


async def test_the_cursor_stays_on_its_row_when_rows_come_before_it(app) -> None:
    app.table.show(rows("c", "d"))
    await app.pilot.press("j")
    app.table.show(rows("a", "b", "c", "d", "e"))
    assert app.table.row == Row("d")


async def test_the_row_of_the_cursor_stays_at_its_height_on_screen(app) -> None:
    app.table.show(rows(*(f"m{index:02}" for index in range(30))))
    await app.pilot.press(*["j"] * 12)
    height = app.table._cursor - app.table.scroll_offset.y
    app.table.show(rows(*(f"a{index}" for index in range(9)), *(f"m{index:02}" for index in range(30))))
    await app.pilot.pause()
    assert app.table.row == Row("m12")
    assert app.table._cursor - app.table.scroll_offset.y == height


async def test_when_its_row_goes_the_cursor_stays_in_place(app) -> None:
    app.table.show(rows("a", "b", "c"))
    await app.pilot.press("j")
    app.table.show(rows("a", "c"))
    assert app.table.row == Row("c")
    app.table.show(rows("a"))
    assert app.table.row == Row("a")
    app.table.show(())
    assert app.table.row is None


async def test_marks_stay_on_their_rows_and_go_with_them(app) -> None:
    app.table.show(rows("a", "b", "c"))
    await app.pilot.press("space", "space")
    app.table.show(rows("z", "b", "a"))
    assert app.table.marked == (Row("b"), Row("a"))
    app.table.show(rows("b"))
    assert app.table.marked == (Row("b"),)


async def test_mark_all_marks_what_is_shown_and_takes_it_back(app) -> None:
    app.table.show(rows("ada", "bob", "abe"))
    app.table.filter("a")
    await app.pilot.press("asterisk")
    assert app.table.marked == (Row("ada"), Row("abe"))
    await app.pilot.press("asterisk")
    assert app.table.marked == ()


async def test_the_filter_wants_every_word_and_ignores_case(app) -> None:
    app.table.show(rows("red fox", "Red hen", "blue hen"))
    app.table.filter("HEN red")
    assert app.table.rows == (Row("Red hen"),)
    assert app.table.total == 3


async def test_sorting_goes_through_the_columns_and_turns_round(app) -> None:
    app.table.show([Row("b", 1), Row("a", 2), Row("c", 0)])
    await app.pilot.press("S")
    assert [row.name for row in app.table.rows] == ["a", "b", "c"]
    await app.pilot.press("S")
    assert [row.size for row in app.table.rows] == [0, 1, 2]
    await app.pilot.press("R")
    assert [row.size for row in app.table.rows] == [2, 1, 0]
    assert app.table.row == Row("b", 1)


async def test_only_cells_that_changed_are_painted(app) -> None:
    app.table.show([Row("a", 1), Row("b", 2)])
    await app.pilot.pause()
    app.table.painted.clear()
    app.table.show([Row("a", 1), Row("b", 3)])
    size = app.table._placed[1]
    assert app.table.painted == [Region(size.x, 2, size.width, 1)]


async def test_nothing_is_painted_when_nothing_changed(app) -> None:
    app.table.show(rows("a", "b"))
    await app.pilot.pause()
    app.table.painted.clear()
    app.table.show(rows("a", "b"))
    app.table.redraw()
    assert app.table.painted == []


async def test_a_click_chooses_a_double_click_opens_and_a_heading_sorts(app) -> None:
    app.table.show(rows("b", "a"))
    await app.pilot.click(Table, offset=(5, 2))
    assert app.table.row == Row("a")
    await app.pilot.click(Table, offset=(5, 2), times=2)
    assert app.messages == [f"opened {Row('a')}"]
    await app.pilot.click(Table, offset=(5, 0))
    assert [row.name for row in app.table.rows] == ["a", "b"]


async def test_only_the_visible_rows_are_asked_for_their_cells(app) -> None:
    asked: list[str] = []

    def draw(row: Row, width: int):
        asked.append(row.name)
        return cell(row.name)

    table = Table([Column("name", "NAME", draw, None, 10)], lambda row: row.name)
    await app.mount(table)
    table.show(rows(*(str(index) for index in range(5000))))
    await app.pilot.pause()
    assert len(set(asked)) <= 8


async def test_a_thousand_rows_keep_their_order_while_the_end_is_shown(app) -> None:
    app.table.show([Row(f"{index:04}", index) for index in range(1000)])
    await app.pilot.press("G")
    assert app.table.row == Row("0999", 999)
    assert "0999" in line(app, 7)


async def test_a_row_that_changed_while_the_colours_did_is_painted(app) -> None:
    app.table.show([Row("ada", 1)])
    await app.pilot.pause()
    app.table.notify_style_update()
    app.table.painted.clear()
    app.table._rows["ada"] = Row("ada", 2)
    app.table.redraw()
    assert any(region.y <= 1 < region.bottom for region in app.table.painted)
