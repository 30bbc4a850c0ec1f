"""Quiet connections wait together: each is woken once for what came within a moment."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from services.sandbox.engines.docker.rounds import Rounds

MOMENT = 0.05
WAIT = 20.0


@pytest.fixture
def pairs() -> Iterator[list[tuple[socket.socket, socket.socket]]]:
    """Forty connections, each as its two ends."""
    with ExitStack() as opened:
        made = [socket.socketpair() for _ in range(40)]
        for pair in made:
            for end in pair:
                opened.enter_context(end)
        yield made


@pytest.fixture
async def rounds() -> Rounds:
    return Rounds(MOMENT)


async def test_one_look_wakes_all_that_have_something_and_no_other(rounds: Rounds, pairs):
    waiting = [rounds.wait(here.fileno()) for here, _ in pairs]
    for _, there in pairs[:30]:
        there.send(b"something")
    async with asyncio.timeout(WAIT):
        await asyncio.gather(*waiting[:30])
    assert not any(future.done() for future in waiting[30:])
    rounds.close()


async def test_what_comes_within_the_moment_is_read_in_one_piece(rounds: Rounds, pairs):
    here, there = pairs[0]
    loop = asyncio.get_running_loop()
    waiting = rounds.wait(here.fileno())
    there.send(b"first ")
    loop.call_later(MOMENT / 5, there.send, b"second")
    async with asyncio.timeout(WAIT):
        await waiting
    assert here.recv(100) == b"first second"
    rounds.close()


async def test_the_end_of_a_connection_wakes_too(rounds: Rounds, pairs):
    here, there = pairs[0]
    waiting = rounds.wait(here.fileno())
    there.close()
    async with asyncio.timeout(WAIT):
        await waiting
    rounds.close()


async def test_a_connection_that_is_left_is_not_looked_at_and_may_come_again(rounds: Rounds, pairs):
    (here, there), (other, other_end) = pairs[:2]
    left, kept = rounds.wait(here.fileno()), rounds.wait(other.fileno())
    rounds.leave(here.fileno())
    there.send(b"1")
    other_end.send(b"1")
    async with asyncio.timeout(WAIT):
        await kept
        assert not left.done()
        await rounds.wait(here.fileno())
    rounds.leave(here.fileno())
    rounds.close()


async def test_closing_wakes_whoever_waits(rounds: Rounds, pairs):
    waiting = [rounds.wait(here.fileno()) for here, _ in pairs]
    rounds.close()
    async with asyncio.timeout(WAIT):
        await asyncio.gather(*waiting)
    rounds.close()
