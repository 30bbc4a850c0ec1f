"""Agents whose memory is not in the home's database: it follows a rename, is kept by a delete and comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import product
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from services.agents import QdrantStore
from services.archives import result_of
from services.home import Home
from services.memory import Draft, Listing, Owner, Row
from services.memory.agents import new_id
from services.memory.agents.qdrant import QdrantBackend
from services.operations import OperationState
from services.pinfold import Pinfold
from tests.services.memory.agents.backends import in_this_process
from tests.services.operations.conftest import done, retried
from tests.support.postgres import PostgresServer, postgres_server
from tests.support.sessions import SHARED, World

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient

REMOTE = ("postgres", "qdrant")
KEEPING = (*REMOTE, "markdown")
ROWS = 7


class Killed(BaseException):
    """The process is gone: nothing catches it, so journal and back-end are left as they are in that moment."""


class Estate:
    """A home whose agent `worker` has its memory in one back-end.

    Args:
        world: The home.
        backend: The name of the back-end.
    """

    def __init__(self, world: World, backend: str) -> None:
        self.world = world
        self.backend = backend
        self._qdrant = in_this_process(QdrantStore(), "") if backend == "qdrant" else None
        world.agent("worker", "true", rest=f'[memory]\nbackend = "{backend}"')

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Pinfold]:
        """Open the home, as each of several processes would."""
        async with self.world.pinfold(supervise=False, engines={}) as pinfold:
            memories = pinfold.agent_memories
            if self._qdrant is not None:
                own = QdrantBackend(
                    self.world.home, QdrantStore, {}, pinfold.calls, pinfold.now, new_id, self._connected
                )
                memories.backends = {**memories.backends, "qdrant": own}
            yield pinfold
            memories.backends = {name: one for name, one in memories.backends.items() if name != "qdrant"}

    def _connected(self, _: QdrantStore, __: str) -> AsyncQdrantClient:
        assert self._qdrant is not None
        return self._qdrant


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


@pytest.fixture
def estate_of(tmp_path, request: pytest.FixtureRequest) -> Callable[[str], Estate]:
    def make(backend: str) -> Estate:
        env, shared = {}, SHARED
        if backend == "postgres":
            env = {"MEMORY_URL": request.getfixturevalue("postgres").url}
            shared += '\n[memory.postgres]\nurl_env = "MEMORY_URL"\n'
        return Estate(World(Home(tmp_path / "home"), env=env, shared=shared), backend)

    return make


async def remember(pinfold: Pinfold, alias: str = "worker", rows: int = ROWS) -> list[Row]:
    """Store rows, one of them superseded, and read them back."""
    memory = pinfold.agent_memories.of(alias)
    for number in range(rows):
        await memory.store(Draft(key=f"key {number}", content=f"what was learned, {number}", pinned=number == 1))
    await memory.supersede("key 0", "key 1")
    return await rows_of(pinfold, alias)


async def rows_of(pinfold: Pinfold, alias: str) -> list[Row]:
    """All rows of an agent, but for whose they are."""
    found = [row async for page in pinfold.agent_memories.of(alias).read_out() for row in page]
    return sorted((msgspec.structs.replace(row, agent="", agent_id="") for row in found), key=lambda row: row.key)


async def left(pinfold: Pinfold, backend: str, alias: str) -> int:
    """How many rows a back-end has of an agent that is no more."""
    owner = Owner(alias, pinfold.home.default_workspace(alias))
    return await pinfold.agent_memories.backends[backend].count(owner, Listing(superseded=True))


@pytest.mark.parametrize("backend", KEEPING)
async def test_rows_follow_a_rename(estate_of, backend: str):
    estate = estate_of(backend)
    async with estate.opened() as pinfold:
        before = await remember(pinfold)
        await done(pinfold, await pinfold.operations.plan_rename("worker", "digger"))
        assert await rows_of(pinfold, "digger") == before
        assert await left(pinfold, backend, "worker") == 0


@pytest.mark.parametrize("backend", KEEPING)
async def test_rows_are_kept_by_a_delete_go_and_come_back_under_another_alias(estate_of, backend: str):
    estate = estate_of(backend)
    async with estate.opened() as pinfold:
        before = await remember(pinfold)
        plan = await pinfold.operations.plan_delete("worker")
        assert any(effect.what == "memories" and effect.rows == ROWS for effect in plan.effects)
        operation = await done(pinfold, plan)
        assert await left(pinfold, backend, "worker") == 0
        assert (await result_of(pinfold.archives.verify(operation.archive))).intact
        opened = await pinfold.archives.open(operation.archive)
        kept = [row async for page in opened.memory() for row in page]
        assert sorted(row.key for row in kept) == [row.key for row in before]
        (counted,) = (count for count in opened.manifest.counts if count.what == "memory")
        assert (counted.before, counted.exported, counted.purged) == (ROWS, ROWS, ROWS)
        assert opened.manifest.agent.backend == backend
        await done(pinfold, await pinfold.operations.plan_restore(operation.archive, alias="digger"))
        assert await rows_of(pinfold, "digger") == before


async def test_an_agent_without_memory_is_renamed_deleted_and_restored(estate_of):
    estate = estate_of("none")
    async with estate.opened() as pinfold:
        await done(pinfold, await pinfold.operations.plan_rename("worker", "digger"))
        operation = await done(pinfold, await pinfold.operations.plan_delete("digger"))
        await done(pinfold, await pinfold.operations.plan_restore(operation.archive))
        assert pinfold.agents.get("digger").problems == ()
        plan = await pinfold.operations.plan_restore(operation.archive, part="memory")
        assert "keeps no memories" in str(plan.blockers)


@pytest.mark.parametrize("backend", KEEPING)
async def test_memory_alone_is_restored_to_an_agent_that_lost_some(estate_of, backend: str):
    estate = estate_of(backend)
    async with estate.opened() as pinfold:
        before = await remember(pinfold)
        operation = await done(pinfold, await pinfold.operations.plan_delete("worker"))
        await done(pinfold, await pinfold.operations.plan_restore(operation.archive))
        memory = pinfold.agent_memories.of("worker")
        for row in before:
            await memory.forget(row.key)
        await done(pinfold, await pinfold.operations.plan_restore(operation.archive, part="memory"))
        assert await rows_of(pinfold, "worker") == before


@pytest.mark.parametrize("backend", REMOTE)
async def test_an_alias_that_has_rows_there_is_refused_before_anything_is_done(estate_of, backend: str):
    estate = estate_of(backend)
    async with estate.opened() as pinfold:
        await remember(pinfold)
        operation = await done(pinfold, await pinfold.operations.plan_delete("worker"))
        owner = Owner("digger", pinfold.home.default_workspace("digger"))
        opened = await pinfold.archives.open(operation.archive)
        pages = [page async for page in opened.memory()]
        await pinfold.agent_memories.backends[backend].take_in(owner, pages[0])
        told = f"digger has memories of its own in {backend}: {ROWS}"
        restoring = await pinfold.operations.plan_restore(operation.archive, alias="digger")
        assert told in str(restoring.blockers)
        await done(pinfold, await pinfold.operations.plan_restore(operation.archive))
        assert told in str((await pinfold.operations.plan_rename("worker", "digger")).blockers)


async def test_a_server_that_does_not_answer_is_told_before_anything_is_done(estate_of):
    estate = estate_of("postgres")
    async with estate.opened() as pinfold:
        await remember(pinfold)
        operation = await done(pinfold, await pinfold.operations.plan_delete("worker"))
    estate.world.env["MEMORY_URL"] = "postgresql://nobody@127.0.0.1:1/none"
    async with estate.opened() as pinfold:
        plan = await pinfold.operations.plan_restore(operation.archive)
        assert "cannot be looked at" in str(plan.blockers)


@pytest.mark.parametrize("backend", REMOTE)
async def test_a_row_that_changes_after_it_was_exported_is_kept_as_it_is_then(estate_of, backend: str, monkeypatch):
    from services.operations.purging import COURSE

    estate = estate_of(backend)
    async with estate.opened() as pinfold:
        await remember(pinfold)
        memory = pinfold.agent_memories.of("worker")
        remove = COURSE.steps["remove"]

        async def change_first(run: Any) -> str:
            await memory.store(Draft(key="key 2", content="learned at the last moment"))
            return await remove(run)

        monkeypatch.setitem(COURSE.steps, "remove", change_first)
        operation = await done(pinfold, await pinfold.operations.plan_delete("worker"))
        opened = await pinfold.archives.open(operation.archive)
        kept = {row.key: row.content async for page in opened.memory() for row in page}
        assert kept["key 2"] == "learned at the last moment"
        assert len(kept) == ROWS


@pytest.mark.parametrize(("backend", "when"), [*product(KEEPING, ("before", "after")), *product(REMOTE, ("halfway",))])
async def test_a_delete_killed_while_it_removes_rows_loses_none(estate_of, backend: str, when: str, monkeypatch):
    estate = estate_of(backend)
    async with estate.opened() as pinfold:
        before = await remember(pinfold)
        with monkeypatch.context() as patch:
            _kill(patch, type(pinfold.agent_memories.backends[backend]), "purge", when)
            if backend == "markdown":
                _kill_step(patch, when)
            with pytest.raises(Killed):
                await done(pinfold, await pinfold.operations.plan_delete("worker"))
    async with estate.opened() as pinfold:
        (unfinished,) = await pinfold.operations.unfinished()
        operation = await retried(pinfold, unfinished.id)
        assert operation.state is OperationState.DONE
        assert await left(pinfold, backend, "worker") == 0
        await done(pinfold, await pinfold.operations.plan_restore(operation.archive))
        assert await rows_of(pinfold, "worker") == before


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", ["rename", "take_in"])
@pytest.mark.parametrize("backend", REMOTE)
async def test_a_rename_or_restore_killed_at_its_rows_ends_with_all_of_them(
    estate_of, backend: str, name: str, when: str, monkeypatch
):
    estate = estate_of(backend)
    async with estate.opened() as pinfold:
        before = await remember(pinfold)
        archive = ""
        if name == "take_in":
            archive = (await done(pinfold, await pinfold.operations.plan_delete("worker"))).archive
        with monkeypatch.context() as patch:
            _kill(patch, type(pinfold.agent_memories.backends[backend]), name, when)
            plan = (
                await pinfold.operations.plan_restore(archive, alias="digger")
                if archive
                else await pinfold.operations.plan_rename("worker", "digger")
            )
            with pytest.raises(Killed):
                await done(pinfold, plan)
    async with estate.opened() as pinfold:
        (unfinished,) = await pinfold.operations.unfinished()
        assert (await retried(pinfold, unfinished.id)).state is OperationState.DONE
        assert await rows_of(pinfold, "digger") == before
        assert await left(pinfold, backend, "worker") == 0


def _kill(patch: pytest.MonkeyPatch, backend: type[Any], name: str, when: str) -> None:
    """End everything before or after a method did its work, or when a purge has removed some rows only."""
    method = getattr(backend, name)

    async def dying(self: Any, owner: Owner, *more: Any) -> None:
        if when == "after":
            await method(self, owner, *more)
        elif when == "halfway":
            for row in [row async for page in self.read_out(owner) for row in page][::2]:
                await self.forget(owner, row.key)
        raise Killed

    patch.setattr(backend, name, dying)


def _kill_step(patch: pytest.MonkeyPatch, when: str) -> None:
    """End everything before or after the step that removes rows."""
    from services.operations.purging import _PURGES

    purge = _PURGES["memory"]

    async def dying(run: Any) -> str:
        if when == "after":
            await purge(run)
        raise Killed

    patch.setitem(_PURGES, "memory", dying)
