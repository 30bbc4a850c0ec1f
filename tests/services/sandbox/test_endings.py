from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from services.sandbox.endings import ending
from services.sandbox.engines.engine import SandboxState
from services.sandbox.model import Limits, SessionState, Step
from tests.services.sandbox.records import SPEC, session

RUNNING, STOPPING = SessionState.RUNNING, SessionState.STOPPING


def exited(code: int | None, **fields: Any) -> SandboxState:
    return SandboxState(id="c1", session="s1", agent="worker", status="exited", exit_code=code, **fields)


def steps(*names: str) -> list[Step]:
    return [Step("s1", number, name, "done", "", 1, 2) for number, name in enumerate(names, start=1)]


@pytest.mark.parametrize(
    ("state", "did", "sandbox", "ended_as", "said"),
    [
        pytest.param(RUNNING, [], exited(0), "exited", "", id="status 0"),
        pytest.param(RUNNING, [], exited(3), "failed", "status 3", id="status 3"),
        pytest.param(RUNNING, [], exited(255), "failed", "status 255", id="255 is no signal"),
        pytest.param(RUNNING, [], exited(125), "failed", "could not be run", id="125"),
        pytest.param(RUNNING, [], exited(126), "failed", "cannot be executed", id="126"),
        pytest.param(RUNNING, [], exited(127), "failed", "not found", id="127"),
        pytest.param(RUNNING, [], exited(None), "failed", "does not tell", id="no status"),
        pytest.param(RUNNING, [], exited(None, error="no such file"), "failed", "no such file", id="engine's error"),
        pytest.param(RUNNING, [], exited(137), "killed", "SIGKILL", id="killed by somebody"),
        pytest.param(RUNNING, [], exited(139), "killed", "SIGSEGV", id="crashed"),
        pytest.param(RUNNING, [], exited(137, out_of_memory=True), "out of memory", "memory", id="out of memory"),
        pytest.param(RUNNING, [], exited(0, child_out_of_memory=True), "exited", "a process inside", id="child, well"),
        pytest.param(RUNNING, [], exited(1, child_out_of_memory=True), "failed", "a process inside", id="child, badly"),
        pytest.param(RUNNING, ["interrupt"], exited(130), "stopped", "SIGINT", id="died of our interrupt"),
        pytest.param(
            RUNNING, ["interrupt"], exited(137), "killed", "SIGKILL", id="interrupted, then killed by another"
        ),
        pytest.param(RUNNING, ["interrupt"], exited(0), "exited", "", id="handled our interrupt"),
        pytest.param(STOPPING, ["interrupt"], exited(0), "stopped", "after an interrupt, status 0", id="rung 1"),
        pytest.param(STOPPING, ["interrupt", "terminate"], exited(143), "stopped", "after TERM", id="rung 2"),
        pytest.param(STOPPING, ["interrupt", "terminate", "kill"], exited(137), "stopped", "by KILL", id="rung 3"),
        pytest.param(STOPPING, [], exited(0), "stopped", "stopped", id="ended before the first rung"),
        pytest.param(STOPPING, ["kill"], exited(137, out_of_memory=True), "out of memory", "", id="memory beats stop"),
    ],
)
def test_an_end_is_told_from_the_engines_report_and_what_was_done(state, did, sandbox, ended_as, said):
    found = ending(session(state=state), steps(*did), sandbox)
    assert found.state == ended_as
    assert said in found.detail
    assert bool(found.detail) == bool(said) or not said


def test_out_of_memory_names_the_limit():
    limited = session(state=RUNNING, spec=replace(SPEC, limits=Limits(memory=64 * 1024**2)))
    assert "64 MiB" in ending(limited, [], exited(137, out_of_memory=True)).detail
