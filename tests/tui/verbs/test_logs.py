"""`pinfold sessions logs`: every byte, any part, and following without a gap."""

from __future__ import annotations

import os
import re
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.terminal import strange_controls
from tests.tui.verbs.conftest import Command


@pytest.fixture
def ran(pinfold: Command) -> Command:
    """A session of `worker` that printed ten numbered lines, odd ones to stderr, and has ended."""
    script = (
        "for i in 0 1 2 3 4 5 6 7 8 9; do if [ $((i % 2)) = 1 ]; then echo $i >&2; else echo $i; fi; sleep 0.01; done"
    )
    pinfold.add_agent("worker", script)
    pinfold("run", "worker")
    return pinfold


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), "0123456789"),
        (("--tail", "3"), "789"),
        (("--tail", "0"), ""),
        (("--tail", "1000"), "0123456789"),
        (("--stream", "stdout"), "02468"),
        (("--stream", "stderr"), "13579"),
        (("--since", "1h"), "0123456789"),
        (("--since", "2200-01-01T00:00:00"), ""),
        (("-f",), "0123456789"),
        (("-f", "--tail", "2"), "89"),
    ],
    ids=[
        "all",
        "tail",
        "none",
        "more-than-all",
        "stdout",
        "stderr",
        "since-an-hour",
        "since-later",
        "follow",
        "follow-tail",
    ],
)
def test_prints_the_part_that_was_asked_for(ran: Command, options: tuple[str, ...], expected: str) -> None:
    assert sorted(ran("sessions", "logs", "worker", *options).stdout.split()) == list(expected)


def test_bytes_come_out_as_they_came(pinfold: Command) -> None:
    data = bytes(range(256)) * 5000
    pinfold.add_agent("worker", "cat data")
    (pinfold.home.default_workspace("worker") / "data").write_bytes(data)
    pinfold.in_process("run", "worker")
    assert pinfold.in_process("sessions", "logs", "worker").stdout == data


def test_a_line_longer_than_any_buffer_is_whole_on_a_terminal(pinfold: Command) -> None:
    pinfold.add_agent("worker", "head -c 200000 /dev/zero | tr '\\0' x; echo end")
    pinfold("run", "worker")
    with pinfold.on_terminal("sessions", "logs", "worker") as terminal:
        assert terminal.wait_for_exit() == 0
        assert terminal.output.count(b"x") == 200000


def test_a_terminal_gets_text_only_unless_raw_is_asked_for(pinfold: Command) -> None:
    pinfold.add_agent("worker", r"printf '\033]52;c;UEVFUlM=\007p1\rp2\033[10Aup\n'")
    pinfold("run", "worker")
    with pinfold.on_terminal("sessions", "logs", "worker") as terminal:
        assert terminal.wait_for_exit() == 0
        assert strange_controls(terminal.output, frozenset({b"\r", b"\n"})) == []
    with pinfold.on_terminal("sessions", "logs", "worker", "--raw") as terminal:
        assert terminal.wait_for_exit() == 0
        assert b"\x1b]52;c;" in terminal.output


def test_times_stand_before_lines(ran: Command) -> None:
    lines = ran("sessions", "logs", "worker", "--times").stdout.splitlines()
    assert len(lines) == 10
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}  \d", line) for line in lines)


def test_json_names_line_stream_and_time(ran: Command) -> None:
    lines = ran.json_lines("sessions", "logs", "worker")
    assert [line["number"] for line in lines] == list(range(10))
    assert {line["text"]: line["stream"] for line in lines} == {
        str(number): "stderr" if number % 2 else "stdout" for number in range(10)
    }
    at = datetime.fromisoformat(lines[0]["at"][:26] + "+00:00")
    assert abs((datetime.now(UTC) - at).total_seconds()) < 300


def test_following_misses_nothing_from_the_first_line_to_the_end(pinfold: Command, tmp_path: Path) -> None:
    pinfold.add_agent("worker", "seq 1 20000; while [ ! -e go ]; do sleep 0.05; done; seq 20001 40000; printf last")
    session = pinfold("run", "--detach", "worker").stdout.strip()
    copy = tmp_path / "copy"
    with copy.open("wb") as file:
        follower = pinfold.start("sessions", "logs", "-f", session)
        assert follower.stdout is not None
        os.set_blocking(follower.stdout.fileno(), True)
        (pinfold.home.default_workspace("worker") / "go").touch()
        file.write(follower.stdout.read())
        assert follower.wait(60) == 0
        follower.stdout.close()
    assert copy.read_text() == "".join(f"{number}\n" for number in range(1, 40001)) + "last"


def test_an_unfinished_line_is_neither_repeated_nor_torn_while_following(pinfold: Command) -> None:
    dots = "i=0; while [ $i -lt 20 ]; do printf .; sleep 0.05; i=$((i+1)); done; echo; printf end"
    pinfold.add_agent("worker", dots)
    session = pinfold("run", "--detach", "worker").stdout.strip()
    assert pinfold("sessions", "logs", "-f", session).stdout == "." * 20 + "\nend"


def test_a_reader_that_goes_away_ends_it_quietly(pinfold: Command) -> None:
    pinfold.add_agent("worker", "seq 1 200000")
    pinfold.in_process("run", "worker")
    process = pinfold.start("sessions", "logs", "worker", stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"1\n"
    process.stdout.close()
    _, complaints = process.communicate(timeout=30)
    assert process.returncode == 141
    assert complaints == b""


def test_ctrl_c_ends_following_and_leaves_the_session(pinfold: Command) -> None:
    pinfold.add_agent("worker", "echo ready; sleep 60")
    session = pinfold("run", "--detach", "worker").stdout.strip()
    with pinfold.on_terminal("sessions", "logs", "-f", session) as terminal:
        terminal.wait_for("ready")
        terminal.press("ctrl+c")
        assert terminal.wait_for_exit() == 130
        assert "Traceback" not in terminal.text()
    assert pinfold.json("sessions", "show", session)["session"]["state"] == "running"


def test_a_live_session_is_printed_up_to_now_and_not_waited_for(pinfold: Command) -> None:
    pinfold.add_agent("worker", "echo early; sleep 60")
    pinfold("run", "--detach", "worker")
    started = time.monotonic()
    assert pinfold("sessions", "logs", "worker").stdout == "early\n"
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("worker", "--since", "yesterday"), 2),
        (("worker", "--tail", "-1"), 2),
        (("worker", "--raw", "--times"), 2),
        (("nobody",), 1),
    ],
    ids=["bad-time", "negative-tail", "raw-with-times", "unknown-session"],
)
def test_what_makes_no_sense_is_refused(ran: Command, arguments: tuple[str, ...], status: int) -> None:
    done = ran("sessions", "logs", *arguments, status=status)
    assert done.stdout == ""
    assert done.stderr
