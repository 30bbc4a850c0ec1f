"""The tab that lists who points at an agent."""

from __future__ import annotations

from tests.support.sessions import started
from tests.tui.conftest import screens, until
from tests.tui.screens.agents.conftest import agents, until_shown


async def test_hard_and_soft_references_are_listed_with_file_line_and_what_to_do(world) -> None:
    world.agent("worker", "sleep 60")
    world.agent("lead", "true", rest='[memory]\nread_memory_from = ["worker"]')
    async with world.pinfold() as pinfold:
        session = await started(pinfold, "worker")
    async with screens(world, (200, 60)) as (app, pilot):
        await until(lambda: app.store.agent("worker") is not None, pilot)
        agents(app).show_agent("worker")
        agents(app)._detail.turn_to("references")
        await until_shown(app, pilot, "lead reads its memory")
        await until_shown(app, pilot, f"✗ hard  session {session.id} is running")
        await until_shown(app, pilot, "Stop it: pinfold sessions stop")
        await until_shown(app, pilot, "  soft  lead reads its memory")
        await until_shown(app, pilot, "lead/agent.toml:")
        agents(app).show_agent("lead")
        await until_shown(app, pilot, "Nothing names it")
