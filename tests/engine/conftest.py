"""A real Docker Engine for the tests of this folder: brought up in CI, used where one answers, else skipped."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from docker import APIClient

from services.home import BlockingCalls
from services.sandbox.engines.docker import DockerEngine
from tests.engine.sandboxes import Sandboxes

HERE = Path(__file__).parent
ENGINE_UP = HERE.parent.parent / ".ci" / "engine-up"
IN_CI = os.environ.get("CI", "") not in ("", "0", "false")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("engine")


@pytest.fixture(scope="session")
def docker_host() -> str:
    """The address of an engine that answers."""
    options = [] if IN_CI else ["--check"]
    found = subprocess.run([sys.executable, ENGINE_UP, *options], capture_output=True, text=True, check=False)
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
    build = [sys.executable, HERE / "build-test-image"]
    return subprocess.run(build, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


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
async def engine(docker_host: str, home_id: str) -> AsyncIterator[DockerEngine]:
    """The engine as a home of its own uses it."""
    calls = BlockingCalls()
    engine = DockerEngine(home_id, calls, {"DOCKER_HOST": docker_host})
    yield engine
    await engine.close()
    calls.close()


@pytest.fixture
def sandboxes(api: APIClient, image: str, home_id: str, tmp_path: Path) -> Iterator[Sandboxes]:
    """Makes specs for sandboxes of this test's home; whatever was made of them is removed after the test."""
    made = Sandboxes(home_id, image, tmp_path / "workspace")
    yield made
    remove_sandboxes(api, home_id)


def remove_sandboxes(api: APIClient, home_id: str) -> None:
    for container in api.containers(all=True, filters={"label": f"pinfold.home={home_id}"}):
        api.remove_container(container["Id"], force=True, v=True)
