from __future__ import annotations

from tests.support.killing import check_all, kill_at_random_moments, write_agents
from tests.support.sessions import World


async def test_ten_kills_at_random_moments_leave_every_session_consistent_and_its_output_whole(world: World):
    write_agents(world)
    await kill_at_random_moments(world, times=10, seed=2)
    async with world.pinfold() as pinfold:
        ended = await check_all(pinfold)
        assert sum(ended.values()) >= 10
        assert not pinfold.sandboxes.trouble()
