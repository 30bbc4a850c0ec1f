"""Delete, look, verify, restore: from the screens alone."""

from __future__ import annotations

import tomllib

from tests.tui.conftest import screens, shown, until
from tests.tui.screens.archives.conftest import (
    LEAD,
    agree,
    open_agents,
    open_archives,
    until_shown,
)
from tui.screens.operations.restoring import RestorePlan


async def test_a_deleted_agent_is_looked_at_verified_and_comes_back_as_it_was(staffed) -> None:
    file, lead = staffed.home.agent_file("worker"), staffed.home.agent_file("lead")
    before = file.read_bytes()
    async with screens(staffed, (200, 60)) as (app, pilot):
        await open_agents(app, pilot, "worker")
        await pilot.press("D")
        await until_shown(app, pilot, "Delete worker", "lead may reach its workspace (read)  lead/agent.toml:7")
        await until_shown(app, pilot, "3 rows", "Point of no return: take the agent out of the agents")
        await agree(app, pilot)
        await until_shown(app, pilot, "restores it")
        assert not file.exists()
        assert "worker" not in lead.read_text().replace("# the worker builds", "")

        screen = await open_archives(app, pilot)
        await until_shown(app, pilot, "delete worker", "memory                         3     3        3")
        await until_shown(app, pilot, 'lead  workspace.access.worker = "read"', "never; v recomputes every checksum")
        await pilot.press("enter", "G", "k", "k", "k")
        await until(
            lambda: screen._detail.contents.node is not None and "memory" in screen._detail.contents.node.key, pilot
        )
        await until_shown(app, pilot, "fact1  core  the sky is blue 1", "odd<202E>name")
        assert "\x1b" not in shown(app)
        await pilot.press("v")
        await until_shown(app, pilot, "intact  every byte is as it was", "as it was   memory.jsonl")

        await pilot.press("u")
        await until_shown(app, pilot, "PUT BACK IN", "workspace.access.worker")
        assert isinstance(app.screen, RestorePlan)
        app.screen._references.focus()
        await pilot.press("space", "space", "space")
        await until_shown(app, pilot, "put back what lead said of it", "WHAT FILES WILL SAY")
        await agree(app, pilot)
        await until(lambda: app.store.agent("worker") is not None and not app.underway.running, pilot)
        assert file.read_bytes() == before
        assert tomllib.loads(lead.read_text()) == tomllib.loads(LEAD)
        memory = app.pinfold.agent_memories.of("worker")
        assert await memory.count() == 3
