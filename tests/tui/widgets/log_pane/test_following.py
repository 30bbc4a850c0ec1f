"""A pane follows at the end, and stays exactly where it is otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.output import SpoolReader
from tests.tui.widgets.log_pane.harness import PaneApp, Spool, bodies, shown, until

SIZE = (60, 12)
ROWS = 12


async def test_shows_the_newest_lines_and_follows(spool: Spool) -> None:
    spool.write_lines(0, 100)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bodies(pilot)[-1] == "line 99")
        assert bodies(pilot) == [f"line {number}" for number in range(88, 100)]
        spool.write_lines(100, 5_000)
        await until(pilot, lambda: bodies(pilot)[-1] == "line 4999")
        assert app.pane.status == "follow ●"


async def test_less_than_a_screen_stands_at_the_top(spool: Spool) -> None:
    spool.write_lines(0, 3)
    async with PaneApp(spool.reader).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bodies(pilot)[:4] == ["line 0", "line 1", "line 2", ""])


async def test_says_that_there_is_no_output_yet(spool: Spool) -> None:
    async with PaneApp(spool.reader).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "no output yet" in shown(pilot)[0])
        spool.write("at last\n")
        await until(pilot, lambda: bodies(pilot)[0] == "at last")


async def test_a_line_that_has_not_ended_shows_and_grows(spool: Spool) -> None:
    spool.write("Password: ")
    async with PaneApp(spool.reader).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bodies(pilot)[0] == "Password:")
        spool.write("secret?\nnext")
        await until(pilot, lambda: bodies(pilot)[:2] == ["Password: secret?", "next"])


@pytest.mark.parametrize("way", ["wheel", "key", "page", "top"])
async def test_stays_where_it_was_scrolled_to_whatever_comes(spool: Spool, way: str) -> None:
    spool.write_lines(0, 1_000)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bodies(pilot)[-1] == "line 999")
        if way == "wheel":
            app.pane.lines.scroll_rows(-30)
        else:
            await pilot.press({"key": "k", "page": "pageup", "top": "g"}[way])
        await pilot.pause()
        before = bodies(pilot)
        assert before[-1] != "line 999"
        spool.write_lines(1_000, 2_234)
        await until(pilot, lambda: app.pane.lines.unseen == 1_234)
        assert bodies(pilot)[:-1] == before[:-1]
        assert "1,234 new lines ↓" in shown(pilot)[-1]
        assert app.pane.status == "paused ⏸"
        await pilot.press("G")
        await until(pilot, lambda: bodies(pilot)[-1] == "line 2233")
        assert app.pane.status == "follow ●"


async def test_pause_freezes_even_at_the_end_and_goes_on_with_the_same_key(spool: Spool) -> None:
    spool.write_lines(0, 5)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bodies(pilot)[4] == "line 4")
        await pilot.press("space")
        spool.write_lines(5, 8)
        await until(pilot, lambda: app.pane.lines.unseen == 3)
        assert bodies(pilot)[5] == ""
        assert "3 new lines ↓" in shown(pilot)[-1]
        await pilot.press("space")
        await until(pilot, lambda: bodies(pilot)[7] == "line 7")


async def test_scrolling_back_to_the_end_follows_again(spool: Spool) -> None:
    spool.write_lines(0, 100)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bodies(pilot)[-1] == "line 99")
        await pilot.press("k", "k", "j")
        assert app.pane.status == "paused ⏸"
        await pilot.press("j")
        assert app.pane.status == "follow ●"


async def test_does_not_follow_while_the_scroll_bar_is_held(spool: Spool) -> None:
    spool.write_lines(0, 100)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bodies(pilot)[-1] == "line 99")
        await pilot.mouse_down(app.pane.lines, offset=(SIZE[0] - 1, ROWS - 1))
        before = bodies(pilot)
        spool.write_lines(100, 200)
        await until(pilot, lambda: app.pane.lines.viewport.end == 200)
        assert bodies(pilot) == before
        await pilot.mouse_up(app.pane.lines, offset=(SIZE[0] - 1, ROWS - 1))


async def test_dropping_the_oldest_lines_moves_nothing(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "small", limit=1_000_000)
    spool.write_lines(0, 40_000)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bodies(pilot)[-1] == "line 39999")
        await pilot.press("pageup")
        await pilot.pause()
        before = bodies(pilot)
        dropped = spool.reader.dropped_lines
        spool.write_lines(40_000, 120_000)
        await until(pilot, lambda: spool.reader.dropped_lines > dropped)
        assert bodies(pilot)[:-1] == before[:-1]
        assert f"{spool.reader.dropped_lines:,} dropped" in app.pane.status
    spool.close()


async def test_lines_dropped_from_under_the_reader_give_way_to_the_oldest_kept(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "small", limit=1_000_000)
    spool.write_lines(0, 1_000)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bodies(pilot)[-1] == "line 999")
        await pilot.press("g")
        for start in range(1_000, 200_000, 20_000):
            spool.write_lines(start, start + 20_000)
        await until(pilot, lambda: bodies(pilot)[0] == f"line {spool.reader.first}" and spool.reader.first > 0)
    spool.close()


async def test_tells_when_the_output_is_complete_and_what_was_lost(spool: Spool) -> None:
    spool.write_lines(0, 3)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.pane.status == "follow ●")
        spool.writer.finish()
        await until(pilot, lambda: app.pane.status == "ended ■")


async def test_does_nothing_while_out_of_sight_and_catches_up_after(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool.write_lines(0, 10)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bodies(pilot)[9] == "line 9")
        app.pane.display = False
        app.query_one("#elsewhere").display = True
        spool.write_lines(10, 20)
        await until(pilot, lambda: not app.pane._may_be_seen.is_set() and bool(app.pane._may_be_seen._waiters))
        refreshed: list[int] = []

        def refresh(_: SpoolReader) -> bool:
            refreshed.append(1)
            return False

        monkeypatch.setattr(SpoolReader, "refresh", refresh)
        spool.write_lines(20, 30)
        for _ in range(10):
            await pilot.pause(0.02)
        assert refreshed == []
        monkeypatch.undo()
        app.query_one("#elsewhere").display = False
        app.pane.display = True
        await until(pilot, lambda: bodies(pilot)[-1] == "line 29")


async def test_another_session_takes_the_place_of_the_first(spool: Spool, tmp_path: Path) -> None:
    other = Spool(tmp_path / "other")
    spool.write_lines(0, 100)
    other.write("from the other\n")
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bodies(pilot)[-1] == "line 99")
        app.pane.show(other.reader, "other")
        await until(pilot, lambda: bodies(pilot)[:2] == ["from the other", ""])
        app.pane.show(None, "")
        await until(pilot, lambda: bodies(pilot)[0] == "")
        assert app.pane.status == ""
    other.close()


async def test_a_spool_that_went_away_is_said_so(spool: Spool) -> None:
    spool.write_lines(0, 100)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bodies(pilot)[-1] == "line 99")
        for file in spool.directory.iterdir():
            file.unlink()
        await pilot.press("g")
        await pilot.pause()
        assert shown(pilot)


@pytest.mark.parametrize("wrap", [False, True], ids=["cut", "wrapped"])
async def test_another_size_keeps_the_place(spool: Spool, wrap: bool) -> None:
    spool.write("".join(f"line {number} {'x' * (number % 90)}\n" for number in range(500)))
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "line 499" in "".join(bodies(pilot)))
        if wrap:
            await pilot.press("w")
        await pilot.press("pageup", "pageup")
        first = app.pane.lines.viewport.top.row
        await pilot.resize_terminal(30, 6)
        await until(pilot, lambda: app.pane.lines.size.width == 30)
        await pilot.resize_terminal(*SIZE)
        await until(pilot, lambda: app.pane.lines.size.width == SIZE[0])
        assert app.pane.lines.viewport.top.row == first
        await pilot.press("G")
        await pilot.resize_terminal(30, 6)
        await until(pilot, lambda: app.pane.lines.size.width == 30)
        assert app.pane.lines.viewport.visible()[-1].row == 499
