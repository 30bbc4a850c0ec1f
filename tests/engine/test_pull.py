"""Images fetched from a registry, layer by layer, or said to be missing with the registry's reason."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import random
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from docker import APIClient
from docker.errors import ImageNotFound

from services.errors import ImageMissing
from services.sandbox.engines.docker import DockerEngine
from services.sandbox.engines.engine import PullProgress
from tests.engine.conditions import eventually
from tests.engine.registry import Registry


def layers() -> list[bytes]:
    """Three layers nobody has pulled before, the first large enough to be seen coming."""
    chance = random.Random()
    return [chance.randbytes(6 * 1024 * 1024), chance.randbytes(1000), b"small"]


@pytest.fixture
def registry(api: APIClient) -> Iterator[Registry]:
    registry = Registry(layers())
    yield registry
    registry.close()
    forget(api, registry.image)


def forget(api: APIClient, image: str) -> None:
    try:
        api.remove_image(image)
    except ImageNotFound:
        return


async def test_progress_grows_layer_by_layer_to_the_whole(engine: DockerEngine, registry: Registry) -> None:
    assert not await engine.has_image(registry.image)
    steps = [step async for step in engine.pull(registry.image)]
    assert await engine.has_image(registry.image)
    for earlier, later in itertools.pairwise(steps):
        assert (earlier.done, earlier.received, earlier.layers) <= (later.done, later.received, later.layers)
        assert earlier.received <= later.received
    last = steps[-1]
    assert (last.image, last.layers, last.done) == (registry.image, 3, 3)
    assert last.received == last.size >= 6 * 1024 * 1024
    assert any(0 < step.received < step.size for step in steps)


async def test_pulling_what_is_here_ends_at_once(engine: DockerEngine, registry: Registry) -> None:
    async for _ in engine.pull(registry.image):
        pass
    steps = [step async for step in engine.pull(registry.image)]
    assert all(step.received == step.size for step in steps)


async def test_a_pull_that_is_given_up_stops_the_engine_too(engine: DockerEngine, registry: Registry) -> None:
    registry.pause.clear()
    pulling = asyncio.create_task(last_step(engine, registry.image))
    await eventually(lambda: any("/blobs/" in path for path in registry.requests))
    pulling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await pulling
    registry.pause.set()
    await eventually(registry.abandoned.is_set)
    assert not await engine.has_image(registry.image)


async def last_step(engine: DockerEngine, image: str) -> PullProgress | None:
    last = None
    async with aclosing(engine.pull(image)) as steps:
        async for step in steps:
            last = step
    return last


async def test_what_docker_login_stored_is_used(
    engine: DockerEngine, api: APIClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = Registry(layers()[1:], user="operator", password="s3cret")
    try:
        with pytest.raises(ImageMissing) as raised:
            await last_step(engine, registry.image)
        assert registry.image in raised.value.what
        auth = base64.b64encode(b"operator:s3cret").decode()
        host = registry.image.partition("/")[0]
        (tmp_path / "config.json").write_text(json.dumps({"auths": {host: {"auth": auth}}}))
        monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
        await last_step(engine, registry.image)
        assert await engine.has_image(registry.image)
    finally:
        registry.close()
        forget(api, registry.image)


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        pytest.param("127.0.0.1:1/some/image:1", "connection refused", id="no registry"),
        pytest.param("no.such.host.invalid/some/image", "no such host", id="no host"),
        pytest.param("Not:An:Image", "invalid reference format", id="no image name"),
    ],
)
async def test_an_image_that_cannot_be_had_is_named_with_the_reason(
    engine: DockerEngine, image: str, reason: str
) -> None:
    with pytest.raises(ImageMissing) as raised:
        await last_step(engine, image)
    assert image in raised.value.what
    assert reason in raised.value.why
    assert raised.value.fix


async def test_an_image_the_registry_does_not_know_is_named_with_its_words(
    engine: DockerEngine, registry: Registry
) -> None:
    image = registry.image.replace("some/image", "other/image")
    with pytest.raises(ImageMissing, match="manifest unknown") as raised:
        await last_step(engine, image)
    assert image in raised.value.what
