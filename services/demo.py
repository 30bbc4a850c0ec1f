"""A home to look around in: example agents, and what they remember."""

from __future__ import annotations

from services.agents import InitResult, init_home
from services.home import BlockingCalls, Home
from services.pinfold import Pinfold


async def init_demo(home: Home, calls: BlockingCalls) -> InitResult:
    """Make a demo home, or complete one; what is there already is never changed, so it may be run again.

    Raises:
        ConfigError: The home is in use for something else.
        PinfoldError: Something cannot be written.
    """
    result = await init_home(home, demo=True, calls=calls)
    if home.config_file in result.created:
        from services.memory.examples import store_examples

        async with Pinfold.open(home, supervise=False, engines={}) as pinfold:
            await store_examples(pinfold.memory, pinfold.agent_memories, pinfold.core_memory)
    return result
