"""Fixtures of the home's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from services.home import Database, Home
from tests.services.home import small_disk as disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    disk.mount(str(place))
    yield place
    disk.unmount(str(place))


@pytest.fixture
async def database(home: Home) -> AsyncIterator[Database]:
    async with Database(home.database_file) as database:
        yield database
