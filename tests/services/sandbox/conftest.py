"""Fixtures for sessions: a store in a real database, and a home whose agents run on the local engine."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.activity import ActivityLog, Events
from services.home import Database, Home
from services.sandbox.store import SessionStore
from tests.services.sandbox.clock import Clock
from tests.support.sessions import World, cleaned_up


@pytest.fixture
def events() -> Events:
    return Events()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def database(home: Home) -> AsyncIterator[Database]:
    async with Database(home.database_file) as database:
        yield database


@pytest.fixture
def activity(database: Database, events: Events, clock: Clock) -> ActivityLog:
    return ActivityLog(database, events, clock)


@pytest.fixture
def store(database: Database, activity: ActivityLog, events: Events, clock: Clock) -> SessionStore:
    return SessionStore(database, activity, events, clock)


@pytest.fixture
async def world(home: Home) -> AsyncIterator[World]:
    """A home whose agents run on the local engine."""
    async with cleaned_up(World(home)) as world:
        yield world
