"""An engine that may be on another machine: its proxies run that machine's own Python."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.home import BlockingCalls
from services.sandbox.egress import usual_runtime
from services.sandbox.engines.docker import DockerEngine
from tests.engine.sandboxes import Sandboxes
from tests.engine.socket_proxy import TcpDoor


def _is_new_enough(python: str) -> bool:
    program = "import sys; sys.exit(sys.version_info < (3, 11))"
    return Path(python).exists() and subprocess.run([python, "-c", program], check=False).returncode == 0


@pytest.fixture
async def far_engine(docker_host: str, home_id: str, calls: BlockingCalls) -> AsyncIterator[DockerEngine]:
    """The engine, spoken to over tcp."""
    door = TcpDoor(Path(docker_host.removeprefix("unix://")))
    await door.start()
    engine = DockerEngine(home_id, calls, {"DOCKER_HOST": f"tcp://127.0.0.1:{door.port}"})
    yield engine
    await engine.close()
    await door.cut()


@pytest.mark.skipif(not _is_new_enough(usual_runtime().python), reason="this system's own Python is older than 3.11")
async def test_the_proxy_of_a_far_engine_refuses_and_tells(far_engine: DockerEngine, sandboxes: Sandboxes) -> None:
    spec = sandboxes.script("sleep 600", network="allowlist", allowed_domains=("example.org",))
    sandbox = await far_engine.create(spec, {})
    try:
        await far_engine.start(sandbox)
        ask = "printf 'CONNECT evil.org:443 HTTP/1.1\\r\\n\\r\\n' | nc -w 5 127.0.0.1 3128"
        _, answer = await far_engine.run(sandbox, ("sh", "-c", ask))
        assert answer.startswith(b"HTTP/1.1 403")
        told = await far_engine.refused(spec.session, 0, ended=False)
        assert [refusal.target for refusal in told.found] == ["evil.org:443"]
    finally:
        await far_engine.remove(sandbox)
    assert await far_engine.accompanied() == frozenset()
