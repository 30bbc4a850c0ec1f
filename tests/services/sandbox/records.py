"""Session records for tests."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from services.sandbox.model import Limits, SandboxSpec, Session, SessionState
from services.sandbox.rows import StepChange
from services.sandbox.store import SessionStore

SPEC = SandboxSpec(
    session="s1",
    home="0123456789abcdef",
    agent="worker",
    lifecycle="oneshot",
    image="busybox",
    command=("true",),
    environment={},
    secrets=(),
    workspace="/srv/worker",
    mounts=(),
    limits=Limits(),
    network="none",
    unconfined=False,
    stop_timeout=2.0,
    output_limit=1_000_000,
)

SESSION = Session(
    id="s1",
    agent="worker",
    runner="command",
    engine="docker",
    node="local",
    image="busybox",
    lifecycle="oneshot",
    idle_timeout=None,
    confined=True,
    workspace="/srv/worker",
    state=SessionState.PREPARING,
    detail="",
    sandbox="",
    spec=SPEC,
    prompt="",
    created_at=1,
    started_at=None,
    ended_at=None,
    active_at=1,
    exit_code=None,
    out_of_memory=False,
    revision=0,
)


def session(**fields: Any) -> Session:
    """The plain record with some fields changed."""
    return replace(SESSION, **fields)


async def recorded(store: SessionStore, **fields: Any) -> Session:
    """Put the plain record with some fields changed into the database."""
    return await store.insert(session(**fields), StepChange("prepare", "running"))
