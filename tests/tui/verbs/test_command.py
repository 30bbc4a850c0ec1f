"""The command itself: usage, exit statuses, and failures that never show a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from services import __version__
from services.home import Home
from tests.support.terminal import ROOT
from tests.tui.verbs.conftest import COMMAND, Command
from tui.invocation import LOG_LIMIT
from tui.verbs import VERBS


@pytest.fixture
def nowhere(tmp_path: Path) -> Command:
    """The command where there is no home."""
    return Command(Home(tmp_path / "nowhere"))


def test_the_version_is_printed(nowhere: Command) -> None:
    assert nowhere("--version").stdout == f"pinfold {__version__}\n"


def test_the_help_names_every_verb(nowhere: Command) -> None:
    text = nowhere("--help").stdout
    assert [verb for verb in VERBS if f"  {verb} " not in text] == []


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_takes_json_and_home(nowhere: Command, verb: str) -> None:
    text = nowhere(verb, "--help").stdout
    assert text.startswith(f"Usage: pinfold {verb}")
    if "Commands:" not in text:
        assert "--json" in text
        assert "--home" in text


@pytest.mark.parametrize(
    "arguments",
    [(), ("--demo",), ("frobnicate",), ("agents", "frobnicate"), ("--demo", "doctor"), ("run",), ("sessions", "stop")],
    ids=" ".join,
)
def test_wrong_usage_exits_2_and_says_why(nowhere: Command, arguments: tuple[str, ...]) -> None:
    done = nowhere(*arguments, status=2)
    assert done.stdout == ""
    assert "Error: " in done.stderr
    assert not nowhere.home.root.exists()


@pytest.mark.parametrize(
    "arguments",
    [("agents", "list"), ("sessions", "list"), ("run", "worker"), ("activity",), ("sessions", "logs", "x")],
    ids=" ".join,
)
def test_without_a_home_it_says_how_to_make_one_and_makes_nothing(nowhere: Command, arguments: tuple[str, ...]) -> None:
    done = nowhere(*arguments, status=1)
    assert "pinfold init" in done.stderr
    assert done.stdout == ""
    assert not nowhere.home.root.exists()


def test_a_home_that_is_a_file_is_refused(tmp_path: Path, nowhere: Command) -> None:
    file = tmp_path / "file"
    file.touch()
    assert "not a directory" in nowhere("--home", str(file), "agents", "list", status=1).stderr


def test_a_damaged_database_is_set_aside_in_one_line(pinfold: Command) -> None:
    pinfold.home.state_dir.mkdir()
    pinfold.home.database_file.write_bytes(b"not a database at all" * 100)
    (told,) = pinfold("sessions", "list").stderr.splitlines()
    (aside,) = pinfold.home.state_dir.glob("pinfold.db.damaged-*")
    assert told.startswith(f"pinfold: the database was damaged: it is set aside as {aside}")
    assert not pinfold("sessions", "list").stderr
    aside.unlink()


def test_a_fault_of_pinfold_is_a_line_on_stderr_and_a_traceback_in_the_log(pinfold: Command) -> None:
    fault = "import services.agents as a; a.Agents.all = lambda self: 1 // 0; "
    done = subprocess.run(
        [sys.executable, "-c", f"{fault}from tui.cli import main; main()", "agents", "list"],
        env={**pinfold.environment, "PATH": "/bin"},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    log = pinfold.home.state_dir / "pinfold.log"
    assert done.returncode == 1
    assert done.stderr == (
        "pinfold: a fault of Pinfold itself: ZeroDivisionError: integer division or modulo by zero; "
        f"the traceback is in {log}\n"
    )
    assert "Traceback" in log.read_text()


def test_a_fault_before_a_home_is_chosen_is_one_line_too(pinfold: Command) -> None:
    fault = "import sys; sys.modules['msgspec'] = None; "
    done = subprocess.run(
        [sys.executable, "-c", f"{fault}from tui.cli import main; main()", "agents", "list"],
        env={**pinfold.environment, "PATH": "/bin"},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("pinfold: a fault of Pinfold itself: ModuleNotFoundError: ")


def test_a_log_that_is_full_is_begun_anew(pinfold: Command) -> None:
    log = pinfold.home.state_dir / "pinfold.log"
    log.parent.mkdir()
    log.write_bytes(b"x" * (LOG_LIMIT + 1))
    pinfold.in_process("agents", "list")
    assert not log.exists()
    assert log.with_name("pinfold.log.old").stat().st_size == LOG_LIMIT + 1


def test_names_that_are_no_utf8_are_no_traceback(pinfold: Command) -> None:
    done = subprocess.run(
        [*COMMAND, "agents", "show", b"w\xffrker"], env={**pinfold.environment}, capture_output=True, check=False
    )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert done.stderr.startswith(b"pinfold: ")


@pytest.mark.parametrize("language", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_any_locale_will_do(pinfold: Command, language: str) -> None:
    pinfold.add_agent("worker", "printf 'caf\\303\\251\\n'", agent='description = "naïve ●"')
    pinfold("agents", "list", LANG=language, LC_ALL=language)
    assert pinfold.in_process("run", "worker", LANG=language, LC_ALL=language).stdout == b"caf\xc3\xa9\n"
    with pinfold.on_terminal("agents", "list", LANG=language, LC_ALL=language) as terminal:
        assert terminal.wait_for_exit() == 0
        assert "* enabled" in terminal.text()


def test_activity_tells_who_did_what(pinfold: Command) -> None:
    pinfold.add_agent("worker", "true")
    pinfold("run", "worker")
    pinfold("agents", "disable", "worker")
    entries = pinfold.json("activity")
    verbs = [entry["verb"] for entry in entries]
    assert verbs.index("session.start") < verbs.index("session.end") < verbs.index("agent.disable")
    assert [entry["number"] for entry in pinfold.json("activity", "--limit", "2")] == [
        entry["number"] for entry in entries[-2:]
    ]
    assert {entry["agent"] for entry in pinfold.json("activity", "--agent", "nobody")} == set()
    row = pinfold("activity", "--limit", "1").stdout.rstrip("\n").split("\t")
    assert row[2:4] == ["agent.disable", "worker"]


def test_followed_activity_shows_what_another_process_does(pinfold: Command) -> None:
    pinfold.add_agent("worker")
    pinfold("agents", "disable", "worker")
    with pinfold.on_terminal("activity", "-f", columns=160) as terminal:
        terminal.wait_for("agent.disable")
        pinfold("agents", "enable", "worker")
        terminal.wait_for("agent.enable")
        terminal.press("ctrl+c")
        assert terminal.wait_for_exit() == 130
