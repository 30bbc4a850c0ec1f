"""Events wait for their listener, equal ones once."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from services.activity import ActivityGrew, AgentsChanged, Event, Events, SessionChanged


async def test_equal_events_that_wait_are_told_once_in_order_of_arrival() -> None:
    events = Events()
    with events.listen() as listener:
        for event in (SessionChanged("a"), AgentsChanged(), SessionChanged("b"), SessionChanged("a")):
            events.publish(event)
        async with aclosing(listener.batches()) as batches:
            assert await anext(batches) == (SessionChanged("a"), AgentsChanged(), SessionChanged("b"))


async def test_what_comes_while_a_listener_is_busy_comes_with_its_next_batch() -> None:
    events = Events()
    with events.listen() as listener:
        async with aclosing(listener.batches()) as batches:
            events.publish(ActivityGrew())
            assert await anext(batches) == (ActivityGrew(),)
            events.publish(ActivityGrew())
            events.publish(AgentsChanged("a"))
            assert await anext(batches) == (ActivityGrew(), AgentsChanged("a"))


async def test_a_pause_between_batches_gathers_more() -> None:
    events = Events()
    loop = asyncio.get_running_loop()
    with events.listen() as listener:
        async with aclosing(listener.batches(pause=0.05)) as batches:
            events.publish(SessionChanged("a"))
            await anext(batches)
            began = loop.time()
            events.publish(SessionChanged("a"))
            loop.call_later(0.01, events.publish, SessionChanged("b"))
            assert await anext(batches) == (SessionChanged("a"), SessionChanged("b"))
            assert loop.time() - began >= 0.05


async def test_every_listener_hears_everything_while_it_listens_and_nothing_after() -> None:
    events = Events()
    heard: list[tuple[Event, ...]] = []

    async def hear() -> None:
        with events.listen() as listener:
            async with aclosing(listener.batches()) as batches:
                heard.append(await anext(batches))

    listeners = [asyncio.create_task(hear()) for _ in range(3)]
    await asyncio.sleep(0)
    events.publish(AgentsChanged("a"))
    await asyncio.gather(*listeners)
    events.publish(AgentsChanged("b"))
    assert heard == [(AgentsChanged("a"),)] * 3


async def test_publishing_without_listeners_is_harmless() -> None:
    Events().publish(ActivityGrew())
