"""Calls that wait are listed and answered from a script."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from services.home import Home
from services.pinfold import Pinfold
from services.sandbox.model import SessionState
from services.sandbox.store import SessionStore
from services.sandbox.tools import Answer, Reply
from tests.services.sandbox.records import recorded
from tests.tui.verbs.conftest import Command


async def answered(home: Home, with_number: Callable[[int], Awaitable[None]]) -> Reply:
    """Let something be asked, have it answered, and return what the asker gets."""
    async with Pinfold.open(home, supervise=False) as opened:
        store = SessionStore(opened.database, opened.activity, opened.events)
        await recorded(store, state=SessionState.RUNNING, sandbox="c1", started_at=1)
        asking = asyncio.ensure_future(
            opened.approvals.ask("s1", "worker", "memory_store", summary="key=\x1b[31m", reason="asked", seconds=60)
        )
        async with asyncio.timeout(20):
            while not (waiting := await opened.approvals.waiting()):
                await asyncio.sleep(0.01)
        await with_number(waiting[0].number)
        return await asking


async def test_what_waits_is_listed_and_allowed(pinfold: Command) -> None:
    async def allow(number: int) -> None:
        listed = (await asyncio.to_thread(pinfold.in_process, "approvals", "list")).stdout.decode()
        assert "memory_store" in listed
        assert "\x1b" not in listed
        done = await asyncio.to_thread(pinfold.in_process, "approvals", "allow", str(number), "--json")
        assert b'"tool": "memory_store"' in done.stdout

    assert await answered(pinfold.home, allow) == Reply(Answer.ALLOWED)


async def test_what_waits_is_refused(pinfold: Command) -> None:
    async def refuse(number: int) -> None:
        await asyncio.to_thread(pinfold.in_process, "approvals", "refuse", str(number), "--reason", "not today")

    assert await answered(pinfold.home, refuse) == Reply(Answer.REFUSED, "not today")


def test_what_does_not_wait_cannot_be_answered(pinfold: Command) -> None:
    assert "cannot be answered" in pinfold("approvals", "allow", "7", status=1).stderr
    assert pinfold.json("approvals", "list") == []
