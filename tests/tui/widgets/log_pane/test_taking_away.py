"""Selecting lines, copying them through the terminal, and saving output to a file."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from services.errors import FileConflict, PinfoldError
from services.output import Stream
from tests.tui.widgets.log_pane.harness import PaneApp, Spool, bodies, choice, open_bar, until
from tui.widgets.log_pane.copying import MOST_BYTES, copied_text, outcome
from tui.widgets.log_pane.saving import GivenUp, Saving, write_file

SIZE = (70, 12)


@pytest.fixture(autouse=True)
def _no_multiplexer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.delenv("STY", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def told(app: PaneApp) -> str:
    """What the newest toast says."""
    return list(app._notifications)[-1].message if len(app._notifications) else ""


async def opened(pilot: Pilot[None], lines: int = 100) -> None:
    await until(pilot, lambda: bodies(pilot)[-1] == f"line {lines - 1}")


# ── selecting ─────────────────────────────────────────────────────────────────────────────────────────────────


async def test_selects_lines_by_key_and_copies_them(spool: Spool) -> None:
    spool.write_lines(0, 100)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        app.pane.action_select()
        await pilot.press("k", "k")
        await until(pilot, lambda: "3 lines selected" in app.pane.info.text)
        await pilot.press("c")
        await until(pilot, lambda: app.copied == ["line 97\nline 98\nline 99\n"])
        await until(pilot, lambda: "3 lines (24) sent to the terminal, not confirmed" in told(app))
        await pilot.press("escape")
        assert app.pane.lines.selection is None


async def test_selects_lines_with_the_mouse(spool: Spool) -> None:
    spool.write_lines(0, 100)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await pilot.mouse_down(app.pane.lines, offset=(5, 2))
        await pilot.hover(app.pane.lines, offset=(5, 5))
        await pilot.mouse_up(app.pane.lines, offset=(5, 5))
        await until(pilot, lambda: app.pane.lines.selection == range(90, 94))
        spool.write_lines(100, 200)
        await until(pilot, lambda: app.pane.lines.unseen == 100)
        assert app.pane.lines.selection == range(90, 94)
        assert app.pane.has_focus


async def test_a_click_takes_a_line_and_a_double_click_opens_it(spool: Spool) -> None:
    spool.write_lines(0, 100)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await pilot.click(app.pane.lines, offset=(5, 5))
        assert app.pane.lines.cursor is None
        await pilot.press("k")
        await pilot.click(app.pane.lines, offset=(5, 5))
        await until(pilot, lambda: app.pane.lines.cursor == 92)
        await pilot.click(app.pane.lines, offset=(5, 5), times=2)
        await until(pilot, lambda: "line 93, 7 bytes" in app.pane.info.text)


async def test_a_click_on_the_badge_follows_again(spool: Spool) -> None:
    spool.write_lines(0, 100)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await pilot.press("pageup")
        spool.write_lines(100, 200)
        await until(pilot, lambda: app.pane.lines.unseen == 100)
        await pilot.click(app.pane.lines, offset=(SIZE[0] - 5, SIZE[1] - 1))
        await until(pilot, lambda: bodies(pilot)[-1] == "line 199")


# ── copying ───────────────────────────────────────────────────────────────────────────────────────────────────


async def test_copies_the_line_in_use_what_is_in_sight_and_the_newest(spool: Spool) -> None:
    spool.write_lines(0, 300)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, 300)
        await pilot.press("c")
        await until(pilot, lambda: app.copied == ["line 299\n"])
        app.pane.action_copy("visible")
        await until(pilot, lambda: len(app.copied) == 2)
        assert app.copied[1].splitlines() == bodies(pilot)
        app.pane.action_copy("last")
        await until(pilot, lambda: len(app.copied) == 3)
        assert app.copied[2].splitlines() == [f"line {number}" for number in range(200, 300)]


async def test_copies_a_long_line_whole_and_without_controls(spool: Spool) -> None:
    spool.write("\x1b[31m" + "x" * 30_000 + "\x1b[0m\x1b]52;c;UEVFUlM=\x07\n")
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.pane.lines.viewport.end == 1)
        await pilot.press("c")
        await until(pilot, lambda: app.copied == ["x" * 30_000 + "\n"])


async def test_what_is_too_much_for_terminals_is_not_sent(spool: Spool) -> None:
    spool.write("x" * 200_000 + "\n")
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.pane.lines.viewport.end == 1)
        await pilot.press("c")
        await until(pilot, lambda: "too much to copy" in app.pane.info.text)
        assert app.copied == []


def test_only_so_much_is_copied() -> None:
    with pytest.raises(PinfoldError, match="too much"):
        copied_text([line(MOST_BYTES)])
    assert len(copied_text([line(MOST_BYTES - 1)])) == MOST_BYTES


def line(length: int):
    from services.output import Line

    return Line(0, Stream.STDOUT, 0, b"x" * length, length)


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("on", "through tmux, not confirmed"),
        ("external", "set-clipboard is external"),
        ("off", "set-clipboard is off"),
        ("", "through tmux, not confirmed"),
    ],
    ids=["on", "external", "off", "silent"],
)
async def test_asks_tmux_whether_it_passes_copies_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, says: str
) -> None:
    tmux = tmp_path / "tmux"
    tmux.write_text(f'#!/bin/sh\n[ "$*" = "show-options -sv set-clipboard" ] && echo {setting}\n')
    tmux.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    said = await outcome("a\nb\n", {"TMUX": "/tmp/socket,1,0"})
    assert says in said
    assert "Saving to a file" in said


async def test_screen_is_known_not_to_pass_copies_on() -> None:
    assert "screen does not" in await outcome("a\n", {"STY": "1.pts"})


# ── saving ────────────────────────────────────────────────────────────────────────────────────────────────────


async def save_to(pilot: Pilot[None], app: PaneApp, path: Path, part: str = "") -> None:
    await pilot.press("ctrl+s")
    await until(pilot, lambda: app.pane._bar is not None and app.pane._bar.has_focus_within)
    open_bar(app).text = str(path)
    if part:
        choice(app, "#part").value = part
    await pilot.press("enter")


async def test_saves_all_output_as_it_came(spool: Spool, tmp_path: Path) -> None:
    data = b"\x1b[31mred\x1b[0m\n\xff\xfe\n" + b"x" * 3_000_000 + b"\nno end"
    spool.write(data)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.pane.lines.viewport.end == 4)
        path = tmp_path / "saved.log"
        await save_to(pilot, app, path)
        await until(pilot, lambda: f"saved to {path}" in told(app))
        assert path.read_bytes() == data
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert app.pane._bar is None
        assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


async def test_offers_a_name_in_the_operators_home(spool: Spool, tmp_path: Path) -> None:
    spool.write_lines(0, 3)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("ctrl+s", "enter")
        await until(pilot, lambda: "saved to" in told(app))
        assert (tmp_path / "reviewer-20251130-120000.log").read_text() == "line 0\nline 1\nline 2\n"


async def test_never_replaces_a_file_unasked(spool: Spool, tmp_path: Path) -> None:
    spool.write_lines(0, 3)
    path = tmp_path / "precious"
    path.write_text("mine")
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await save_to(pilot, app, path)
        await until(pilot, lambda: "is there already" in app.pane.info.text)
        assert path.read_text() == "mine"
        await pilot.press("enter")
        await until(pilot, lambda: "saved to" in told(app))
        assert path.read_text() == "line 0\nline 1\nline 2\n"


async def test_saves_the_selection(spool: Spool, tmp_path: Path) -> None:
    spool.write_lines(0, 100)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        app.pane.lines.select(10, 12)
        await save_to(pilot, app, tmp_path / "some")
        await until(pilot, lambda: "saved to" in told(app))
        assert (tmp_path / "some").read_text() == "line 10\nline 11\nline 12\n"


async def test_saves_what_passes_the_filter(spool: Spool, tmp_path: Path) -> None:
    spool.write_lines(0, 30_000)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, 30_000)
        await pilot.press("ampersand", *"7", "enter")
        wanted = [f"line {number}\n" for number in range(30_000) if "7" in str(number)]
        await until(pilot, lambda: f"{len(wanted):,} of 30,000" in app.pane.info.text)
        await save_to(pilot, app, tmp_path / "sevens")
        await until(pilot, lambda: "saved to" in told(app))
        assert (tmp_path / "sevens").read_text() == "".join(wanted)
        await save_to(pilot, app, tmp_path / "everything", "everything")
        await until(pilot, lambda: "everything" in told(app))
        assert len((tmp_path / "everything").read_text().splitlines()) == 30_000


async def test_a_folder_that_is_not_there_is_said_and_the_path_can_be_mended(spool: Spool, tmp_path: Path) -> None:
    spool.write_lines(0, 3)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        await save_to(pilot, app, tmp_path / "nowhere" / "file")
        await until(pilot, lambda: "No such file or directory" in app.pane.info.text)
        open_bar(app).text = str(tmp_path / "here")
        await pilot.press("enter")
        await until(pilot, lambda: (tmp_path / "here").exists() and "saved" in told(app))


def test_what_fails_half_way_leaves_nothing_behind(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"first"
        raise OSError(28, "No space left on device")

    with pytest.raises(PinfoldError, match="No space left"):
        write_file(tmp_path / "file", pieces(), lambda _: None, replace=False)
    assert list(tmp_path.iterdir()) == []


def test_a_file_to_be_replaced_survives_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")

    def stop(_: int) -> None:
        raise GivenUp

    with pytest.raises(GivenUp):
        write_file(path, [b"new"], stop, replace=True)
    assert path.read_text() == "mine"
    with pytest.raises(FileConflict):
        write_file(path, [b"new"], lambda _: None, replace=False)
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


async def test_saving_goes_on_beside_the_loop_and_can_be_given_up(tmp_path: Path) -> None:
    gone_on = threading.Event()

    def pieces() -> Iterator[bytes]:
        while True:
            yield b"x" * 1_000
            gone_on.set()

    saving = Saving(tmp_path / "endless", replace=False)
    running = asyncio.create_task(saving.run(pieces()))
    while not gone_on.is_set():
        await asyncio.sleep(0.01)
    assert saving.done > 0
    saving.give_up()
    with pytest.raises(GivenUp):
        await running
    assert list(tmp_path.iterdir()) == []
