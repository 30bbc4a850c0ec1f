"""`pinfold sessions`: naming, listing, showing, ending and removing them."""

from __future__ import annotations

import re
import signal

import pytest

from tests.tui.verbs.conftest import Command

FOREVER = "trap '' INT; echo ready; while :; do sleep 0.1; done"


@pytest.fixture
def running(pinfold: Command) -> str:
    """The id of a session of `worker` that does not end by itself."""
    pinfold.add_agent("worker", FOREVER)
    return pinfold("run", "--detach", "worker").stdout.strip()


def state_of(pinfold: Command, session: str) -> str:
    return str(pinfold.json("sessions", "show", session)["session"]["state"])


def test_a_list_shows_the_newest_first_and_can_be_narrowed(pinfold: Command, running: str) -> None:
    pinfold.add_agent("other", "true")
    pinfold("run", "other")
    assert [session["agent"] for session in pinfold.json("sessions", "list")] == ["other", "worker"]
    assert [session["id"] for session in pinfold.json("sessions", "list", "--live")] == [running]
    assert [session["agent"] for session in pinfold.json("sessions", "list", "--agent", "other")] == ["other"]


def test_a_piped_list_is_tab_separated_with_a_heading(pinfold: Command, running: str) -> None:
    heading, row = pinfold("sessions", "list").stdout.splitlines()
    cells = dict(zip(heading.split("\t"), row.split("\t"), strict=True))
    assert (cells["ID"], cells["AGENT"], cells["STATE"]) == (running, "worker", "running")


@pytest.mark.parametrize("columns", [50, 80, 160])
def test_a_list_on_a_terminal_fits_and_has_signs(pinfold: Command, running: str, columns: int) -> None:
    with pinfold.on_terminal("sessions", "list", columns=columns) as terminal:
        assert terminal.wait_for_exit() == 0
        assert "● running" in terminal.text()


def test_an_empty_list_says_how_to_start_one(pinfold: Command) -> None:
    with pinfold.on_terminal("sessions", "list") as terminal:
        assert terminal.wait_for_exit() == 0
        assert "pinfold run ALIAS" in terminal.text()
    assert pinfold.json("sessions", "list") == []


def test_details_name_steps_limits_mounts_and_output(pinfold: Command, running: str) -> None:
    details = pinfold.json("sessions", "show", running)
    assert [step["name"] for step in details["steps"]][-1] == "run"
    assert any(mount["writable"] for mount in details["mounts"])
    assert details["output"]["complete"] is False
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z", details["session"]["started_at"])
    text = pinfold("sessions", "show", running).stdout
    assert "worker" in text
    assert "running" in text


def test_a_session_is_named_by_id_by_its_start_or_by_its_agent(pinfold: Command, running: str) -> None:
    for name in (running, running[:-1], "worker"):
        assert pinfold.json("sessions", "show", name)["session"]["id"] == running


def test_stopping_climbs_the_ladder(pinfold: Command, running: str) -> None:
    assert "stopped" in pinfold("sessions", "stop", running).stdout
    details = pinfold.json("sessions", "show", running)
    assert [step["name"] for step in details["steps"] if step["name"] in ("interrupt", "terminate", "kill")] == [
        "interrupt",
        "terminate",
    ]
    assert details["session"]["exit_code"] == 128 + signal.SIGTERM


def test_killing_ends_it_at_once(pinfold: Command, running: str) -> None:
    (result,) = pinfold.json("sessions", "kill", running)
    assert (result["id"], result["error"]) == (running, "")
    assert pinfold.json("sessions", "show", running)["session"]["exit_code"] == 128 + signal.SIGKILL


def test_an_interrupt_that_is_ignored_leaves_it_running(pinfold: Command, running: str) -> None:
    pinfold("sessions", "interrupt", running)
    assert state_of(pinfold, running) == "running"


def test_a_live_session_is_removed_only_by_force(pinfold: Command, running: str) -> None:
    assert "running" in pinfold("sessions", "rm", running, status=1).stderr
    pinfold("sessions", "rm", "--force", running)
    assert pinfold.json("sessions", "list") == []
    assert not pinfold.home.session_dir(running).exists()


def test_of_several_the_others_are_done_when_one_fails(pinfold: Command, running: str) -> None:
    pinfold.add_agent("other", "true")
    pinfold("run", "other")
    (ended,) = pinfold.json("sessions", "list", "--agent", "other")
    done = pinfold("sessions", "rm", running, ended["id"], status=1)
    assert "removed" in done.stdout
    assert running in done.stderr
    assert [session["id"] for session in pinfold.json("sessions", "list")] == [running]


def test_a_slip_in_one_name_does_nothing_to_the_others(pinfold: Command, running: str) -> None:
    pinfold("sessions", "rm", "--force", running, "nobody", status=1)
    assert state_of(pinfold, running) == "running"


def test_a_command_on_a_terminal_of_its_own_runs_in_the_sandbox_and_its_status_comes_back(
    pinfold: Command, running: str
) -> None:
    ask = ("sh", "-c", "stty size; read status; exit $status")
    with pinfold.on_terminal("sessions", "shell", running, *ask, columns=90, rows=20) as terminal:
        terminal.wait_for("20 90")
        terminal.send("5\r")
        assert terminal.wait_for_exit() == 5
        assert terminal.is_echoing()
    assert state_of(pinfold, running) == "running"


def test_a_shell_is_interactive(pinfold: Command, running: str) -> None:
    with pinfold.on_terminal("sessions", "shell", running) as terminal:
        terminal.wait_until(lambda: terminal.text().rstrip().endswith(("$", "#")), "a prompt")
        terminal.send("echo $((6 * 7))\r")
        terminal.wait_for("42")
        terminal.press("ctrl+d")
        terminal.wait_for_exit()
        assert terminal.is_echoing()


def test_a_shell_without_a_terminal_is_wrong_usage(pinfold: Command, running: str) -> None:
    assert "terminal" in pinfold("sessions", "shell", running, status=2).stderr


def test_a_shell_in_a_session_that_ended_is_refused(pinfold: Command) -> None:
    pinfold.add_agent("worker", "true")
    pinfold("run", "worker")
    with pinfold.on_terminal("sessions", "shell", "worker") as terminal:
        assert terminal.wait_for_exit() == 1
        assert "exited" in terminal.text()
        assert terminal.is_echoing()


def test_no_orphans_are_said_to_be_none(pinfold: Command) -> None:
    assert pinfold.json("sessions", "orphans") == []
