"""`pinfold run` on the local engine: output, status, interruption."""

from __future__ import annotations

import json
import signal
import subprocess

import pytest

from tests.support.terminal import strange_controls
from tests.tui.verbs.conftest import Command


def test_prints_what_the_sandbox_prints_and_exits_with_its_status(pinfold: Command) -> None:
    pinfold.add_agent("worker", "echo one; echo two; exit 7")
    done = pinfold("run", "worker", status=7)
    assert done.stdout == "one\ntwo\n"
    assert "failed: status 7" in done.stderr


def test_stdout_and_stderr_stay_apart(pinfold: Command) -> None:
    pinfold.add_agent("worker", "echo out; echo err >&2")
    done = pinfold("run", "worker")
    assert done.stdout == "out\n"
    assert done.stderr.splitlines()[-1] == "err"


def test_into_one_pipe_they_keep_their_order(pinfold: Command) -> None:
    pinfold.add_agent("worker", "echo 1; sleep 0.3; echo 2 >&2; sleep 0.3; echo 3")
    process = pinfold.start("run", "worker", stderr=subprocess.STDOUT)
    output, _ = process.communicate(timeout=60)
    assert [line for line in output.split() if line.isdigit()] == [b"1", b"2", b"3"]


def test_bytes_pass_a_pipe_as_they_are(pinfold: Command) -> None:
    pinfold.add_agent("worker", r"printf 'a\000b\377\033[2Jc\r\n\n\nno end'")
    assert pinfold.in_process("run", "worker").stdout == b"a\0b\xff\x1b[2Jc\r\n\n\nno end"


def test_a_terminal_gets_nothing_that_could_drive_it(pinfold: Command) -> None:
    pinfold.add_agent("worker", r"printf '\033]0;title\007\033[2J\033[5;5Hhere\n\302\23331mthere\nlast'; exit 3")
    with pinfold.on_terminal("run", "worker") as terminal:
        assert terminal.wait_for_exit() == 3
        assert strange_controls(terminal.output, frozenset({b"\r", b"\n"})) == []
        assert "here" in terminal.text()
        assert "there" in terminal.text()
        assert "last" in terminal.text()


def test_a_terminal_gets_colours_that_end_with_their_line_unless_it_wants_none(pinfold: Command) -> None:
    pinfold.add_agent("worker", r"printf '\033[31mred\nplain\nold\rnew\n\033[30;40mhidden\n'")
    with pinfold.on_terminal("run", "worker") as terminal:
        assert terminal.wait_for_exit() == 0
        assert b"\x1b[31mred\x1b[0m\r\nplain\r\nnew\r\nhidden\r\n" in terminal.output
    with pinfold.on_terminal("sessions", "logs", "worker", NO_COLOR="1") as terminal:
        assert terminal.wait_for_exit() == 0
        assert terminal.output == b"red\r\nplain\r\nnew\r\nhidden\r\n"


def test_an_unfinished_line_is_shown_when_nothing_follows(pinfold: Command) -> None:
    pinfold.add_agent("worker", "printf 'working'; while [ ! -e go ]; do sleep 0.1; done; echo ' done'")
    with pinfold.on_terminal("run", "worker") as terminal:
        terminal.wait_for("working")
        (pinfold.home.default_workspace("worker") / "go").touch()
        terminal.wait_for("working done")
        assert terminal.wait_for_exit() == 0


def test_what_follows_the_dashes_replaces_the_command(pinfold: Command) -> None:
    pinfold.add_agent("worker", "echo never")
    assert pinfold("run", "worker", "--", "echo", "-n", "--", "hello").stdout == "-- hello"


def test_the_prompt_reaches_the_command(pinfold: Command) -> None:
    pinfold.add_agent("worker", 'echo "asked: $PINFOLD_PROMPT"')
    assert pinfold("run", "worker", "do it").stdout == "asked: do it\n"


def test_detached_it_prints_the_id_and_the_session_goes_on(pinfold: Command) -> None:
    pinfold.add_agent("worker", "echo begun; sleep 60")
    session = pinfold("run", "--detach", "worker").stdout.strip()
    assert pinfold.json("sessions", "show", session)["session"]["state"] == "running"
    assert pinfold("sessions", "logs", session).stdout == "begun\n"


def test_json_is_a_document_a_line(pinfold: Command) -> None:
    pinfold.add_agent("worker", "echo out; echo err >&2; exit 4")
    documents = pinfold.json_lines("run", "worker", status=4)
    lines = {document["stream"]: document["text"] for document in documents if document["type"] == "line"}
    assert lines == {"stdout": "out", "stderr": "err"}
    assert documents[-1]["type"] == "session"
    assert documents[-1]["session"]["exit_code"] == 4
    assert documents[-1]["session"]["state"] == "failed"


def test_ctrl_c_stops_the_sandbox_and_says_so(pinfold: Command) -> None:
    pinfold.add_agent("worker", "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.1; done")
    with pinfold.on_terminal("run", "worker") as terminal:
        terminal.wait_for("ready")
        terminal.press("ctrl+c")
        terminal.wait_for("interrupting session")
        terminal.wait_for("caught")
        assert terminal.wait_for_exit() == 9
    (session,) = pinfold.json("sessions", "list")
    assert (session["state"], session["live"]) == ("stopped", False)


def test_a_second_ctrl_c_kills(pinfold: Command) -> None:
    pinfold.add_agent("worker", "trap '' INT TERM; echo ready; while :; do sleep 0.1; done", 'stop_timeout = "60s"')
    with pinfold.on_terminal("run", "worker") as terminal:
        terminal.wait_for("ready")
        terminal.press("ctrl+c")
        terminal.wait_for("interrupting session")
        terminal.press("ctrl+c")
        terminal.wait_for("killing session")
        assert terminal.wait_for_exit() == 128 + signal.SIGKILL
    (session,) = pinfold.json("sessions", "list")
    assert session["live"] is False


def test_a_reader_that_goes_away_ends_it_and_it_says_that_the_session_goes_on(pinfold: Command) -> None:
    pinfold.add_agent("worker", "while :; do echo more; sleep 0.05; done")
    process = pinfold.start("run", "worker", stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"more\n"
    process.stdout.close()
    assert process.wait(30) == 128 + signal.SIGPIPE
    complaints = process.stderr.read()
    process.stderr.close()
    (session,) = pinfold.json("sessions", "list")
    assert session["state"] == "running"
    told = complaints.decode().splitlines()[-1]
    assert told == f"pinfold: nobody reads the output any more; session {session['id']} goes on without"
    assert b"Traceback" not in complaints


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("wroker",), "worker"),
        (("worker", "--engine", "podman"), "podman"),
        (("worker", "--lifecycle", "forever"), "forever"),
        (("worker", "--runner", "claude"), "claude"),
        (("off",), "disabled"),
        (("broken",), "agent.toml:1"),
    ],
    ids=["unknown-agent", "unknown-engine", "unknown-lifecycle", "runner-not-there", "disabled", "broken-file"],
)
def test_what_cannot_run_is_refused_with_the_reason(pinfold: Command, arguments: tuple[str, ...], reason: str) -> None:
    pinfold.add_agent("worker")
    pinfold.add_agent("off", agent="enabled = false")
    pinfold.add_agent("broken").write_text("[agent\n")
    done = pinfold("run", *arguments, status=1)
    assert done.stderr.startswith("pinfold: ")
    assert reason in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_command_that_does_not_exist_fails_with_its_name(pinfold: Command) -> None:
    pinfold.add_agent("worker")
    done = pinfold("run", "worker", "--", "no-such-program", status=1)
    assert "no-such-program" in done.stderr
    (session,) = pinfold.json("sessions", "list")
    assert session["state"] == "failed"


def test_json_of_a_refusal_is_empty_and_the_reason_is_on_stderr(pinfold: Command) -> None:
    done = pinfold("run", "nobody", "--json", status=1)
    assert [json.loads(line) for line in done.stdout.splitlines()] == []
    assert "nobody" in done.stderr


def test_a_command_after_two_dashes_runs_although_the_agent_names_none(pinfold: Command) -> None:
    pinfold.add_agent("worker", "")
    file = pinfold.home.agent_file("worker")
    file.write_text("".join(line for line in file.read_text().splitlines(keepends=True) if "command =" not in line))
    assert pinfold("run", "worker", "--", "echo", "mine").stdout == "mine\n"
    assert "names no command" in pinfold("run", "worker", status=1).stderr
