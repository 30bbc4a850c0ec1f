"""The pane on a real pseudo-terminal: nothing an agent prints acts on it, whatever the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from services.output import Stream
from tests.support.hostile import LINES, PAYLOADS
from tests.support.terminal import Terminal, control_shapes, strange_controls
from tests.tui.widgets.log_pane.harness import Spool

MODULE = "tests.tui.widgets.log_pane.program"
CURSOR_AND_COLOUR = frozenset({b"\x1b[#H", b"\x1b[H", b"\x1b[#m", b"\n", b"\r"})


@pytest.fixture(scope="module")
def own_controls() -> frozenset[bytes]:
    """What Textual itself sends: the controls of an app without anything in it, and placing of text."""
    with Terminal([sys.executable, "-m", MODULE]) as terminal:
        terminal.wait_for_bytes(b"\x1b[?1049h")
        terminal.wait_until_quiet()
        terminal.resize(50, 12)
        terminal.wait_until_quiet()
        terminal.press("q")
        assert terminal.wait_for_exit() == 0
        return frozenset(control_shapes(terminal.output)) | CURSOR_AND_COLOUR


@contextmanager
def running(
    spool: Spool, *, environment: dict[str, str | None] | None = None, theme: str = "pinfold-dark", columns: int = 100
) -> Iterator[Terminal]:
    """A pane on a spool, drawn to its end."""
    command = [sys.executable, "-m", MODULE, str(spool.directory), theme]
    with Terminal(command, columns=columns, rows=45, environment={"TZ": "UTC", **(environment or {})}) as terminal:
        terminal.wait_for("last ok")
        yield terminal


def write_hostile(spool: Spool) -> None:
    for data, _ in LINES.values():
        spool.write(data + b"\n")


def bodies(terminal: Terminal) -> list[str]:
    """The rows of the screen without gutter and scroll bar."""
    return [line[2 : terminal.columns - 1].rstrip() for line in terminal.lines()]


def test_hostile_output_is_drawn_as_text_and_acts_on_nothing(spool: Spool, own_controls: frozenset[bytes]) -> None:
    write_hostile(spool)
    with running(spool) as terminal:
        terminal.wait_until_quiet()
        expected = [drawn for _, drawn in LINES.values()]
        assert bodies(terminal)[: len(expected)] == expected
        terminal.send("wt/red\r")
        terminal.wait_for("3 of 3")
        terminal.wait_until_quiet()
        terminal.send("Ntw")
        terminal.wait_for("2 of 3")
        for key in ("escape", "escape", "G", "&", "escape"):
            terminal.press(key)
            terminal.wait_until_quiet(0.2)
        terminal.wait_until_quiet()
        terminal.resize(50, 12)
        terminal.wait_for("last ok")
        terminal.resize(100, 45)
        terminal.wait_until(lambda: bodies(terminal)[: len(expected)] == expected, "all lines as before")
        terminal.press("q")
        assert terminal.wait_for_exit() == 0
        assert strange_controls(terminal.output, own_controls) == []
        assert [payload for payload in PAYLOADS if payload in terminal.output] == []
        assert terminal.modes_left_on() <= {7, 25}
        assert terminal.is_echoing()


def test_hostile_output_on_stderr_and_in_remarks_acts_on_nothing(spool: Spool, own_controls: frozenset[bytes]) -> None:
    for data, _ in LINES.values():
        spool.write(data + b"\n", Stream.STDERR)
        spool.writer.note(data.decode(errors="replace"))
    spool.write("last ok\n")
    with running(spool) as terminal:
        terminal.press("g")
        terminal.wait_until_quiet()
        terminal.press("q")
        assert terminal.wait_for_exit() == 0
        assert strange_controls(terminal.output, own_controls) == []


def test_columns_right_of_wide_characters_stay_in_place(spool: Spool) -> None:
    names = ("wide", "joined", "text-emoji", "combining", "bidi", "tabs")
    for name in names:
        spool.write(LINES[name][0] + b" behind\n")
    spool.write("last ok\n")
    with running(spool) as terminal:
        terminal.press("t")
        terminal.wait_for("12:00:00 last ok")
        terminal.wait_until_quiet()
        screen = terminal.screen
        bar_column = terminal.columns - 1
        ground = screen.buffer[len(names)][bar_column].bg
        assert all(screen.buffer[row][bar_column].bg == ground for row in range(len(names)))
        for row, name in enumerate(names):
            assert LINES[name][1] + " behind" in screen.display[row].replace("\u0302", "\u0302")


def test_new_output_and_a_new_size_leave_no_garbage(spool: Spool) -> None:
    spool.write("".join(f"{number} {'x' * 70}\n" for number in range(200)))
    spool.write("last ok\n")
    with running(spool) as terminal:
        for columns, rows in ((50, 12), (33, 5), (100, 45)):
            terminal.resize(columns, rows)
            spool.write(f"at {columns}\n")
            terminal.wait_for(f"at {columns}")
            terminal.wait_until_quiet()
            for row in bodies(terminal)[:-1]:
                assert row.rstrip("x…").split(" ")[0].isdigit() or row.startswith(("last ok", "at ")), row
        terminal.press("q")
        assert terminal.wait_for_exit() == 0


def test_no_color_sends_no_colours_and_keeps_the_signs(spool: Spool) -> None:
    write_hostile(spool)
    spool.write("error: on stderr\n", Stream.STDERR)
    with running(spool, environment={"NO_COLOR": "1"}, theme="terminal") as terminal:
        terminal.wait_for("▎ error: on stderr")
        terminal.wait_until_quiet()
        colours = {(cell.fg, cell.bg) for row in terminal.screen.buffer.values() for cell in row.values()}
        assert colours == {("default", "default")}


@pytest.mark.parametrize(
    "environment",
    [{"LANG": "C", "LC_ALL": "C"}, {"PINFOLD_ASCII": "1"}],
    ids=["locale-c", "asked-for"],
)
def test_a_terminal_without_unicode_gets_ascii_only(spool: Spool, environment: dict[str, str | None]) -> None:
    write_hostile(spool)
    spool.write("error: on stderr\n", Stream.STDERR)
    spool.write("日本語 last\n")
    with running(spool, environment=environment) as terminal:
        terminal.wait_for("! error: on stderr")
        terminal.wait_for("?????? last")
        terminal.press("k")
        terminal.wait_until_quiet()
        assert terminal.output.isascii()


def test_sixteen_colours_are_legible(spool: Spool) -> None:
    write_hostile(spool)
    with running(
        spool, environment={"TERM": "xterm", "COLORTERM": None, "TEXTUAL_COLOR_SYSTEM": "standard"}
    ) as terminal:
        terminal.wait_until_quiet()
        unreadable = [
            cell
            for row in terminal.screen.buffer.values()
            for cell in row.values()
            if cell.data.strip() and cell.fg == cell.bg
        ]
        assert unreadable == []
        assert b"\x1b[38;2" not in terminal.output


def test_huge_lines_do_not_hold_up_the_keys(spool: Spool, tmp_path: Path) -> None:
    for _ in range(60):
        spool.write(b"\x1b[31mx\x1b[0m" * 20_000 + b"\n" + b"y" * 200_000 + b"\n")
    spool.write(b"\0" * 5_000_000 + b"\nlast ok\n")
    with running(spool) as terminal:
        for _ in range(3):
            terminal.press("g")
            terminal.wait_until(lambda: bodies(terminal)[1].startswith("yyyy"), "the first lines", 10)
            terminal.press("w", "w")
            terminal.press("G")
            terminal.wait_for("last ok", 10)
        terminal.press("q")
        assert terminal.wait_for_exit() == 0
