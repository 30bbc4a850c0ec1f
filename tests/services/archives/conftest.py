"""Archives in a home of their own, and agents to make them of."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from services.activity import ActivityLog, Events
from services.archives import Archive, ArchiveDraft, ArchiveKind, Archives, Limits, OpenArchive, Sealing, result_of
from services.home import BlockingCalls, Database, Home, connect
from services.home.migrations import migrate
from tests.services.archives.rows import rows_of, some_rows

SECOND = 1_000_000_000


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_800_000_000 * SECOND

    def __call__(self) -> int:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def calls() -> Iterator[BlockingCalls]:
    calls = BlockingCalls()
    yield calls
    calls.close()


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with its tables, to be copied: making them takes longer than most of these tests."""
    file = tmp_path_factory.mktemp("database") / "pinfold.db"
    connection = connect(file)
    migrate(connection)
    connection.close()
    return file


@pytest.fixture
async def database(home: Home, empty_database: Path) -> AsyncIterator[Database]:
    home.state_dir.mkdir(parents=True)
    shutil.copy(empty_database, home.database_file)
    async with Database(home.database_file) as database:
        yield database


@pytest.fixture
def activity(database: Database, clock: Clock) -> ActivityLog:
    return ActivityLog(database, Events(), clock)


Limited = Callable[[Limits], Archives]


@pytest.fixture
def limited(home: Home, database: Database, activity: ActivityLog, calls: BlockingCalls, clock: Clock) -> Limited:
    """Makes archives that take others for bombs sooner."""
    return lambda limits: Archives(home, database, activity, Events(), calls, clock, limits)


@pytest.fixture
def archives(limited: Limited) -> Archives:
    return limited(Limits())


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A small workspace with a file, a folder and links."""
    place = tmp_path / "workspace"
    (place / "src").mkdir(parents=True)
    (place / "src" / "app.py").write_text("print('hello')\n")
    (place / "notes.md").write_text("# Notes\n")
    (place / "link").symlink_to("src/app.py")
    (place / "twin").hardlink_to(place / "notes.md")
    return place


Kept = Callable[..., Awaitable[Archive]]


@pytest.fixture
def kept(archives: Archives, workspace: Path) -> Kept:
    """Makes a sealed archive of an alias."""

    async def make(alias: str = "bot", place: Path | None = None, rows: int = 3) -> Archive:
        writer = await archives.create(ArchiveDraft(ArchiveKind.DELETE, alias, uuid="u1"))
        await result_of(writer.write_agent_file(b"[agent]\nenabled = true\n"))
        await result_of(writer.pack_workspace(place or workspace))
        await result_of(writer.write_memory(rows_of(some_rows(rows))))
        return await writer.seal(Sealing())

    return make


@pytest.fixture
async def opened(archives: Archives, kept: Kept) -> OpenArchive:
    """A sealed archive of the small workspace."""
    return await archives.open((await kept()).id)
