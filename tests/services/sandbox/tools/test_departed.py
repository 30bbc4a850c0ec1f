"""A session whose end nobody records keeps neither its token nor the server."""

from __future__ import annotations

import pytest

from services.sandbox import SessionState
from services.sandbox.session_files import SessionFiles
from services.sandbox.tools import Grant, Token
from services.sandbox.tools.serving.departed import Departed
from tests.services.sandbox.records import recorded
from tests.services.sandbox.tools.desk import Desk


@pytest.fixture
async def token(desk: Desk) -> Token:
    return await desk.pinfold.tools.tokens.issue(Grant("s1", "worker"))


def departed(desk: Desk, *looks: frozenset[str]) -> Departed:
    """One that is told at each look which sessions are gone."""
    told = list(looks)

    async def gone(sessions: frozenset[str]) -> frozenset[str]:
        return told.pop(0) & sessions

    pinfold = desk.pinfold
    return Departed(pinfold.database, pinfold.activity, pinfold.events, pinfold.tools.tokens, gone)


S1, NONE = frozenset({"s1"}), frozenset[str]()


@pytest.mark.parametrize(
    ("looks", "voided"),
    [((S1,), False), ((NONE, S1), False), ((S1, NONE, S1), False), ((S1, S1), True), ((NONE, S1, S1), True)],
    ids=["seen once", "at the last look", "back between", "twice", "twice at last"],
)
async def test_a_token_is_void_once_its_session_was_gone_at_two_looks(
    desk: Desk, token: Token, looks: tuple[frozenset[str], ...], voided: bool
) -> None:
    looking = departed(desk, *looks)
    assert [await looking.look() for _ in looks][-1] is voided
    assert (await desk.pinfold.tools.tokens.check(token) is None) is voided
    entries = [entry for entry in await desk.pinfold.activity.recent(100) if entry.verb == "tools.revoke"]
    assert [(entry.actor, entry.agent, entry.session) for entry in entries] == [("pinfold", "worker", "s1")] * voided


async def test_an_end_that_was_recorded_meanwhile_is_not_told_again(desk: Desk, token: Token) -> None:
    looking = departed(desk, S1, S1)
    assert not await looking.look()
    await desk.end("s1")
    assert not await looking.look()
    assert "tools.revoke" not in {entry.verb for entry in await desk.pinfold.activity.recent(100)}


async def test_of_a_session_whose_engine_does_not_answer_nothing_is_concluded(desk: Desk) -> None:
    assert await desk.pinfold.sandboxes.gone(S1) == NONE


@pytest.mark.parametrize("state", [SessionState.PREPARING, SessionState.STARTING, SessionState.STOPPING])
async def test_a_start_that_nobody_is_at_is_gone(desk: Desk, state: SessionState) -> None:
    await recorded(desk.store, id="s2", state=state)
    assert await desk.pinfold.sandboxes.gone({"s2"}) == {"s2"}
    with SessionFiles.of(desk.pinfold.home, "s2").hands():
        assert await desk.pinfold.sandboxes.gone({"s2"}) == NONE
