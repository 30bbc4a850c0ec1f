from __future__ import annotations

from collections.abc import Callable

import pytest

from services.activity import ActivityLog
from services.sandbox import transitions, upkeep
from services.sandbox.engines.engine import SandboxState
from services.sandbox.model import SessionState
from services.sandbox.rows import StepChange
from services.sandbox.store import Decide, SessionStore
from tests.services.sandbox.records import recorded, session

S = SessionState
STARTING_STATES = (S.PREPARING, S.PULLING, S.CREATING, S.STARTING)
ENDED_STATES = tuple(state for state in S if state.ended)
EXITED = SandboxState(id="c1", session="s1", agent="worker", status="exited", exit_code=0)

MOVES: dict[str, tuple[Callable[[], Decide], dict[SessionState, SessionState]]] = {
    "image is missing": (transitions.pulling, {S.PREPARING: S.PULLING}),
    "image is here": (lambda: transitions.creating("e1"), {S.PREPARING: S.CREATING, S.PULLING: S.CREATING}),
    "sandbox was made": (lambda: transitions.starting("c1"), {S.CREATING: S.STARTING}),
    "main process goes": (lambda: transitions.running(5, ""), {S.STARTING: S.RUNNING}),
    "start fails": (
        lambda: transitions.not_started(5, "why", cancelled=False),
        dict.fromkeys(STARTING_STATES, S.FAILED) | {S.STOPPING: S.STOPPED},
    ),
    "start is cancelled": (
        lambda: transitions.not_started(5, "why", cancelled=True),
        dict.fromkeys((*STARTING_STATES, S.STOPPING), S.STOPPED),
    ),
    "stop is asked for": (
        lambda: transitions.stopping(5, "session.stop", "operator", "stopping"),
        dict.fromkeys((*STARTING_STATES, S.RUNNING), S.STOPPING),
    ),
}
RAN_MOVES: dict[str, tuple[Callable[[], Decide], dict[SessionState, SessionState]]] = {
    "will not stop": (lambda: transitions.not_stopped("why"), {S.STOPPING: S.RUNNING}),
    "ends": (lambda: transitions.ended(EXITED, 5), {S.RUNNING: S.EXITED, S.STOPPING: S.STOPPED}),
    "is lost": (lambda: transitions.lost(5, "why"), {S.RUNNING: S.LOST, S.STOPPING: S.LOST}),
}


def cases() -> list[object]:
    found: list[object] = []
    for ran, moves in ((False, MOVES), (True, RAN_MOVES)):
        for name, (decision, expected) in moves.items():
            for state in S:
                became = expected.get(state)
                found.append(
                    pytest.param(decision, state, ran, became, id=f"{name}: {state} -> {became or 'no change'}")
                )
    return found


@pytest.mark.parametrize(("decision", "state", "ran", "became"), cases())
def test_a_session_goes_only_the_ways_of_the_table(decision, state, ran, became):
    update = decision()(session(state=state, started_at=3 if ran else None), ())
    assert (None if update is None else update.session.state) == became


async def test_of_two_who_ask_for_a_stop_one_is_told_to_do_it_and_one_entry_is_logged(
    store: SessionStore, activity: ActivityLog
):
    await recorded(store, state=S.RUNNING, started_at=3)
    ask = transitions.stopping(5, "session.stop", "operator", "stopping")
    assert await store.change("s1", ask) is not None
    assert await store.change("s1", ask) is None
    assert [entry.verb for entry in await activity.recent()] == ["session.stop"]


async def test_an_end_is_recorded_once_with_its_steps_closed(store: SessionStore, activity: ActivityLog):
    await recorded(store, state=S.STARTING, sandbox="c1")
    await store.change("s1", transitions.running(5, ""))
    await store.change("s1", transitions.stopping(5, "session.stop", "operator", "stopping"))
    await store.change("s1", transitions.rung("interrupt", "running", "interrupted", verb="session.interrupt"))
    assert await store.change("s1", transitions.ended(EXITED, 9)) is not None
    assert await store.change("s1", transitions.ended(EXITED, 9)) is None
    assert [(step.name, step.state) for step in await store.steps("s1")] == [
        ("prepare", "done"),
        ("start", "done"),
        ("run", "done"),
        ("interrupt", "done"),
    ]
    assert [entry.verb for entry in await activity.recent()] == [
        "session.start",
        "session.stop",
        "session.interrupt",
        "session.end",
    ]


async def test_a_failed_start_leaves_no_step_running_and_tells_why_at_the_step(store: SessionStore):
    await recorded(store)
    await store.change("s1", transitions.pulling())
    await store.change("s1", transitions.not_started(5, "no such image", cancelled=False))
    assert [(step.name, step.state, step.detail) for step in await store.steps("s1")] == [
        ("prepare", "done", ""),
        ("pull", "failed", "no such image"),
    ]


async def test_a_cleanup_that_fails_keeps_the_session_listed_with_the_reason_until_it_works(store: SessionStore):
    await recorded(store, state=S.FAILED, sandbox="c1", detail="status 3", started_at=3)
    await store.change("s1", upkeep.not_cleaned("the engine is away"))
    failed = await store.get("s1")
    assert failed.sandbox == "c1"
    assert failed.detail == "status 3; its sandbox could not be removed: the engine is away"
    assert await store.change("s1", upkeep.not_cleaned("the engine is away")) is None
    await store.change("s1", upkeep.cleaned("c1", "oneshot"))
    done = await store.get("s1")
    assert (done.sandbox, done.detail) == ("", "status 3")


@pytest.mark.parametrize("state", ENDED_STATES, ids=str)
def test_a_sandbox_is_cleaned_only_while_it_is_the_recorded_one(state):
    ended = session(state=state, sandbox="c1", started_at=3)
    assert upkeep.cleaned("c1", "why")(ended, ()) is not None
    assert upkeep.cleaned("c2", "why")(ended, ()) is None
    assert upkeep.cleaned("", "why")(session(state=state), ()) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("a\nb\t c", "a b c", id="white space"),
        pytest.param("x\udcffy", "x?y", id="undecodable"),
        pytest.param("x" * 3000, "x" * 1999 + "…", id="long"),
    ],
)
def test_a_detail_is_one_line_that_the_database_can_hold(text, line):
    assert transitions.one_line(text) == line


async def test_a_step_of_the_same_name_goes_on_while_it_runs_and_begins_anew_after_its_end(store: SessionStore):
    await recorded(store, state=S.STARTING)
    for state in ("running", "running", "done", "running"):
        await store.change("s1", transitions.progress(StepChange("prepare", state, "x"), "x"))
    assert [(step.number, step.state) for step in await store.steps("s1")] == [(1, "done"), (2, "running")]
