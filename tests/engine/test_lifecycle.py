"""A sandbox from created to removed: how it starts, how it ends, and how that is told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from docker import APIClient

from services.errors import EngineError, SandboxGone
from services.home import BlockingCalls
from services.sandbox.engines.docker import DockerEngine
from services.sandbox.engines.engine import SandboxState, Signal
from services.sandbox.model import Limits
from tests.engine.conditions import eventually
from tests.engine.followed import started
from tests.engine.sandboxes import Sandboxes
from tests.engine.spools import Spool

MIB = 1024 * 1024
EAT = "x=0123456789abcdef; while true; do x=$x$x; done"
FEIGNED = "[FATAL tini (7)] exec x failed: y"


async def end_of(engine: DockerEngine, sandbox: str) -> SandboxState:
    """Wait until it has exited."""

    async def exited() -> bool:
        return (await engine.inspect(sandbox)).status == "exited"

    await eventually(exited)
    return await engine.inspect(sandbox)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_the_states_are_told_with_their_times(engine: DockerEngine, sandboxes: Sandboxes) -> None:
    spec = sandboxes.script("while [ ! -e go ]; do sleep 0.05; done; exit 3")
    sandbox = await engine.create(spec, {})
    created = await engine.inspect(sandbox)
    assert (created.status, created.exit_code, created.started_at, created.ended_at) == ("created", None, None, None)
    assert (created.session, created.agent) == (spec.session, "reviewer")
    await engine.start(sandbox)
    running = await engine.inspect(sandbox)
    assert (running.status, running.exit_code, running.ended_at) == ("running", None, None)
    (sandboxes.workspace / "go").touch()
    exited = await end_of(engine, sandbox)
    assert exited.exit_code == 3
    assert created.started_at is None
    assert exited.started_at is not None
    assert exited.ended_at is not None
    assert exited.started_at == running.started_at
    assert exited.started_at < exited.ended_at


async def test_starting_twice_runs_it_once(engine: DockerEngine, sandboxes: Sandboxes, spool: Spool) -> None:
    sandbox = await started(engine, sandboxes.script("echo ran"))
    await engine.start(sandbox)
    await end_of(engine, sandbox)
    await engine.start(sandbox)
    await engine.follow(sandbox, spool.writer)
    assert spool.lines() == [b"ran"]


@pytest.mark.parametrize(
    ("command", "status", "error"),
    [
        pytest.param(("sh", "-c", "exit 0"), 0, "", id="0"),
        pytest.param(("sh", "-c", "exit 1"), 1, "", id="1"),
        pytest.param(("sh", "-c", "exit 125"), 125, "", id="125 of its own"),
        pytest.param(("sh", "-c", "exit 126"), 126, "", id="126 of its own"),
        pytest.param(("sh", "-c", "exit 127"), 127, "", id="127 of its own"),
        pytest.param(
            ("sh", "-c", "echo '[FATAL tini (7)] exec x failed: y' >&2; echo z >&2; exit 127"), 127, "", id="feigned"
        ),
        pytest.param(("sh", "-c", "kill -KILL $$"), 137, "", id="killed itself"),
        pytest.param(("sh", "-c", "kill -TERM $$"), 143, "", id="ended itself"),
        pytest.param(("no-such-program",), 127, "cannot run no-such-program: No such file or directory", id="missing"),
        pytest.param(("/no/such",), 127, "cannot run /no/such: No such file or directory", id="missing path"),
        pytest.param(("/etc/passwd",), 126, "cannot run /etc/passwd: Permission denied", id="no program"),
        pytest.param(("/etc",), 126, "cannot run /etc: Permission denied", id="a directory"),
    ],
)
async def test_an_end_is_told_as_a_shell_would(
    engine: DockerEngine, sandboxes: Sandboxes, command: tuple[str, ...], status: int, error: str
) -> None:
    state = await end_of(engine, await started(engine, sandboxes.spec(*command)))
    assert (state.exit_code, state.error) == (status, error)
    assert not state.out_of_memory
    assert not state.child_out_of_memory


async def test_a_start_the_engine_refuses_tells_why(engine: DockerEngine, sandboxes: Sandboxes, api: APIClient) -> None:
    sandbox = await engine.create(sandboxes.spec("true"), {})
    name = api.inspect_container(sandbox)["Name"].strip("/")
    broken = api.create_container(
        sandboxes.image,
        ["no-such-program"],
        name=f"{name}-broken",
        labels={"pinfold.home": sandboxes.home_id, "pinfold.session": "broken", "pinfold.agent": "reviewer"},
    )["Id"]
    with pytest.raises(EngineError, match="cannot start the sandbox") as raised:
        await engine.start(broken)
    assert raised.value.why == 'exec: "no-such-program": executable file not found in $PATH'
    state = await engine.inspect(broken)
    assert state.status == "created"
    assert "no-such-program" in state.error


async def test_out_of_memory_of_the_main_process(engine: DockerEngine, sandboxes: Sandboxes) -> None:
    spec = sandboxes.spec("sh", "-c", EAT, limits=Limits(memory=16 * MIB))
    state = await end_of(engine, await started(engine, spec))
    assert (state.exit_code, state.out_of_memory, state.child_out_of_memory) == (137, True, False)


async def test_out_of_memory_of_a_child_is_told_apart(engine: DockerEngine, sandboxes: Sandboxes) -> None:
    spec = sandboxes.script(f"sh -c '{EAT}'; echo survived; exit 0", limits=Limits(memory=16 * MIB))
    state = await end_of(engine, await started(engine, spec))
    assert (state.exit_code, state.out_of_memory, state.child_out_of_memory) == (0, False, True)


async def test_too_many_processes_are_refused_inside(engine: DockerEngine, sandboxes: Sandboxes, spool: Spool) -> None:
    script = "i=0; while [ $i -lt 50 ]; do sleep 5 & i=$((i+1)); done 2>&1; echo unreached"
    sandbox = await started(engine, sandboxes.script(script, limits=Limits(pids=10)))
    await engine.follow(sandbox, spool.writer)
    assert any(b"can't fork" in line for line in spool.lines())


@pytest.mark.parametrize(("signal", "status"), [("INT", 130), ("TERM", 143), ("KILL", 137)])
async def test_a_signal_ends_the_main_process(
    engine: DockerEngine, sandboxes: Sandboxes, signal: Signal, status: int
) -> None:
    sandbox = await started(engine, sandboxes.script("trap - INT; touch ready; sleep 60"))
    await eventually((sandboxes.workspace / "ready").exists)
    await engine.signal(sandbox, signal)
    assert (await end_of(engine, sandbox)).exit_code == status
    await engine.signal(sandbox, signal)  # it has ended: nothing happens


async def test_a_sandbox_killed_behind_our_back_is_seen(
    engine: DockerEngine, sandboxes: Sandboxes, api: APIClient
) -> None:
    sandbox = await started(engine, sandboxes.spec("sleep", "60"))
    api.kill(sandbox)
    assert (await end_of(engine, sandbox)).exit_code == 137


async def test_removing_ends_what_runs_and_is_done_once(
    engine: DockerEngine, sandboxes: Sandboxes, api: APIClient
) -> None:
    sandbox = await started(engine, sandboxes.spec("sleep", "60"))
    await asyncio.gather(engine.remove(sandbox), engine.remove(sandbox))
    await engine.remove(sandbox)
    assert api.containers(all=True, filters={"id": sandbox}) == []
    with pytest.raises(SandboxGone):
        await engine.inspect(sandbox)


@pytest.mark.parametrize("sandbox", ["", "0" * 64, "../images/json", "pinfold-0-x", "f" * 63, "a" * 64 + "/json"])
async def test_an_unknown_id_is_gone(engine: DockerEngine, sandbox: str) -> None:
    for call in (engine.inspect(sandbox), engine.start(sandbox), engine.signal(sandbox, "KILL")):
        with pytest.raises(SandboxGone):
            await call
    await engine.remove(sandbox)


async def test_two_homes_never_see_or_touch_each_others(
    engine: DockerEngine, sandboxes: Sandboxes, calls: BlockingCalls, docker_host: str, spool: Spool
) -> None:
    other = DockerEngine("f" * 16, calls, {"DOCKER_HOST": docker_host})
    sandbox = await started(engine, sandboxes.spec("sleep", "60"))
    assert [state.id for state in await engine.list()] == [sandbox]
    assert await other.list() == []
    attempts = [
        other.inspect(sandbox),
        other.start(sandbox),
        other.signal(sandbox, "KILL"),
        other.run(sandbox, ("true",)),
        other.shell(sandbox, (), 80, 24),
        other.follow(sandbox, spool.writer),
        anext(other.usage(sandbox)),
    ]
    for attempt in attempts:
        with pytest.raises(SandboxGone):
            await attempt
    await other.remove(sandbox)
    assert (await engine.inspect(sandbox)).status == "running"
    await other.close()


async def test_all_of_a_home_are_listed_whatever_their_state(engine: DockerEngine, sandboxes: Sandboxes) -> None:
    created = await engine.create(sandboxes.spec("true"), {})
    running = await started(engine, sandboxes.spec("sleep", "60"))
    exited = await started(engine, sandboxes.spec("true"))
    await end_of(engine, exited)
    assert {(state.id, state.status) for state in await engine.list()} == {
        (created, "created"),
        (running, "running"),
        (exited, "exited"),
    }


async def test_a_hundred_starts_and_ends_leave_no_connection_open(engine: DockerEngine, sandboxes: Sandboxes) -> None:
    sandbox = await started(engine, sandboxes.spec("sleep", "60"))
    await engine.inspect(sandbox)
    before = open_files()
    for _ in range(100):
        await engine.inspect(sandbox)
        await engine.status()
    assert open_files() <= before + 4
