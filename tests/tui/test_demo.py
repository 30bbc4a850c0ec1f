"""`pinfold --demo` on a terminal: a home that goes with its screens, and what a killed demo leaves."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from services.home import Home
from tests.support.terminal import Terminal
from tests.tui.verbs.conftest import COMMAND, Command

Demo = Callable[[], Terminal]


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """The directory for throw-away things."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    return folder


@pytest.fixture
def demo(temporary: Path) -> Demo:
    """Opens the demo and waits until its agents are shown."""

    def opened() -> Terminal:
        terminal = Terminal([*COMMAND, "--demo"], columns=160, rows=45, environment={"TMPDIR": str(temporary)})
        terminal.wait_for("researcher")
        return terminal

    return opened


def only_home(temporary: Path) -> Home:
    (root,) = temporary.glob("pinfold-demo-*")
    return Home(root / "home")


def quit_demo(terminal: Terminal) -> None:
    terminal.press("q")
    assert terminal.wait_for_exit() == 0
    assert terminal.is_echoing()


def processes_below(folder: Path) -> list[Path]:
    """Processes whose directory is inside a folder: sandboxes in its workspaces."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").resolve().is_relative_to(folder):
                found.append(process)
        except OSError:  # ended meanwhile, or not ours
            continue
    return found


def test_quitting_ends_its_sandboxes_and_removes_its_home(temporary: Path, demo: Demo) -> None:
    with demo() as terminal:
        command = Command(only_home(temporary))
        command("run", "--detach", "gateway")
        terminal.wait_for("1 running")
        assert processes_below(temporary)
        quit_demo(terminal)
    assert list(temporary.iterdir()) == []
    assert processes_below(temporary) == []


def test_what_a_killed_demo_left_goes_with_the_next_one(temporary: Path, demo: Demo) -> None:
    with demo() as terminal:
        left = only_home(temporary)
        Command(left)("run", "--detach", "gateway")
        terminal.process.send_signal(signal.SIGKILL)
        terminal.wait_for_exit()
    assert processes_below(temporary)
    with demo() as terminal:
        assert only_home(temporary) != left
        assert processes_below(temporary) == []
        quit_demo(terminal)
    assert list(temporary.iterdir()) == []


def test_two_demos_leave_each_other_alone(temporary: Path, demo: Demo) -> None:
    with demo() as one, demo() as other:
        assert len(list(temporary.glob("pinfold-demo-*"))) == 2
        quit_demo(one)
        assert only_home(temporary).exists
        quit_demo(other)
    assert list(temporary.iterdir()) == []
