"""Sessions on a real Docker Engine: what only a real engine can show."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from docker import APIClient

from services.errors import ImageMissing, LockHeld, SessionRefused
from services.home import Home
from services.output import SpoolWriter
from services.pinfold import Pinfold
from services.sandbox import Session, SessionState
from tests.engine.worlds import docker_world
from tests.support.killing import check_all, doomed, kill_at_random_moments, write_agents
from tests.support.sessions import (
    WAIT,
    World,
    cleaned_up,
    echo_lines,
    ended,
    eventually,
    lines_of,
    logged,
    printed,
    ran,
    started,
    step_states,
    until,
)

KEPT = "lifecycle = 'persistent'"
LOOP = "echo up; while :; do sleep 0.05; done"


@pytest.fixture
async def world(home: Home, docker_host: str, image: str) -> AsyncIterator[World]:
    """A home whose agents run in containers of the test image."""
    async with cleaned_up(docker_world(home, docker_host, image)) as world:
        yield world


async def test_a_session_runs_in_a_container_to_its_end_and_leaves_its_output(world: World, api: APIClient):
    world.agent(script="echo to stdout; echo to stderr >&2; exit 3")
    async with world.pinfold() as pinfold:
        session = await ran(pinfold)
        assert (session.state, session.exit_code, session.confined) == (SessionState.FAILED, 3, True)
        assert sorted(await lines_of(pinfold, session.id)) == ["to stderr", "to stdout"]
        await until(pinfold, session.id, lambda found: not found.sandbox)
        assert not containers_of(api, world)
        assert [name for name, _ in await step_states(pinfold, session.id)] == [
            "prepare",
            "create",
            "start",
            "run",
            "cleanup",
        ]


def containers_of(api: APIClient, world: World) -> list[str]:
    found = api.containers(all=True, filters={"label": f"pinfold.home={world.home.identity()}"})
    return [str(container["Id"]) for container in found]


async def test_an_image_that_is_not_to_be_had_fails_the_start_and_is_named(world: World):
    world.agent(script="true", sandbox='image = "no.such.registry.invalid/nothing:1"')
    async with world.pinfold() as pinfold:
        with pytest.raises(ImageMissing, match=r"no\.such\.registry\.invalid/nothing:1"):
            await started(pinfold)
        (session,) = await pinfold.sandboxes.sessions()
        assert session.state is SessionState.FAILED
        assert "no.such.registry.invalid/nothing:1" in session.detail
        assert await step_states(pinfold, session.id) == [("prepare", "done"), ("pull", "failed")]


async def test_a_command_that_is_not_in_the_image_fails_and_is_named(world: World):
    world.agent(sandbox="command = ['/no/such/program']")
    async with world.pinfold() as pinfold:
        session = await ran(pinfold)
        assert (session.state, session.exit_code) == (SessionState.FAILED, 127)
        assert "/no/such/program" in session.detail


async def test_a_main_process_out_of_memory_is_told_as_such(world: World):
    world.agent(sandbox="command = ['tail', '/dev/zero']")
    async with world.pinfold() as pinfold:
        session = await ran(pinfold)
        assert (session.state, session.exit_code, session.out_of_memory) == (SessionState.OUT_OF_MEMORY, 137, True)
        assert "64 MiB" in session.detail


async def test_a_container_killed_by_another_hand_is_told_from_a_stop(world: World, api: APIClient):
    world.agent(script=LOOP, sandbox=KEPT)
    async with world.pinfold() as pinfold:
        session = await started(pinfold)
        await printed(pinfold, session.id, "up")
        await asyncio.to_thread(api.kill, session.sandbox)
        found = await ended(pinfold, session.id)
        assert (found.state, found.exit_code) == (SessionState.KILLED, 137)


async def test_a_stop_climbs_to_term(world: World):
    world.agent(script=f"trap '' INT; trap 'echo bye; exit 9' TERM; {LOOP}", sandbox="stop_timeout = '1s'")
    async with world.pinfold() as pinfold:
        session = await started(pinfold)
        await printed(pinfold, session.id, "up")
        async with asyncio.timeout(WAIT):
            stopped = await pinfold.sandboxes.stop(session.id)
        assert (stopped.state, stopped.exit_code) == (SessionState.STOPPED, 9)
        assert (await lines_of(pinfold, session.id))[-1] == "bye"
        verbs = await logged(pinfold, session.id)
        assert [verb for verb in verbs if verb in ("session.interrupt", "session.terminate", "session.kill")] == [
            "session.interrupt",
            "session.terminate",
        ]


async def test_a_container_that_was_removed_by_another_hand_while_nobody_looked_is_lost(world: World, api: APIClient):
    world.agent(script=LOOP, sandbox=KEPT)
    async with world.pinfold() as pinfold:
        session = await started(pinfold)
        await printed(pinfold, session.id, "up")
    await asyncio.to_thread(api.remove_container, session.sandbox, force=True)
    async with world.pinfold() as pinfold:
        found = await ended(pinfold, session.id)
        assert (found.state, found.sandbox) == (SessionState.LOST, "")
        assert "up" in await lines_of(pinfold, session.id)


async def test_a_session_that_ended_while_no_pinfold_ran_is_found_with_all_its_output(world: World, api: APIClient):
    world.agent(script=echo_lines(5000))
    async with world.pinfold(supervise=False) as pinfold:
        session = await started(pinfold)
    await asyncio.to_thread(api.wait, session.sandbox, timeout=int(WAIT))
    async with world.pinfold() as pinfold:
        found = await ended(pinfold, session.id)
        assert found.state is SessionState.EXITED
        assert await lines_of(pinfold, session.id) == [f"line {number}" for number in range(1, 5001)]


async def test_an_agent_reads_and_writes_what_it_was_granted_and_nothing_else(world: World):
    world.agent("helper", script="true")
    (world.home.default_workspace("helper") / "notes").write_text("theirs", encoding="utf-8")
    world.agent(
        script="cat /siblings/helper/notes; echo; echo x > /siblings/helper/notes || echo refused; "
        "echo mine > /workspace/result; pwd; touch /usr/x || echo refused; cat /proc/self/uid_map | wc -l",
        rest='[workspace.access]\nhelper = "read"',
    )
    world.home.default_workspace("worker").chmod(0o777)
    async with world.pinfold() as pinfold:
        session = await ran(pinfold)
        lines = [line for line in await lines_of(pinfold, session.id) if ":" not in line]
        assert lines[:4] == ["theirs", "refused", "/workspace", "refused"]
    assert (world.home.default_workspace("helper") / "notes").read_text(encoding="utf-8") == "theirs"
    assert (world.home.default_workspace("worker") / "result").read_text(encoding="utf-8") == "mine\n"


async def test_a_workspace_with_an_odd_name_is_mounted(world: World, tmp_path: Path):
    odd = tmp_path / "a b:c,ü 🐚"
    odd.mkdir()
    odd.chmod(0o777)
    world.agent(script="echo here > made; cat made", rest=f"[workspace]\npath = '{odd}'")
    async with world.pinfold() as pinfold:
        session = await ran(pinfold)
        assert await lines_of(pinfold, session.id) == ["here"]
    assert (odd / "made").exists()


async def test_a_workspace_that_vanished_is_named_before_anything_is_made(world: World, tmp_path: Path, api: APIClient):
    world.agent(script="true", rest=f"[workspace]\npath = '{tmp_path / 'gone'}'")
    async with world.pinfold() as pinfold:
        with pytest.raises(SessionRefused, match="gone"):
            await started(pinfold)
    assert not containers_of(api, world)


async def test_prepare_runs_inside_the_container_before_the_command(world: World):
    world.agent(
        script="cat /tmp/made",
        sandbox='prepare = [{ cmd = ["sh", "-c", "sleep 0.2; echo prepared > /tmp/made"] }]',
    )
    async with world.pinfold() as pinfold:
        session = await ran(pinfold)
        assert await lines_of(pinfold, session.id) == ["prepared"]


async def test_secrets_are_not_on_a_command_line_nor_in_any_file(world: World, api: APIClient):
    world.env["TOKEN"] = "s3cr3t-value"
    world.agent(script='test -n "$TOKEN" && echo have it; sleep 600', sandbox="secrets = ['TOKEN']\n" + KEPT)
    async with world.pinfold() as pinfold:
        session = await started(pinfold)
        await printed(pinfold, session.id, "have it")
        top = await asyncio.to_thread(api.top, session.sandbox)
        assert "s3cr3t" not in str(top)
        await pinfold.sandboxes.kill(session.id)
    files = [path for path in world.home.root.rglob("*") if path.is_file()]
    assert [path for path in files if b"s3cr3t" in path.read_bytes()] == []


async def test_two_homes_on_one_engine_never_see_each_others_sandboxes(world: World, tmp_path: Path, image: str):
    world.agent(script=LOOP, sandbox=KEPT)
    other = World(Home(tmp_path / "other"), engine="docker", env=world.env)
    async with world.pinfold() as pinfold, other.pinfold() as stranger:
        session = await started(pinfold)
        await printed(pinfold, session.id, "up")
        assert await stranger.sandboxes.find_orphans() == ()
        assert await pinfold.sandboxes.find_orphans() == ()
        assert (await pinfold.sandboxes.session(session.id)).state is SessionState.RUNNING


async def test_one_pinfold_follows_and_when_it_is_killed_the_other_takes_over_without_a_gap(world: World):
    lines = 400
    world.agent("printer", script=f"while [ ! -e go ]; do sleep 0.02; done; {echo_lines(lines, 0.01)}", sandbox=KEPT)
    world.home.default_workspace("printer").chmod(0o777)
    with doomed(world) as follower:
        async with world.pinfold(supervise=False) as looking:
            session = await first_running(looking)

            async def is_followed() -> bool:
                return await asyncio.to_thread(is_written, world, session)

            await eventually(is_followed)
        async with world.pinfold() as pinfold:
            (world.home.default_workspace("printer") / "go").touch()
            await printed(pinfold, session.id, "line 20")  # written by the other, read here
            follower.kill()
            found = await ended(pinfold, session.id)
            assert found.state is SessionState.EXITED
            assert await lines_of(pinfold, session.id) == [f"line {number}" for number in range(1, lines + 1)]
            assert (await logged(pinfold, session.id)).count("session.end") == 1


async def first_running(pinfold: Pinfold) -> Session:
    async def is_running() -> bool:
        return any(session.state is SessionState.RUNNING for session in await pinfold.sandboxes.sessions())

    await eventually(is_running)
    return (await pinfold.sandboxes.sessions())[0]


def is_written(world: World, session: Session) -> bool:
    """Whether somebody holds the session's spool for writing."""
    try:
        SpoolWriter.open(world.home.session_dir(session.id) / "output", limit=10**6, keep_unindexed=False).close()
    except LockHeld:
        return True
    return False


async def test_ten_kills_at_random_moments_leave_every_session_consistent_and_its_output_whole(world: World):
    write_agents(world)
    await kill_at_random_moments(world, times=10, seed=3)
    async with world.pinfold() as pinfold:
        ended_as = await check_all(pinfold)
        assert sum(ended_as.values()) >= 10
        assert not pinfold.sandboxes.trouble()
