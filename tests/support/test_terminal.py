"""The harness itself: what it reports is what the program did."""

from __future__ import annotations

import os
import sys

import pytest

from tests.support.terminal import Terminal, control_shapes, strange_controls


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_shows_what_is_on_the_screen_and_keeps_every_byte() -> None:
    with Terminal(python("print('a\\x1b[31mb\\x1b[0m\\x1b[3;5Hhere')"), columns=20, rows=5) as terminal:
        assert terminal.wait_for_exit() == 0
        assert terminal.lines()[0].rstrip() == "ab"
        assert terminal.lines()[2][4:8] == "here"
        assert b"\x1b[31mb\x1b[0m" in terminal.output


def test_the_program_has_a_controlling_terminal_and_learns_its_size() -> None:
    code = "import os, signal\nprint(os.get_terminal_size(), os.getsid(0) == os.getpid())\nopen('/dev/tty').close()\n"
    with Terminal(python(code), columns=77, rows=9) as terminal:
        assert terminal.wait_for_exit() == 0
        assert "columns=77, lines=9) True" in terminal.text()


def test_keys_and_a_new_size_reach_the_program() -> None:
    code = (
        "import os, signal\n"
        "signal.signal(signal.SIGWINCH, lambda *_: os.write(1, b'now %d\\n' % os.get_terminal_size().columns))\n"
        "print('ready', flush=True)\n"
        "print('got', input())\n"
    )
    with Terminal(python(code), columns=40, rows=9) as terminal:
        terminal.wait_for("ready")
        terminal.resize(33, 9)
        terminal.wait_for("now 33")
        terminal.press("h", "i", "enter")
        terminal.wait_for("got hi")
        assert terminal.wait_for_exit() == 0


def test_combining_marks_join_the_character_before_and_wide_ones_take_two_columns() -> None:
    with Terminal(python("print('e\\u0301\\u0e31x\\u65e5|')"), columns=20, rows=3) as terminal:
        terminal.wait_for_exit()
        row = terminal.screen.buffer[0]
        assert row[0].data.startswith(("e", "\u00e9"))
        assert (row[1].data, row[2].data, row[4].data) == ("x", "\u65e5", "|")


def test_a_program_that_stays_is_ended() -> None:
    terminal = Terminal(python("import time\nprint('up', flush=True)\ntime.sleep(600)"))
    terminal.wait_for("up")
    terminal.close()
    with pytest.raises(ProcessLookupError):
        os.kill(terminal.process.pid, 0)


def test_modes_left_on_are_found() -> None:
    with Terminal(python("print('\\x1b[?1049h\\x1b[?1003;1006h\\x1b[?1049l')")) as terminal:
        terminal.wait_for_exit()
        assert terminal.modes_left_on() == {1003, 1006}


@pytest.mark.parametrize(
    ("output", "shapes"),
    [
        (b"plain \xc3\xa9", []),
        (b"\x1b[1;31mred\x1b[0m\x1b[m", []),
        (b"\x1b[2J\x1b[10;3H", [b"\x1b[#H", b"\x1b[#J"]),
        (b"\x1b]52;c;UEVFUlM=\x07", [b"\x1b]52;c;UEVFUlM=\x07"]),
        (b"\x1b[?1049h", [b"\x1b[?1049h"]),
        (b"\xc2\x9b31m", [b"\xc2\x9b"]),
        (b"a\x07b\x7f", [b"\x07", b"\x7f"]),
        (b"\x9b2J", [b"\x9b"]),
        (b"\x1bP1q\x1b\\", [b"\x1bP1q\x1b\\"]),
    ],
    ids=["text", "colour", "cursor", "clipboard", "mode", "c1-utf8", "c0", "c1-raw", "dcs"],
)
def test_controls_are_told_from_text_and_colour(output: bytes, shapes: list[bytes]) -> None:
    assert strange_controls(output) == shapes


def test_known_controls_are_not_strange() -> None:
    known = frozenset(control_shapes(b"\x1b[1;1H\x1b[?25l"))
    assert strange_controls(b"\x1b[22;7H\x1b[?25l\x1b[?25h", known) == [b"\x1b[?25h"]
