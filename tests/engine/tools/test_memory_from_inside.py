"""An MCP client in a container stores what an operator sees and corrects, and the next session reads the correction."""

from __future__ import annotations

import json

from services.memory import Draft
from tests.engine.conditions import eventually
from tests.engine.tools.clients import ClientWorld, answers, command_of, spoken
from tests.support.sessions import ended, started


async def test_a_preference_is_stored_seen_corrected_and_read_by_the_next_session(world: ClientWorld) -> None:
    world.caller()
    async with world.pinfold() as runs, world.pinfold(supervise=False) as looks:
        preference = {"key": "indent", "content": "the operator likes tabs"}
        first = await started(runs, command=command_of("http", ("memory_store", preference)))

        async def seen() -> bool:
            return await looks.agent_memories.of("worker").get("indent") is not None

        await eventually(seen, 90)
        row = await looks.agent_memories.of("worker").get("indent")
        assert row is not None
        assert (row.content, row.session) == ("the operator likes tabs", first.id)
        await looks.agent_memories.of("worker").store(Draft(key="indent", content="the operator likes four spaces"))
        assert (await ended(runs, first.id)).exit_code == 0

        documents = await answers(runs, "stdio", ("memory_recall", {"query": "operator likes"}))
        (failed, text), *_ = spoken(documents)
        assert not failed
        assert json.loads(text)["memories"][0]["content"] == "the operator likes four spaces"
        assert documents[0] == {"interfaces": ["lo"]}
