"""Refusals come into the activity log once, whoever of several Pinfolds takes them in."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from services.activity import ActivityLog, Events
from services.home import Database, Home
from services.sandbox.egress import Refusal
from services.sandbox.engines.engine import Refusals
from services.sandbox.engines.local import LocalEngine
from services.sandbox.model import Session, SessionState
from services.sandbox.refused_hosts import RefusedHosts
from services.sandbox.roster import EngineRoster
from services.sandbox.rows import StepChange
from services.sandbox.store import SessionStore
from tests.services.sandbox.records import SPEC, session


class Telling(LocalEngine):
    """An engine that has refused things."""

    told: list[tuple[int, Refusal]]
    asked = 0

    async def refused(self, session: str, after: int, *, ended: bool) -> Refusals:
        self.asked += 1
        found = [(at, refusal) for at, refusal in self.told if at > after]
        position = max((at for at, _ in found), default=after)
        return Refusals(tuple(refusal for _, refusal in found), position, ended)


@pytest.fixture
def engine(home: Home) -> Telling:
    engine = Telling(home, "0123456789abcdef")
    engine.told = [(5, Refusal("evil.org:443", "no entry names evil.org")), (7, Refusal("evil.net:80", "no", 3))]
    return engine


@pytest.fixture
async def kept(store: SessionStore) -> Session:
    draft = session(engine="local", spec=replace(SPEC, network="allowlist"))
    return await store.insert(draft, StepChange("prepare", "running"))


@pytest.fixture
def refused(database: Database, activity: ActivityLog, events: Events, engine: Telling) -> RefusedHosts:
    return RefusedHosts(database, activity, events, EngineRoster({"local": engine}, events))


async def details(activity: ActivityLog) -> list[str]:
    return [entry.detail for entry in await activity.recent()]


async def test_each_is_logged_once_as_the_agents(refused: RefusedHosts, activity: ActivityLog, kept: Session) -> None:
    await refused.take_in(kept)
    await refused.take_in(kept)
    assert await details(activity) == ["evil.org:443: no entry names evil.org", "evil.net:80: no (3 times)"]
    entry = (await activity.recent())[0]
    assert (entry.actor, entry.verb, entry.outcome) == ("agent:worker", "network.reach", "refused")
    assert (entry.agent, entry.session) == ("worker", kept.id)


async def test_what_comes_later_is_added_also_by_another_pinfold(
    refused: RefusedHosts, database: Database, activity: ActivityLog, events: Events, engine: Telling, kept: Session
) -> None:
    await refused.take_in(kept)
    engine.told.append((9, Refusal("later.org:443", "no")))
    await RefusedHosts(database, activity, events, EngineRoster({"local": engine}, events)).take_in(kept)
    await refused.take_in(kept)
    assert (await details(activity))[2:] == ["later.org:443: no"]


async def test_a_complete_session_is_not_asked_about_again(
    refused: RefusedHosts, engine: Telling, kept: Session
) -> None:
    await refused.take_in(kept)
    over = replace(kept, state=SessionState.EXITED)
    await refused.take_in(over)
    await refused.take_in(over)
    assert engine.asked == 2


async def test_sessions_without_an_allowlist_are_never_asked_about(
    refused: RefusedHosts, engine: Telling, store: SessionStore
) -> None:
    await refused.take_in(await store.insert(session(engine="local"), StepChange("prepare", "running")))
    assert engine.asked == 0
