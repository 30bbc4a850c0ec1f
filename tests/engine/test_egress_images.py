"""What doors and proxies are made of is brought to an engine once, and leaves nothing there to be pruned."""

from __future__ import annotations

import io
import secrets
import tarfile
from collections.abc import Callable
from typing import Any

import pytest
from docker import APIClient

from services.sandbox.egress import REPOSITORY, Bundle, own_runtime, saved_image
from services.sandbox.engines.docker import DockerEngine
from services.sandbox.engines.docker.container import name_of
from services.sandbox.engines.docker.egress import EGRESS_LABEL, EGRESS_SESSION_LABEL
from services.sandbox.engines.docker.egress_image import LABELS, bring_image

Load = Callable[[str], str]
"""Loads an image of another version under a name, and returns its id."""


@pytest.fixture
def load(api: APIClient) -> Load:
    def load(name: str) -> str:
        written = io.BytesIO()
        with tarfile.open(fileobj=written, mode="w") as archive:
            archive.addfile(tarfile.TarInfo(secrets.token_hex(8)))
        for _ in api.load_image(saved_image(written.getvalue(), name, api.version()["Arch"], LABELS)):
            continue
        return str(api.inspect_image(name)["Id"])

    return load


def ids(api: APIClient) -> set[str]:
    images: list[dict[str, Any]] = api.images(filters={"label": "pinfold.image=egress"})
    return {image["Id"] for image in images}


def test_brought_again_it_is_the_same_image(api: APIClient) -> None:
    bundle = Bundle(own_runtime())
    bring_image(api, bundle)
    first = api.inspect_image(bundle.image)["Id"]
    bring_image(api, bundle)
    assert api.inspect_image(bundle.image)["Id"] == first
    assert ids(api) == {first}


def test_those_of_other_versions_go_when_a_new_one_comes_with_a_name_or_without(api: APIClient, load: Load) -> None:
    others = {load(f"{REPOSITORY}:other"), load(f"{REPOSITORY}:other"), load(f"{REPOSITORY}:another")}
    assert len(others) == 3  # the first has lost its name to the second
    bring_image(api, Bundle(own_runtime()))
    assert not others & ids(api)


async def test_one_that_is_in_use_goes_with_the_last_that_uses_it(
    api: APIClient, load: Load, engine: DockerEngine, home_id: str
) -> None:
    bundle = Bundle(own_runtime())
    name = f"{REPOSITORY}:{secrets.token_hex(4)}"
    other = load(name)
    labels = {EGRESS_LABEL: home_id, EGRESS_SESSION_LABEL: "s1"}
    api.create_container(name, command=["/none"], name=f"{name_of(home_id, 's1')}-door", labels=labels)
    bring_image(api, bundle)
    assert other in ids(api)
    await engine.dismiss("s1")
    assert other not in ids(api)
    assert api.inspect_image(bundle.image)
