"""A home whose agents have the SDK's own client in their sandboxes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from docker import APIClient

from services.home import Home
from tests.engine.tools.clients import ClientWorld
from tests.engine.tools.python_image import build_python_image
from tests.support.sessions import cleaned_up


@pytest.fixture(scope="session")
def python_image(api: APIClient) -> str:
    return build_python_image(api)


@pytest.fixture
async def world(tmp_path: Path, docker_host: str, python_image: str) -> AsyncIterator[ClientWorld]:
    world = ClientWorld(Home(tmp_path / "home"), docker_host, python_image)
    async with cleaned_up(world):
        yield world
