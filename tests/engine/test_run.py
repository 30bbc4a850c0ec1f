"""One more command inside a running sandbox."""

from __future__ import annotations

import asyncio

import pytest

from services.errors import EngineError
from services.sandbox.engines.docker import DockerEngine
from tests.engine.conditions import eventually
from tests.engine.sandboxes import Sandboxes


@pytest.fixture
async def running(engine: DockerEngine, sandboxes: Sandboxes) -> str:
    sandbox = await engine.create(sandboxes.spec("sleep", "600"), {})
    await engine.start(sandbox)
    return sandbox


@pytest.mark.parametrize(
    ("script", "status", "printed"),
    [
        pytest.param("true", 0, b"", id="silent"),
        pytest.param("echo one; echo two >&2; sleep 0.1; echo three", 0, None, id="both streams"),
        pytest.param("exit 7", 7, b"", id="its status"),
        pytest.param("kill -KILL $$", 137, b"", id="killed"),
        pytest.param("pwd; cat", 0, b"/workspace\n", id="no input"),
        pytest.param("exit 127", 127, b"", id="127 of its own"),
    ],
)
async def test_status_and_output_come_back(
    engine: DockerEngine, running: str, script: str, status: int, printed: bytes | None
) -> None:
    found, output = await engine.run(running, ("sh", "-c", script))
    assert found == status
    if printed is None:
        assert sorted(output.splitlines()) == [b"one", b"three", b"two"]
    else:
        assert output == printed


async def test_only_the_last_64_kib_are_kept(engine: DockerEngine, running: str) -> None:
    _, output = await engine.run(running, ("sh", "-c", "seq 1 200000"))
    assert len(output) == 64 * 1024
    assert output.endswith(b"\n199999\n200000\n")


@pytest.mark.parametrize("command", [("no-such-program",), ("/etc/passwd",), ("/etc",)])
async def test_a_command_that_cannot_be_run_is_an_error_that_names_it(
    engine: DockerEngine, running: str, command: tuple[str, ...]
) -> None:
    with pytest.raises(EngineError) as raised:
        await engine.run(running, command)
    assert command[0] in raised.value.what
    assert "OCI" not in raised.value.why


async def test_nothing_runs_in_a_sandbox_that_does_not(engine: DockerEngine, sandboxes: Sandboxes) -> None:
    sandbox = await engine.create(sandboxes.spec("true"), {})
    with pytest.raises(EngineError, match="is not running"):
        await engine.run(sandbox, ("true",))


async def test_a_sandbox_that_ends_ends_its_commands(engine: DockerEngine, sandboxes: Sandboxes, running: str) -> None:
    command = asyncio.create_task(engine.run(running, ("sh", "-c", "touch here; sleep 600")))
    await eventually((sandboxes.workspace / "here").exists)
    await engine.signal(running, "KILL")
    status, _ = await asyncio.wait_for(command, 30)
    assert status == 137
