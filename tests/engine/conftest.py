"""A real Docker Engine for the tests of this folder: brought up in CI, used where one answers, else skipped."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from docker import APIClient

from services.home import BlockingCalls
from services.sandbox.engines.docker import DockerEngine
from tests.engine.images import images_removed_at_last
from tests.engine.private_engine import PrivateEngine
from tests.engine.sandboxes import Sandboxes
from tests.engine.socket_proxy import SocketProxy
from tests.engine.spools import Spool

HERE = Path(__file__).parent
ENGINE_UP = HERE.parent.parent / ".ci" / "engine-up"
IN_CI = os.environ.get("CI", "") not in ("", "0", "false")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("engine")


@pytest.fixture(scope="session")
def docker_host() -> Iterator[str]:
    """The address of an engine that answers; what tests brought to it is removed after the last of them."""
    host = find_engine()
    with images_removed_at_last(host):
        yield host


def find_engine() -> str:
    command = [sys.executable, str(ENGINE_UP), *([] if IN_CI else ["--check"])]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode == 0:
        return found.stdout.strip().removeprefix("DOCKER_HOST=")
    if IN_CI:
        pytest.fail(f"no engine could be brought up: {found.stderr}", pytrace=False)
    pytest.skip("no Docker Engine answers; as root, .ci/engine-up brings one up")


@pytest.fixture(scope="session")
def image(docker_host: str) -> str:
    """A 2 MB image with busybox and nothing else."""
    return build_test_image(docker_host)


def build_test_image(host: str) -> str:
    environment = {**os.environ, "DOCKER_HOST": host}
    command = [sys.executable, str(HERE / "build-test-image")]
    built = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return str(built.stdout).strip()


@pytest.fixture(scope="session")
def api(docker_host: str) -> Iterator[APIClient]:
    """The engine as an outsider sees it, for looking and for faults."""
    client = APIClient(docker_host, version="auto", timeout=30)
    yield client
    client.close()


@pytest.fixture
def home_id() -> str:
    return secrets.token_hex(8)


@pytest.fixture
def calls() -> Iterator[BlockingCalls]:
    calls = BlockingCalls()
    yield calls
    calls.close()


@pytest.fixture
async def engine(docker_host: str, home_id: str, calls: BlockingCalls) -> AsyncIterator[DockerEngine]:
    """The engine as a home of its own uses it."""
    engine = DockerEngine(home_id, calls, {"DOCKER_HOST": docker_host})
    yield engine
    await engine.close()


@pytest.fixture
def sandboxes(api: APIClient, image: str, home_id: str, tmp_path: Path) -> Iterator[Sandboxes]:
    """Makes specs for sandboxes of this test's home; whatever was made of them is removed after the test."""
    yield Sandboxes(home_id, image, tmp_path / "workspace")
    remove_sandboxes(api, home_id)


def remove_sandboxes(api: APIClient, home_id: str) -> None:
    for container in api.containers(all=True, filters={"label": f"pinfold.home={home_id}"}):
        api.remove_container(container["Id"], force=True, v=True)


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    """Where a test's sandbox is followed to."""
    spool = Spool(tmp_path / "spool")
    yield spool
    spool.close()


@pytest.fixture(scope="session")
def private_folder(docker_host: str) -> Iterator[Path]:
    """Where an engine of the tests' own keeps its data; short, since sockets' paths have a limit."""
    if os.geteuid() != 0:
        message = "an engine of the tests' own needs root"
        pytest.fail(message, pytrace=False) if IN_CI else pytest.skip(message)
    with tempfile.TemporaryDirectory(prefix="pf") as folder:
        yield Path(folder)


@pytest.fixture
def private_engine(private_folder: Path) -> Iterator[PrivateEngine]:
    """An engine that a test may stop, kill and start again; it is up, without live-restore."""
    engine = PrivateEngine(private_folder)
    engine.start()
    build_test_image(engine.host)
    yield engine
    engine.clean_up()


@pytest.fixture
async def proxy(tmp_path: Path, docker_host: str) -> AsyncIterator[SocketProxy]:
    """Stands between Pinfold and the engine, and can be cut or frozen."""
    proxy = SocketProxy(tmp_path / "proxy.sock", Path(docker_host.removeprefix("unix://")))
    await proxy.start()
    yield proxy
    proxy.thaw()
    await proxy.cut()


@pytest.fixture
async def through_proxy(proxy: SocketProxy, home_id: str, calls: BlockingCalls) -> AsyncIterator[DockerEngine]:
    """The engine of the same home, reached through the proxy."""
    engine = DockerEngine(home_id, calls, {"DOCKER_HOST": proxy.host})
    yield engine
    await engine.close()
