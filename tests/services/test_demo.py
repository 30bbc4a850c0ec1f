"""A demo home has something to look at in its memory, and what an operator makes of it stays."""

from __future__ import annotations

from services.demo import init_demo
from services.home import BlockingCalls, Home
from services.memory import Listing, Scope, masked
from services.pinfold import Pinfold


async def test_the_demo_s_agents_remember_something_and_nothing_of_it_comes_back(home: Home) -> None:
    calls = BlockingCalls()
    try:
        await init_demo(home, calls)
        async with Pinfold.open(home, supervise=False, engines={}) as pinfold:
            keys = pinfold.memory.namespace(Scope.parse("user:you"))
            rows = await pinfold.agent_memories.of("researcher").listed(Listing())
            assert await keys.count() > 1
            assert len(rows) > 1
            assert all(masked(row.content) == row.content for row in rows)
            await keys.clear()
        await init_demo(home, calls)
        async with Pinfold.open(home, supervise=False, engines={}) as pinfold:
            assert await pinfold.memory.namespace(Scope.parse("user:you")).count() == 0
    finally:
        calls.close()
