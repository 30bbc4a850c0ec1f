"""Search, jumps between errors and filters."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from services.output import Query, Stream
from tests.tui.widgets.log_pane.harness import PaneApp, Spool, bodies, choice, shown, until
from tui.widgets.log_pane.finding import is_quick, marking

SIZE = (70, 12)


def write_mixed(spool: Spool, count: int = 1_000) -> None:
    """Every 50th line fails, every 100th on stderr; the rest is quiet."""
    for start in range(0, count, 100):
        spool.write(f"ERROR boom {start}\n", Stream.STDERR)
        quiet = range(start + 1, min(start + 100, count))
        spool.write("".join(f"FAILED test_{number}\n" if number % 50 == 0 else f"line {number}\n" for number in quiet))


def cursor_text(app: PaneApp) -> str:
    lines = app.pane.lines
    assert lines.cursor is not None
    line = lines.line(lines.cursor)
    assert line is not None
    return line.data.decode()


async def test_search_shows_the_nearest_hit_and_counts_all(spool: Spool) -> None:
    write_mixed(spool)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bodies(pilot)[-1] == "line 999")
        await pilot.press("slash", *"failed", "enter")
        await until(pilot, lambda: "10 of 10" in app.pane.info.text)
        assert cursor_text(app) == "FAILED test_950"
        assert app.pane.status == "paused ⏸"
        await pilot.press("N")
        await until(pilot, lambda: "9 of 10" in app.pane.info.text)
        assert cursor_text(app) == "FAILED test_850"
        await pilot.press("n")
        await until(pilot, lambda: "10 of 10" in app.pane.info.text)
        await pilot.press("n")
        await until(pilot, lambda: "no hit below" in app.pane.info.text)
        assert cursor_text(app) == "FAILED test_950"


async def test_search_begins_below_where_the_pane_stays(spool: Spool) -> None:
    write_mixed(spool)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bodies(pilot)[-1] == "line 999")
        await pilot.press("g", "slash", *"FAILED", "enter")
        await until(pilot, lambda: "1 of 10" in app.pane.info.text)
        assert cursor_text(app) == "FAILED test_50"


async def test_hits_are_counted_as_they_come(spool: Spool) -> None:
    write_mixed(spool)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("slash", *"FAILED", "enter")
        await until(pilot, lambda: "10 of 10" in app.pane.info.text)
        spool.write("FAILED once more\n")
        await until(pilot, lambda: "10 of 11" in app.pane.info.text)


async def test_escape_while_typing_ends_the_search_and_goes_back(spool: Spool) -> None:
    write_mixed(spool)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bodies(pilot)[-1] == "line 999")
        await pilot.press("pageup", "pageup", "pageup")
        before = bodies(pilot)[:8]
        await pilot.press("slash", *"test_50")
        await until(pilot, lambda: "of" in app.pane.info.text)
        await pilot.press("escape")
        await until(pilot, lambda: app.pane.has_focus and bodies(pilot)[:8] == before)
        assert app.pane.info.text == ""


async def test_keys_of_the_pane_are_letters_while_one_types(spool: Spool) -> None:
    write_mixed(spool, 60)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("slash", *"njkgGwfe")
        await until(pilot, lambda: "/njkgGwfe  no hits" in app.pane.info.text)
        assert not app.pane.lines.view.wrap
        assert app.pane.status == "follow ●"


@pytest.mark.parametrize(
    ("typed", "choices", "hits"),
    [
        ("failed", (), "10"),
        ("failed", ("exact",), "no hits"),
        ("FAILED", ("exact",), "10"),
        ("test_[0-4]50", ("regex",), "4"),
        ("test_[0-4]50", (), "no hits"),
        ("BOOM", ("regex",), "10"),
    ],
    ids=["any-case", "exact-case", "same-case", "regex", "regex-as-text", "regex-any-case"],
)
async def test_text_or_regex_and_case(spool: Spool, typed: str, choices: tuple[str, ...], hits: str) -> None:
    write_mixed(spool)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("slash", *typed)
        for chosen in choices:
            choice(app, "#kind" if chosen == "regex" else "#case").value = chosen
        await pilot.press("enter")
        wanted = f"of {hits}" if hits.isdigit() else hits
        await until(pilot, lambda: app.pane.info.text.endswith(wanted))


async def test_a_pattern_that_is_none_is_said_and_stays_to_be_mended(spool: Spool) -> None:
    write_mixed(spool, 60)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("slash", *"test_(")
        choice(app, "#kind").value = "regex"
        await pilot.press("enter")
        await until(pilot, lambda: "not a regular expression" in app.pane.info.text)
        await pilot.press(*"5)", "enter")
        await until(pilot, lambda: "1 of 1" in app.pane.info.text)


async def test_a_pattern_that_takes_for_ever_does_not_hold_up_the_screen(spool: Spool) -> None:
    spool.write("a" * 5_000 + "b\n")
    spool.write_lines(0, 20)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("slash", *"(a+)+c")
        choice(app, "#kind").value = "regex"
        await pilot.press("enter")
        slowest = 0.0
        while "takes too long" not in app.pane.info.text:
            before = time.monotonic()
            await pilot.pause(0.01)
            slowest = max(slowest, time.monotonic() - before)
        assert slowest < 2.0


@pytest.mark.parametrize(
    ("pattern", "quick"),
    [
        ("FAILED", True),
        (r"test_\d+", True),
        (r"[a-z]+", True),
        (r"\(x\)+", True),
        (r"a?b?c", True),
        (r"[*+{1,2}]x", True),
        (r"(a+)+", False),
        (r"(a|aa)+$", False),
        (r".*.*x", False),
        (r"(a)\1", False),
        (r"(?=a*)b", False),
        (r"a{1,9}b{1,9}", False),
        (r"a?a?a?a?a?aaaaa", False),
    ],
)
def test_only_patterns_that_cannot_take_long_mark_the_screen(pattern: str, quick: bool) -> None:
    assert is_quick(pattern) is quick
    assert (marking(Query(pattern, regex=True)) is not None) is quick


async def test_hits_are_marked_on_screen(spool: Spool) -> None:
    spool.write("one FAILED two failed\n")
    spool.write("FAI\x1b[31mLED in colours\n")
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("slash", *"failed", "enter")
        await until(pilot, lambda: "2 of 2" in app.pane.info.text)
        hit = app.pane.lines._styles().over["hit"].bgcolor
        marked = [
            "".join(segment.text for segment in strip if segment.style and segment.style.bgcolor == hit)
            for strip in app.pane.lines.render_lines(app.pane.lines.size.region)
        ]
        assert marked[:2] == ["FAILEDfailed", "FAILED"]


async def test_jumps_from_error_to_error(spool: Spool) -> None:
    write_mixed(spool)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bodies(pilot)[-1] == "line 999")
        await pilot.press("e")
        await until(pilot, lambda: "no error below" in app.pane.info.text)
        await pilot.press("E")
        await until(pilot, lambda: app.pane.lines.cursor == 950)
        await pilot.press("E")
        await until(pilot, lambda: app.pane.lines.cursor == 900)
        await pilot.press("escape", "g", "e")
        await until(pilot, lambda: app.pane.lines.cursor == 0)
        await pilot.press("e")
        await until(pilot, lambda: app.pane.lines.cursor == 50)


async def test_filter_by_text_shows_only_what_matches_and_follows(spool: Spool) -> None:
    write_mixed(spool)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("ampersand", *"FAILED", "enter")
        await until(pilot, lambda: bodies(pilot)[9] == "FAILED test_950")
        assert "&FAILED  10 of 1,000 lines" in app.pane.info.text
        spool.write("FAILED again\nnot this\n")
        await until(pilot, lambda: "FAILED again" in bodies(pilot) and "not this" not in bodies(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: bodies(pilot)[-1] == "not this")
        assert app.pane.info.text == ""


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({"stream": "stderr"}, 10),
        ({"stream": "stdout"}, 990),
        ({"level": "error"}, 20),
        ({"stream": "stderr", "level": "error"}, 10),
    ],
    ids=["stderr", "stdout", "errors", "both"],
)
async def test_filter_by_stream_and_level(spool: Spool, choices: dict[str, str], expected: int) -> None:
    write_mixed(spool)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("ampersand")
        for name, value in choices.items():
            choice(app, f"#{name}").value = value
        await pilot.press("enter")
        await until(pilot, lambda: f"{expected:,} of 1,000 lines" in app.pane.info.text)
        assert app.pane.lines.viewport.end - app.pane.lines.viewport.first == expected


async def test_a_filter_keeps_the_place_and_gives_it_back(spool: Spool) -> None:
    write_mixed(spool)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bodies(pilot)[-1] == "line 999")
        app.pane.lines.go_to_top(app.pane.lines.viewport.top._replace(row=420))
        await pilot.pause()
        await pilot.press("ampersand", *"line", "enter")
        await until(pilot, lambda: bodies(pilot)[0] == "line 420")
        await pilot.press("escape")
        await until(pilot, lambda: bodies(pilot)[0] == "line 420" and app.pane.info.text == "")


async def test_nothing_that_passes_is_said(spool: Spool) -> None:
    write_mixed(spool, 60)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("ampersand", *"nowhere", "enter")
        await until(pilot, lambda: "no line passes the filter" in shown(pilot)[0])


async def test_search_within_a_filter_counts_what_passes(spool: Spool) -> None:
    write_mixed(spool)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("ampersand")
        choice(app, "#stream").value = "stderr"
        await pilot.press("enter")
        await until(pilot, lambda: "10 of 1,000 lines" in app.pane.info.text)
        await pilot.press("slash", *"00", "enter")
        await until(pilot, lambda: "/00  9 of 9" in app.pane.info.text)


async def test_search_within_a_filter_by_text_counts_only_lines_that_fit_both(spool: Spool) -> None:
    write_mixed(spool)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("ampersand", *"FAILED", "enter")
        await until(pilot, lambda: "10 of 1,000 lines" in app.pane.info.text)
        await pilot.press("slash", *"15", "enter")
        await until(pilot, lambda: "/15  1 of 1" in app.pane.info.text)


async def test_a_filtered_view_stays_when_the_oldest_lines_are_dropped(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "small", limit=1_000_000)
    spool.write_lines(0, 60_000)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("ampersand", *"7\n".strip(), "enter")
        await until(pilot, lambda: bodies(pilot)[-2] == "line 59997" or bodies(pilot)[-1] == "line 59997")
        await pilot.press("pageup")
        await pilot.pause()
        before = bodies(pilot)[:-2]
        dropped = spool.reader.dropped_lines
        spool.write_lines(60_000, 130_000)
        await until(pilot, lambda: spool.reader.dropped_lines > dropped and app.pane.lines.unseen > 10_000)
        assert bodies(pilot)[: len(before)] == before
    spool.close()


async def test_leaving_ends_every_search(spool: Spool) -> None:
    write_mixed(spool, 60)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("slash", *"FAILED", "enter", "e", "ampersand", *"line", "enter")
        await until(pilot, lambda: "of 60 lines" in app.pane.info.text)
        app.pane.show(None, "")
        await until(pilot, lambda: not [task for task in asyncio.all_tasks() if "FilteredLines" in repr(task)])
        assert (app.pane._finding, app.pane._filtered, app.pane._errors) == (None, None, None)
