"""What is typed on the screen is searched for by words: it is sent to no embedder."""

from __future__ import annotations

from services.memory import Draft
from tests.support.embedder import embedder_server
from tests.tui.screens.memory.conftest import Desk
from tui.screens.memory.places import AgentRows, FoundRows


async def test_filtering_and_searching_send_nothing_to_an_embedder(desk: Desk) -> None:
    with embedder_server() as server:
        with desk.home.config_file.open("a") as config:
            config.write(f'\n[connectors.near]\nkind = "openai"\nbase_url = "{server.url}"\nmodel = "small"\n')
        with desk.home.agent_file("reviewer").open("a") as file:
            file.write('\n[memory.vectors]\nembedder = "near"\n')
        await desk.pinfold.agents.load()
        await desk.memory().store(Draft(key="when", content="deploy on Mondays"))
        await desk.show(AgentRows("reviewer"), rows=1)
        await desk.press("slash", *"deploy", "enter")
        await desk.until(lambda: desk.screen._listing.table.total == 1)
        await desk.press("escape", "s")
        await desk.press(*"deploy", "enter")
        await desk.until(lambda: isinstance(desk.screen._listing.place, FoundRows) and desk.table.total)
        assert "deploy" not in server.texts
