"""What is on record in the home that is pictured: sessions, engines and activity at one moment."""

from __future__ import annotations

from typing import Any

from services.activity import Entry
from services.policy import Limits, Mount
from services.sandbox import EngineStatus, Orphan, SandboxSpec, Session, SessionState, Step

SECOND = 1_000_000_000
NOW = 1_796_040_271 * SECOND
"""2026-11-30 12:04:31 UTC."""


def _session(number: str, agent: str, state: SessionState, since: float, **more: Any) -> Session:
    """One record; `since` is how many seconds ago it was made."""
    made = NOW - int(since * SECOND)
    workspace = f"/home/op/.pinfold/agents/{agent}/workspace"
    spec = SandboxSpec(
        session=number,
        home="0123456789abcdef",
        agent=agent,
        lifecycle=more.get("lifecycle", "oneshot"),
        image="busybox:latest",
        command=more.pop("command", ("sh", f"{agent}.sh")),
        environment={},
        secrets=(),
        workspace=workspace,
        mounts=(Mount(workspace, "/workspace", True), *more.pop("mounts", ())),
        limits=Limits(more.pop("memory", 512 << 20), more.pop("cpus", 1.0), 256),
        network="none",
        unconfined=False,
        stop_timeout=10.0,
        output_limit=1 << 30,
    )
    known: dict[str, Any] = {
        "id": number,
        "agent": agent,
        "runner": "command",
        "engine": "docker",
        "node": "local",
        "image": "busybox:latest",
        "lifecycle": "oneshot",
        "idle_timeout": None,
        "confined": True,
        "workspace": workspace,
        "state": state,
        "detail": "",
        "sandbox": "f" * 12,
        "spec": spec,
        "prompt": "",
        "created_at": made,
        "started_at": made + SECOND,
        "ended_at": None,
        "active_at": NOW - 2 * SECOND,
        "exit_code": None,
        "out_of_memory": False,
        "revision": 1,
    }
    return Session(**(known | more))


SESSIONS = [
    _session(
        "261130-120019-r4v",
        "reviewer",
        SessionState.RUNNING,
        252,
        lifecycle="session",
        idle_timeout=1800.0,
        prompt="Review #482",
        command=("sh", "review.sh"),
        mounts=(Mount("/home/op/.pinfold/agents/researcher/workspace", "/siblings/researcher", False),),
        memory=2 << 30,
        cpus=2.0,
    ),
    _session(
        "261130-120331-m2k",
        "builder",
        SessionState.PULLING,
        60,
        started_at=None,
        detail="busybox:latest, layer 3 of 7, 41M of 98M",
    ),
    _session(
        "261130-120402-q8c",
        "researcher",
        SessionState.STOPPING,
        29,
        detail="sent TERM, KILL in 6s",
    ),
    _session(
        "261130-094410-t7w",
        "migrator",
        SessionState.RUNNING,
        8421,
        engine="local",
        image="",
        confined=False,
        lifecycle="longrunning",
        idle_timeout=7200.0,
        command=("sh", "migrate.sh"),
    ),
    _session(
        "261130-113502-c3d",
        "builder",
        SessionState.OUT_OF_MEMORY,
        1769,
        ended_at=NOW - 1189 * SECOND,
        exit_code=137,
        out_of_memory=True,
        detail="out of memory at 512M",
    ),
    _session(
        "261130-112209-h6n",
        "researcher",
        SessionState.FAILED,
        2542,
        ended_at=NOW - 2480 * SECOND,
        exit_code=2,
        detail="exit status 2",
    ),
    _session(
        "261130-090000-a1a",
        "reviewer",
        SessionState.EXITED,
        11071,
        lifecycle="session",
        ended_at=NOW - 10800 * SECOND,
        exit_code=0,
    ),
]
ORPHAN = Orphan("docker", "9f8e7d6c5b4a", "", "old_builder", "exited")
ENGINES = (
    EngineStatus("docker", usable=True, version="20.10.24"),
    EngineStatus("local", usable=True, confined=False),
)


def steps_of(session: str) -> list[Step]:
    names = [("prepare", 0.2), ("create", 0.6), ("start", 0.3)]
    at = next(known.created_at for known in SESSIONS if known.id == session)
    steps: list[Step] = []
    for name, seconds in names:
        steps.append(Step(session, len(steps) + 1, name, "done", "", at, at + int(seconds * SECOND)))
        at += int(seconds * SECOND)
    return [*steps, Step(session, 4, "run", "running", "", at, None)]


START, STOP = "session.start", "session.terminate"
ENTRIES = [
    Entry(1, NOW - 8421 * SECOND, "operator", START, "migrator", "261130-094410-t7w", "done", "command on local"),
    Entry(2, NOW - 1189 * SECOND, "pinfold", "session.end", "builder", "261130-113502-c3d", "failed", "out of memory"),
    Entry(3, NOW - 252 * SECOND, "operator", START, "reviewer", "261130-120019-r4v", "done", "command on docker"),
    Entry(4, NOW - 120 * SECOND, "operator", START, "nightly", "", "refused", "nightly is disabled"),
    Entry(5, NOW - 4 * SECOND, "operator", STOP, "researcher", "261130-120402-q8c", "done", "sent TERM"),
]
