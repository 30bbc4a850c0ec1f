from __future__ import annotations

import asyncio
import sqlite3
from datetime import UTC, datetime

import pytest

from services.activity import Draft, Events, SessionChanged
from services.errors import DatabaseError, SessionNotFound
from services.home import Database
from services.sandbox import transitions
from services.sandbox.model import SessionState
from services.sandbox.session_ids import new_session_id
from services.sandbox.store import SessionStore
from tests.services.sandbox.records import recorded, session


async def test_a_session_is_read_back_as_it_was_recorded(store: SessionStore):
    written = await recorded(store, prompt="Grüße 🐚", idle_timeout=1800.0)
    assert await store.get("s1") == written
    assert written == session(prompt="Grüße 🐚", idle_timeout=1800.0, revision=written.revision)


async def test_sessions_are_listed_newest_first(store: SessionStore):
    for number in (1, 3, 2):
        await recorded(store, id=f"s{number}", created_at=number)
    assert [found.id for found in await store.all()] == ["s3", "s2", "s1"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("251130-075012-k3f", "251130-075012-k3f", id="id"),
        pytest.param("worker", "251130-075013-abc", id="alias means its newest"),
        pytest.param("251130-075012", "251130-075012-k3f", id="start"),
        pytest.param("k3f", "251130-075012-k3f", id="end"),
        pytest.param("251", None, id="start of several"),
        pytest.param("", None, id="nothing"),
        pytest.param("3f", None, id="part of the end"),
        pytest.param("%", None, id="wildcard is text"),
        pytest.param("other", None, id="unknown"),
    ],
)
async def test_a_session_is_found_by_any_of_its_names(store: SessionStore, text, found):
    await recorded(store, id="251130-075012-k3f", created_at=1)
    await recorded(store, id="251130-075013-abc", created_at=2)
    if found is None:
        with pytest.raises(SessionNotFound):
            await store.resolve(text)
    else:
        assert (await store.resolve(text)).id == found


async def test_an_ambiguous_name_is_refused_with_what_it_fits(store: SessionStore):
    await recorded(store, id="251130-075012-k3f")
    await recorded(store, id="251130-075013-abc")
    with pytest.raises(SessionNotFound, match="251130-075013-abc, 251130-075012-k3f"):
        await store.resolve("251")


async def test_changes_since_a_revision_are_told_once_in_order_and_removals_too(store: SessionStore):
    await recorded(store, id="s1")
    await recorded(store, id="s2")
    first = await store.changed_since(0)
    assert [found.id for found in first.sessions] == ["s1", "s2"]
    await store.change("s1", transitions.pulling())
    await store.delete("s2", Draft("session.remove"))
    second = await store.changed_since(first.revision)
    assert ([found.id for found in second.sessions], second.removed) == (["s1"], ("s2",))
    third = await store.changed_since(second.revision)
    assert (third.sessions, third.removed, third.revision) == ((), (), second.revision)


async def test_two_processes_changing_one_session_never_both_succeed(store: SessionStore, database: Database, activity):
    other = SessionStore(database, activity, Events())
    await recorded(store)
    both = await asyncio.gather(*(each.change("s1", transitions.pulling()) for each in (store, other) * 10))
    assert sum(changed is not None for changed in both) == 1


async def test_every_change_is_published(store: SessionStore, events: Events):
    with events.listen() as listener:
        await recorded(store)
        batch = await anext(listener.batches())
    assert SessionChanged("s1") in batch


async def test_a_removed_session_takes_its_steps_along_and_is_removed_once(store: SessionStore):
    await recorded(store)
    assert await store.delete("s1", Draft("session.remove"))
    assert not await store.delete("s1", Draft("session.remove"))
    assert await store.steps("s1") == []
    with pytest.raises(SessionNotFound):
        await store.get("s1")


@pytest.mark.parametrize("damage", ["spec = '{'", "spec = '{}'", "state = 'dancing'"])
async def test_a_damaged_record_is_an_error_that_names_it(store: SessionStore, database: Database, damage):
    await recorded(store)

    def spoil(connection: sqlite3.Connection) -> None:
        connection.execute(f"UPDATE sessions SET {damage} WHERE id = 's1'")

    await database.write(spoil)
    with pytest.raises(DatabaseError, match="s1 is damaged"):
        await store.get("s1")


async def test_current_sessions_are_the_live_ones_and_those_with_a_sandbox(store: SessionStore):
    for state in SessionState:
        await recorded(store, id=f"{state}-with", state=state, sandbox="c1")
        await recorded(store, id=f"{state}-without", state=state)
    current = {found.id for found in await store.current()}
    live = {f"{state}-without" for state in SessionState if state.live}
    assert current == {f"{state}-with" for state in SessionState} | live


async def test_waiting_for_a_state_ends_when_it_is_there_or_time_is_up(store: SessionStore):
    await recorded(store)
    assert await store.until("s1", lambda found: found.state is SessionState.PULLING, within=0.05) is None
    waiting = asyncio.create_task(store.until("s1", lambda found: found.state is SessionState.PULLING))
    await store.change("s1", transitions.pulling())
    async with asyncio.timeout(5):
        reached = await waiting
    assert reached is not None
    assert reached.state is SessionState.PULLING


def test_ids_are_short_and_in_order_of_time():
    at = int(datetime(2025, 11, 30, 7, 50, 12, tzinfo=UTC).timestamp()) * 10**9
    first, second = new_session_id(lambda: at), new_session_id(lambda: at + 10**9)
    assert first < second
    assert first.startswith("251130-075012-")
    assert len(first) == 17
