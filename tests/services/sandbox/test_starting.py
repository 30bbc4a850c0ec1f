from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from services.errors import AgentNotFound, EngineUnavailable, PinfoldError, SessionRefused
from services.output import Stream
from services.sandbox import SessionState, StartRequest
from tests.support.sessions import (
    WAIT,
    World,
    ended,
    eventually,
    lines_of,
    logged,
    printed,
    progress_of,
    ran,
    started,
    step_states,
    until,
)


async def test_a_session_runs_to_its_end_with_its_output_and_steps_recorded(world: World):
    world.agent(script="echo to stdout; echo to stderr >&2; exit 3")
    async with world.pinfold() as pinfold:
        session = await ran(pinfold)
        assert (session.state, session.exit_code, session.detail) == (SessionState.FAILED, 3, "status 3")
        assert await lines_of(pinfold, session.id, Stream.STDOUT) == ["to stdout"]
        assert await lines_of(pinfold, session.id, Stream.STDERR) == ["to stderr"]
        assert session.started_at is not None
        assert session.ended_at is not None
        assert session.created_at <= session.started_at <= session.ended_at
        await until(pinfold, session.id, lambda found: not found.sandbox)
        assert await step_states(pinfold, session.id) == [
            ("prepare", "done"),
            ("create", "done"),
            ("start", "done"),
            ("run", "failed"),
            ("cleanup", "done"),
        ]
        assert await logged(pinfold) == ["session.start", "session.end failed", "session.cleanup"]


async def test_a_start_tells_how_far_it_is_and_ends_with_the_running_session(world: World):
    world.agent(script="sleep 60")
    async with world.pinfold() as pinfold:
        told = await progress_of(pinfold)
        states = [step.session.state for step in told]
        assert states[0] is SessionState.PREPARING
        assert states[-1] is SessionState.RUNNING
        assert len({step.session.id for step in told}) == 1


@pytest.mark.parametrize(
    ("script", "state", "code"),
    [
        pytest.param("exit 0", SessionState.EXITED, 0, id="well"),
        pytest.param("exit 7", SessionState.FAILED, 7, id="badly"),
        pytest.param("/no/such/program", SessionState.FAILED, 127, id="not found"),
        pytest.param("/etc/passwd", SessionState.FAILED, 126, id="not executable"),
        pytest.param("kill -SEGV $$", SessionState.KILLED, 139, id="by a signal"),
    ],
)
async def test_an_end_is_told_apart(world: World, script, state, code):
    world.agent(script=script)
    async with world.pinfold() as pinfold:
        session = await ran(pinfold)
        assert (session.state, session.exit_code) == (state, code)


async def test_a_command_that_does_not_exist_fails_the_start_with_the_reason(world: World):
    world.agent(sandbox="command = ['/no/such/program']")
    async with world.pinfold() as pinfold:
        with pytest.raises(PinfoldError, match="/no/such/program"):
            await started(pinfold)
        (session,) = await pinfold.sandboxes.sessions()
        assert session.state is SessionState.FAILED
        assert "/no/such/program" in session.detail
        assert session.sandbox == ""
        assert (await step_states(pinfold, session.id))[2] == ("start", "failed")
        assert (await logged(pinfold))[0] == "session.start failed"


async def test_the_request_replaces_what_the_agent_says(world: World):
    world.agent(script="echo agent's own", sandbox="lifecycle = 'persistent'")
    async with world.pinfold() as pinfold:
        session = await ran(
            pinfold, command=("sh", "-c", "echo $PINFOLD_PROMPT"), prompt="Tidy up", lifecycle="session"
        )
        assert await lines_of(pinfold, session.id) == ["Tidy up"]
        assert (session.prompt, session.lifecycle) == ("Tidy up", "session")


async def test_the_sandbox_knows_who_it_is_and_where_it_works(world: World):
    world.agent(script='echo $PINFOLD_AGENT $PINFOLD_SESSION; test "$PINFOLD_WORKSPACE" = "$PWD" && echo here')
    async with world.pinfold() as pinfold:
        session = await ran(pinfold)
        assert await lines_of(pinfold, session.id) == [f"worker {session.id}", "here"]


REFUSALS = [
    pytest.param({"sandbox": "lifecycle = 'oneshot'"}, {"lifecycle": "for ever"}, "no lifecycle", id="lifecycle"),
    pytest.param({}, {"node": "moon"}, "no node", id="node"),
    pytest.param({}, {"runner": "claude"}, "claude is not available", id="runner that cannot run here"),
    pytest.param({}, {"runner": "clod"}, "no runner 'clod'", id="unknown runner"),
    pytest.param({"enabled": False}, {}, "disabled", id="disabled"),
    pytest.param({"profile": "nobody"}, {}, "nobody", id="no such profile"),
    pytest.param({"script": ""}, {}, "no command", id="no command"),
    pytest.param({"sandbox": "secrets = ['TOKEN_NOT_SET']"}, {}, "TOKEN_NOT_SET", id="missing secret"),
    pytest.param({"rest": "[workspace]\npath = '/no/such/workspace'"}, {}, "/no/such/workspace", id="no workspace"),
    pytest.param({}, {"prompt": "a\0b"}, "NUL", id="prompt with NUL"),
    pytest.param({}, {"prompt": "x" * 100_001}, "too long", id="prompt too long"),
    pytest.param({}, {"prompt": "\udcff"}, "UTF-8", id="prompt that is no text"),
    pytest.param({}, {"engine": "docker"}, "docker: ", id="engine that is away"),
]


@pytest.mark.parametrize(("agent", "asked", "said"), REFUSALS)
async def test_what_forbids_a_start_is_found_before_anything_is_made(world: World, agent, asked, said):
    world.agent(**({"script": "true"} | agent))
    async with world.pinfold() as pinfold:
        with pytest.raises(SessionRefused, match=said):
            await started(pinfold, **asked)
        assert await pinfold.sandboxes.sessions() == []
        assert await logged(pinfold) == ["session.start refused"]
    assert not world.home.sessions_dir.exists()


async def test_an_allowlist_is_refused_where_it_cannot_be_kept(world: World):
    world.agent(script="true", sandbox='network = "allowlist"')
    async with world.pinfold() as pinfold:
        if not next(status.confined for status in await pinfold.sandboxes.check_engines() if status.name == "local"):
            pytest.skip("nothing is confined here")
        with pytest.raises(SessionRefused, match='the local engine cannot keep network = "allowlist"'):
            await started(pinfold)


async def test_an_unknown_agent_and_an_unknown_engine_are_named(world: World):
    world.agent(script="true")
    async with world.pinfold() as pinfold:
        with pytest.raises(AgentNotFound, match="wroker"):
            await started(pinfold, "wroker")
        with pytest.raises(EngineUnavailable, match="podman"):
            await started(pinfold, engine="podman")


async def test_running_unconfined_needs_the_profiles_consent(world: World, tmp_path: Path):
    (tmp_path / "sh").symlink_to("/bin/sh")
    world.env["PATH"] = str(tmp_path)  # no bubblewrap there
    world.agent(script="true", profile="confined")
    async with world.pinfold() as pinfold:
        with pytest.raises(SessionRefused, match="allow_unconfined"):
            await started(pinfold)
        world.agent(script="true", profile="plain")
        await pinfold.agents.load()
        assert not (await started(pinfold)).confined


async def test_a_broken_file_leaves_the_last_good_configuration_in_force_and_says_so(world: World):
    world.agent(script="echo as before")
    async with world.pinfold(supervise=False) as pinfold:
        world.home.agent_file("worker").write_text("[agent\n", encoding="utf-8")
        await pinfold.agents.load()
        assert pinfold.agents.get("worker").stale
        told = await progress_of(pinfold)
        assert "last good" in told[0].note
        assert "last good" in (await pinfold.sandboxes.steps(told[0].session.id))[0].detail
        session = await ended(pinfold, told[-1].session.id)
        assert await lines_of(pinfold, session.id) == ["as before"]


async def test_secrets_and_passed_variables_reach_the_sandbox_and_are_written_nowhere(world: World):
    world.env |= {"TOKEN": "s3cr3t-value-1", "PASSED": "s3cr3t-value-2", "OTHER": "s3cr3t-value-3"}
    world.agent(
        script='test "${TOKEN#*-}${PASSED#*-}" = value-1value-2 && echo have them; echo "<$OTHER>"',
        sandbox="secrets = ['TOKEN']",
        rest="[permissions]\nenv_passthrough = ['PASSED', 'NOT_SET']",
    )
    async with world.pinfold() as pinfold:
        session = await ran(pinfold)
        assert await lines_of(pinfold, session.id) == ["have them", "<>"]
        assert "s3cr3t" not in repr(session)
    assert files_with(b"s3cr3t", world.home.root) == []


def files_with(data: bytes, directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*") if path.is_file() and data in path.read_bytes()]


async def test_an_id_that_is_taken_is_not_used_again(world: World):
    world.agent(script="true")
    ids = iter(["251130-075012-aaa", "251130-075012-aaa", "251130-075012-bbb"])
    async with world.pinfold(new_id=lambda: next(ids)) as pinfold:
        first, second = await ran(pinfold), await ran(pinfold)
    assert (first.id, second.id) == ("251130-075012-aaa", "251130-075012-bbb")


async def test_many_starts_at_once_get_along(world: World):
    world.agent(script="echo $PINFOLD_SESSION")
    async with world.pinfold() as pinfold:
        sessions = await asyncio.gather(*(ran(pinfold) for _ in range(8)))
        assert len({session.id for session in sessions}) == 8
        for session in sessions:
            assert await lines_of(pinfold, session.id) == [session.id]


# --- cancelling


SLOW_PREPARE = 'prepare = [{ cmd = ["sh", "-c", "touch begun; sleep 60"] }]'


async def begun(world: World, alias: str = "worker") -> None:
    async def has_begun() -> bool:
        return (world.home.default_workspace(alias) / "begun").exists()

    await eventually(has_begun)


async def test_a_start_that_is_cancelled_leaves_nothing_but_its_record(world: World):
    world.agent(script="true", sandbox=SLOW_PREPARE)
    async with world.pinfold() as pinfold:
        starting = asyncio.create_task(started(pinfold))
        await begun(world)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        (session,) = await pinfold.sandboxes.sessions()
        assert (session.state, session.sandbox) == (SessionState.STOPPED, "")
        assert "cancelled" in session.detail
        assert (await step_states(pinfold, session.id))[-2:] == [("prepare", "cancelled"), ("cleanup", "done")]
        assert await logged(pinfold) == ["session.cancel", "session.cleanup"]
        assert await pinfold.sandboxes.find_orphans() == ()


async def test_leaving_the_iteration_early_cancels_the_start(world: World):
    world.agent(script="sleep 60")
    async with world.pinfold() as pinfold:
        async with aclosing(pinfold.sandboxes.start(StartRequest("worker"))) as progress:
            async for _ in progress:
                break
        (session,) = await pinfold.sandboxes.sessions()
        assert session.state is SessionState.STOPPED


async def test_a_start_is_stopped_from_another_pinfold(world: World):
    world.agent(script="true", sandbox=SLOW_PREPARE)
    async with world.pinfold() as here, world.pinfold(supervise=False) as elsewhere:
        starting = asyncio.create_task(started(here))
        await begun(world)
        async with asyncio.timeout(WAIT):
            stopped = await elsewhere.sandboxes.stop("worker")
            assert stopped.state is SessionState.STOPPED
            with pytest.raises(PinfoldError, match="stopped before it ran"):
                await starting
        assert await elsewhere.sandboxes.find_orphans() == ()


async def test_closing_pinfold_cancels_its_starts_and_leaves_what_runs(world: World):
    world.agent(script="echo up; sleep 60")
    world.agent("slow", script="true", sandbox=SLOW_PREPARE)
    async with world.pinfold() as pinfold:
        running = await started(pinfold)
        await printed(pinfold, running.id, "up")
        starting = asyncio.create_task(started(pinfold, "slow"))
        await begun(world, "slow")
    with pytest.raises(PinfoldError):
        await starting
    async with world.pinfold(supervise=False) as pinfold:
        states = {session.agent: session.state for session in await pinfold.sandboxes.sessions()}
    assert states == {"worker": SessionState.RUNNING, "slow": SessionState.STOPPED}
