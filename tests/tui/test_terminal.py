"""The relay between the operator's terminal and a shell, on real pseudo-terminals."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.terminal import ROOT, Terminal


@contextmanager
def relayed(*command: str) -> Iterator[Terminal]:
    program = str(ROOT / "tests" / "tui" / "relaying.py")
    with Terminal([sys.executable, program, *command], columns=90, rows=24) as terminal:
        yield terminal


def test_keys_reach_the_shell_and_its_status_comes_back() -> None:
    with relayed("sh", "-c", "printf 'prompt> '; read line; echo got $line; exit 7") as terminal:
        terminal.wait_for("prompt>")
        assert not terminal.is_echoing()
        terminal.send("hello\r")
        terminal.wait_for("got hello")
        terminal.wait_for("status 7")
        assert terminal.wait_for_exit() == 0
        assert terminal.is_echoing()


def test_ctrl_c_goes_to_the_shell_and_not_to_pinfold() -> None:
    with relayed("sh", "-c", "trap 'echo interrupted; exit 3' INT; echo ready; while :; do sleep 1; done") as terminal:
        terminal.wait_for("ready")
        terminal.press("ctrl+c")
        terminal.wait_for("interrupted")
        terminal.wait_for("status 3")


def test_the_shell_has_the_size_of_the_terminal_at_first_and_after_a_resize() -> None:
    script = "trap 'stty size' WINCH; stty size; echo ready; while :; do sleep 0.1; done"
    with relayed("sh", "-c", script) as terminal:
        terminal.wait_for("24 90")
        terminal.wait_for("ready")
        terminal.resize(50, 12)
        terminal.wait_for("12 50")


def test_output_larger_than_any_buffer_arrives_whole() -> None:
    with relayed("sh", "-c", "stty -opost; head -c 300000 /dev/zero | tr '\\0' x; exit 0") as terminal:
        terminal.wait_for("status 0")
        assert terminal.output.count(b"x") == 300000


def test_modes_a_program_left_on_are_switched_off() -> None:
    leaving = r"printf '\033[?1049h\033[?1003h\033[?2004h\033[?25l'; exit 0"
    with relayed("sh", "-c", leaving) as terminal:
        terminal.wait_for_bytes(b"status 0")
        assert terminal.wait_for_exit() == 0
        assert terminal.modes_left_on() == {25, 1049}  # the cursor shows; 1047 left what 1049 entered
        assert b"\x1b[?1047l" in terminal.output


def test_typing_the_way_out_three_times_leaves_a_shell_that_does_not_answer() -> None:
    with relayed("--frozen") as terminal:
        terminal.wait_for("ready")
        terminal.send(b"\x1d\x1d\x1d")
        terminal.wait_for("closed")
        terminal.wait_for("status 129")
        assert terminal.is_echoing()


def test_a_lost_engine_gives_the_terminal_back_with_its_reason() -> None:
    with relayed("--failing") as terminal:
        terminal.wait_for("ready")
        terminal.send("x")
        terminal.wait_for("failed: docker does not answer")
        assert terminal.is_echoing()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["terminate", "hang-up"])
def test_a_signal_that_ends_pinfold_gives_the_terminal_back_first(number: signal.Signals) -> None:
    with relayed("--frozen") as terminal:
        terminal.wait_for("ready")
        assert not terminal.is_echoing()
        terminal.process.send_signal(number)
        assert terminal.wait_for_exit() == -number
        assert terminal.is_echoing()
        assert b"closed" in terminal.output
