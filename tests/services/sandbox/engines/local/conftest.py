"""A bench for every test, unconfined and confined; nothing a test started may be left running."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.services.sandbox.engines.local.bench import Bench, bubblewrap_works

IN_CI = os.environ.get("CI", "") not in ("", "0", "false")


@pytest.fixture(scope="session")
def bubblewrap() -> None:
    """Bubblewrap, in CI without fail."""
    if not bubblewrap_works():
        if IN_CI:
            pytest.fail("bubblewrap does not work", pytrace=False)
        pytest.skip("bubblewrap is not installed or does not work here")


@asynccontextmanager
async def _bench(folder: Path, *, confined: bool) -> AsyncIterator[Bench]:
    bench = Bench(folder, confined=confined)
    yield bench
    await bench.close()
    assert bench.left_running() == []


@pytest.fixture(params=["unconfined", "confined"])
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Bench]:
    if request.param == "confined":
        request.getfixturevalue("bubblewrap")
    async with _bench(tmp_path, confined=request.param == "confined") as bench:
        yield bench


@pytest.fixture
async def unconfined(tmp_path: Path) -> AsyncIterator[Bench]:
    async with _bench(tmp_path, confined=False) as bench:
        yield bench


@pytest.fixture
async def confined(bubblewrap: None, tmp_path: Path) -> AsyncIterator[Bench]:
    async with _bench(tmp_path, confined=True) as bench:
        yield bench
