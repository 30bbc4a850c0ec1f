"""What lines look like: gutter, times, long lines, wrapping, and everything hostile."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from services.output import Stream
from tests.tui.widgets.log_pane.harness import NOW, PaneApp, Spool, bodies, shown, until
from tui.widgets.log_pane import LogPane
from tui.widgets.log_pane.sheet import Sheet
from tui.widgets.log_pane.viewport import Place

SIZE = (60, 12)
SECOND = 1_000_000_000
DAY = 86_400 * SECOND


def sheet_of(app: PaneApp) -> Sheet:
    sheet = app.pane.lines._sheet
    assert sheet is not None
    return sheet


async def settled(pilot: Pilot[None], spool: Spool) -> None:
    lines = pilot.app.query_one(LogPane).lines
    await until(pilot, lambda: lines.viewport.end == spool.reader.end > 0)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("p1\rp2\rp3\n", ["p3"]),
        ("10%\r55%\r100%\nnext\n", ["100%", "next"]),
        ("\x1b[31mred\nplain\n", ["red", "plain"]),
        (b"bad \xff\xfe \xc3( end\n", ["bad �� �( end"]),
        (b"a\x00b\n", ["ab"]),
        ("[red]x[/foo]\n", ["[red]x[/foo]"]),
        ("\n" * 10, [""] * 10),
        ("no end", ["no end"]),
        ("a\x1b]52;c;UEVFUlM=\x07b\n", ["ab"]),
        ("a\x1b]0;PWNED\x07b\n", ["ab"]),
        ("a\x1b[2J\x1b[10;10Hb\n", ["ab"]),
        ("\x1b]8;;https://evil.test\x1b\\link\x1b]8;;\x1b\\ after\n", ["link after"]),
        ("\x9b31mc1\n", ["c1"]),
        ("a\tb\tc|\n", ["a       b       c|"]),
        ("photo\u202egpj.exe\n", ["photo<202E>gpj.exe"]),
        ("日本語|\n", ["日本語|"]),
        ("👨\u200d👩\u200d👧|🇯🇵|⚠\ufe0f|\n", ["👨👩👧|JP|⚠|"]),
    ],
    ids=[
        "carriage-returns", "progress", "unreset-colour", "invalid-utf8", "nul", "markup", "blank-lines", "no-newline",
        "clipboard", "title", "clear", "link", "c1", "tabs", "right-to-left", "wide", "joined",
    ],
)  # fmt: skip
async def test_lines_show_as_they_must(spool: Spool, written: str | bytes, expected: list[str]) -> None:
    spool.write(written)
    async with PaneApp(spool.reader).run_test(size=SIZE) as pilot:
        await settled(pilot, spool)
        assert bodies(pilot)[: len(expected)] == expected
        assert "".join(bodies(pilot)[len(expected) :]) == ""


async def test_a_character_that_comes_in_two_chunks_is_whole(spool: Spool) -> None:
    spool.write(b"caf\xc3")
    spool.write(b"\xa9\n")
    async with PaneApp(spool.reader).run_test(size=SIZE) as pilot:
        await settled(pilot, spool)
        assert bodies(pilot)[0] == "café"


async def test_a_colour_that_is_not_reset_ends_with_its_line(spool: Spool) -> None:
    spool.write("\x1b[31mred\nplain\n")
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot, spool)
        red, plain = app.pane.lines.render_lines(app.pane.lines.size.region)[:2]
        colours = [
            next(s.style.color for s in strip if s.style and word in s.text)
            for strip, word in ((red, "red"), (plain, "plain"))
        ]
        assert colours[0] != colours[1] == app.pane.lines._styles().base.color


async def test_streams_and_remarks_have_a_sign_and_not_only_a_colour(spool: Spool) -> None:
    spool.write("out\n")
    spool.write("err\n", Stream.STDERR)
    spool.writer.note("5 lines lost")
    async with PaneApp(spool.reader).run_test(size=SIZE) as pilot:
        await settled(pilot, spool)
        assert shown(pilot)[:3] == ["  out", "▎ err", "◆ 5 lines lost"]


async def test_times_are_local_and_dated_only_when_another_day_is_in_sight(spool: Spool) -> None:
    spool.write("earlier\n", at=NOW - DAY)
    spool.write_lines(0, 20)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot, spool)
        await pilot.press("t")
        await until(pilot, lambda: shown(pilot)[-1] == "  12:00:00 line 19")
        await pilot.press("g")
        await until(pilot, lambda: shown(pilot)[0] == "  11-29 12:00:00 earlier")
        assert shown(pilot)[1] == "  11-30 12:00:00 line 0"
        await pilot.press("G")
        await until(pilot, lambda: shown(pilot)[-1] == "  12:00:00 line 19")
        await pilot.press("t")
        await until(pilot, lambda: shown(pilot)[-1] == "  line 19")


async def test_a_long_line_is_cut_at_the_edge_and_reached_sideways(spool: Spool) -> None:
    text = "".join(f"{number:04d}" for number in range(100))
    spool.write(f"{text}\n")
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot, spool)
        room = SIZE[0] - 3
        assert bodies(pilot)[0] == text[: room - 1] + "…"
        await pilot.press("right", "right")
        assert bodies(pilot)[0] == text[16 : 16 + room - 1] + "…"
        for _ in range(60):
            app.pane.action_right()
        assert bodies(pilot)[0] == text[-room:]
        for _ in range(60):
            app.pane.action_left()
        assert bodies(pilot)[0] == text[: room - 1] + "…"


async def test_following_keeps_the_columns_one_went_to(spool: Spool) -> None:
    spool.write(f"{'x' * 100}\n" * 20)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot, spool)
        await pilot.press("right")
        spool.write(f"{'y' * 100}\n")
        await until(pilot, lambda: "y" in bodies(pilot)[-1])
        assert app.pane.lines.view.sideways == 8


async def test_wrapping_shows_every_character(spool: Spool) -> None:
    text = "".join(f"{number:04d}" for number in range(60))
    spool.write(f"{text}\nshort\n")
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot, spool)
        await pilot.press("w")
        await pilot.pause()
        assert "".join(bodies(pilot)[:5]) == text
        assert bodies(pilot)[5] == "short"
        await pilot.press("w")
        assert bodies(pilot)[1] == "short"


async def test_wrapping_never_breaks_a_wide_character(spool: Spool) -> None:
    spool.write("a" + "語" * 60 + "|\n")
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot, spool)
        await pilot.press("w")
        await pilot.pause()
        rows = bodies(pilot)
        assert "".join(rows).startswith("a" + "語" * 60 + "|")
        assert all(cell_len(row) <= SIZE[0] - 3 for row in rows)


async def test_following_a_flood_of_wrapped_lines_ends_at_the_very_last(spool: Spool) -> None:
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("w")
        for start in range(0, 20_000, 1_000):
            spool.write("".join(f"{number} {'x' * (number % 150)}|\n" for number in range(start, start + 1_000)))
            await pilot.pause()
        await until(pilot, lambda: bodies(pilot)[-1].endswith("x|") and app.pane.lines.viewport.end == 20_000)
        assert app.pane.lines.viewport.visible()[-1].row == 19_999


@pytest.mark.parametrize("wrap", [False, True], ids=["cut", "wrapped"])
@pytest.mark.parametrize(
    "line", [b"x" * 200_000, b"\0" * 5_000_000, b"\x1b[31mx\x1b[0m" * 20_000], ids=["long", "zeros", "coloured"]
)
async def test_a_huge_line_shows_cut_with_its_length(spool: Spool, line: bytes, wrap: bool) -> None:
    spool.write(line + b"\nafter\n")
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        if wrap:
            await pilot.press("w")
        await settled(pilot, spool)
        assert "after" in bodies(pilot)
        drawn = "".join(segment.text for part in sheet_of(app).parts(0) for segment in part.segments)
        assert drawn.endswith(f"{len(line):,} bytes, ⏎ shows all")
        assert len(drawn) < 4_100


async def test_exactly_four_thousand_characters_are_not_called_cut(spool: Spool) -> None:
    spool.write("x" * 4_000 + "\n" + "y" * 4_001 + "\n")
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot, spool)
        whole, cut = sheet_of(app).parts(0), sheet_of(app).parts(1)
        assert whole[0].width == 4_000
        assert "shows all" in cut[0].segments[-1].text


async def test_enter_opens_the_whole_line_and_escape_goes_back(spool: Spool) -> None:
    text = "".join(f"{number:06d} 語 " for number in range(3_000))
    spool.write_lines(0, 50)
    spool.write(f"{text}\n")
    spool.write_lines(50, 100)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot, spool)
        await pilot.press("k", "k")
        app.pane.lines.go_to(50)
        before = bodies(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: f"line 51, {len(text.encode()):,} bytes" in app.pane.info.text)
        assert bodies(pilot)[0].startswith("000000 語 000001")
        seen = ""
        rows = app.pane.lines.rows
        assert rows is not None
        for row, line in rows.read(0, rows.end):
            assert line.number == row
            seen += line.data.decode()
        assert seen == text
        await pilot.press("G")
        await until(pilot, lambda: "002999" in "".join(bodies(pilot)))
        await pilot.press("escape")
        await until(pilot, lambda: bodies(pilot)[: len(before) - 1] == before[:-1])
        assert not app.pane.lines.view.wrap


async def test_pieces_of_a_line_break_neither_characters_nor_colours(spool: Spool) -> None:
    text = "\x1b[38;2;10;20;30m語é\x1b[0m" * 3_000
    spool.write(f"{text}\n")
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot, spool)
        app.pane.lines.go_to(0)
        await pilot.press("enter")
        await pilot.pause()
        for top in range(0, app.pane.lines.viewport.end, 7):
            app.pane.lines.go_to_top(Place(top))
            drawn = "".join(bodies(pilot))
            assert set(drawn) <= set("語é"), drawn


@pytest.mark.parametrize("wrap", [False, True], ids=["cut", "wrapped"])
@pytest.mark.parametrize("size", [(1, 1), (3, 2), (8, 3), (50, 12), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_any_size_is_drawn_exactly_full(spool: Spool, size: tuple[int, int], wrap: bool) -> None:
    spool.write("".join(f"{number} 語 {'x' * number} \x1b[41mred\x1b[0m\n" for number in range(100)))
    app = PaneApp(spool.reader)
    async with app.run_test(size=size) as pilot:
        await pilot.press(*("w", "t") if wrap else ("t",))
        await settled(pilot, spool)
        lines = app.pane.lines
        strips = lines.render_lines(lines.size.region)
        assert len(strips) == lines.size.height
        assert all(sum(cell_len(s.text) for s in strip) == lines.size.width for strip in strips)


@pytest.mark.parametrize("name", ["pinfold-light", "pinfold-contrast", "terminal"])
async def test_a_change_of_theme_paints_every_line_anew(spool: Spool, name: str) -> None:
    spool.write("\x1b[30mblack\x1b[97mwhite\x1b[0m plain\n")
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot, spool)
        before = app.pane.lines.render_lines(app.pane.lines.size.region)[0]
        app.theme = name
        await until(pilot, lambda: app.pane.lines.render_lines(app.pane.lines.size.region)[0] != before)
        styles = app.pane.lines._styles()
        assert {
            segment.style and segment.style.bgcolor
            for segment in app.pane.lines.render_lines(app.pane.lines.size.region)[0]
        } == {styles.base.bgcolor}


async def test_two_million_lines_in_a_second_are_all_there(spool: Spool) -> None:
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        for start in range(20):
            spool.write("".join(f"{number:08}\n" for number in range(start * 100_000, (start + 1) * 100_000)))
        await until(pilot, lambda: bodies(pilot)[-1] == "01999999")
        await pilot.press("g")
        await until(pilot, lambda: bodies(pilot)[0] == "00000000")
        assert app.pane.lines.viewport.end == 2_000_000
