"""A call is judged by the agent's policy as it is at that moment, and leaves a line without its values."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from services.policy.served_tools import SERVED_TOOLS
from services.sandbox.tools import Grant
from services.sandbox.tools.serving import TOOLS
from tests.services.sandbox.tools.desk import Desk, DeskWorld
from tests.support.embedder import embedder_server

STORE = {"key": "indent", "content": "tabs"}


async def allowed_tools(desk: Desk, **grants: Any) -> list[str]:
    return [tool.name for tool in desk.pinfold.tools.calls.offered(Grant("s1", "worker", **grants))]


def test_every_tool_served_is_known_to_the_policies() -> None:
    assert set(TOOLS) == SERVED_TOOLS


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_every_tool_describes_itself_and_each_argument(tool: Any) -> None:
    assert tool.purpose.endswith(".")
    assert tool.schema["type"] == "object"
    assert tool.schema["additionalProperties"] is False
    assert set(tool.schema["required"]) <= set(tool.schema["properties"])


async def test_an_excluded_tool_is_neither_offered_nor_run(desk_world: DeskWorld, desk: Desk) -> None:
    desk_world.agent(profile="free", rest='[permissions]\nexcluded_tools = ["memory_store"]')
    await desk.pinfold.agents.load()
    assert "memory_store" not in await allowed_tools(desk)
    answered = await desk.call("memory_store", STORE)
    assert (answered.failed, answered.text) == (True, "memory_store is refused: it is excluded")
    assert await desk.pinfold.agent_memories.of("worker").count() == 0


async def test_only_allowed_tools_are_offered_where_some_are_named(desk_world: DeskWorld, desk: Desk) -> None:
    desk_world.agent(profile="free", rest='[permissions]\nallowed_tools = ["memory_recall"]')
    await desk.pinfold.agents.load()
    assert await allowed_tools(desk) == ["memory_recall"]
    assert (await desk.call("memory_store", STORE)).failed


async def test_a_readonly_agent_reads_and_changes_nothing(desk_world: DeskWorld, desk: Desk) -> None:
    await desk.call("memory_store", STORE)
    desk_world.agent(profile="reading")
    await desk.pinfold.agents.load()
    assert not (await desk.call("memory_recall", {})).failed
    changing = [tool.name for tool in TOOLS.values() if tool.acts]
    assert not set(changing) & set(await allowed_tools(desk))
    assert (
        await desk.call("memory_forget", {"key": "indent"})
    ).text == "memory_forget is refused: the agent is readonly"
    assert await desk.pinfold.agent_memories.of("worker").count() == 1


async def test_actions_beyond_the_budget_are_refused_and_reading_is_free(desk_world: DeskWorld, desk: Desk) -> None:
    desk_world.agent(profile="thrifty")
    await desk.pinfold.agents.load()
    assert (await desk.call("memory_store", {"key": 5})).failed  # costs nothing
    assert (await desk.call("memory_forget", {"key": "indent"})).text == "You have no memory with this key."
    over = await desk.call("memory_store", STORE)
    assert over.failed
    assert "1 actions in the last hour" in over.text
    assert not (await desk.call("memory_recall", {})).failed


async def test_a_call_that_needs_approval_waits_for_it(desk_world: DeskWorld, desk: Desk) -> None:
    desk_world.agent(profile="asking", rest='[permissions]\nauto_approve = ["memory_recall"]')
    await desk.pinfold.agents.load()
    calling = asyncio.ensure_future(desk.call("memory_store", {**STORE, "content": "key AKIAIOSFODNN7EXAMPLE"}))
    async with asyncio.timeout(10):
        while not (waiting := await desk.pinfold.approvals.waiting()):
            await asyncio.sleep(0.01)
    assert "AKIAIOSFODNN7EXAMPLE" not in waiting[0].summary
    assert "key=indent" in waiting[0].summary
    await desk.pinfold.approvals.answer(waiting[0].number, allow=True, whole_session=True)
    assert not (await calling).failed
    assert not (await desk.call("memory_store", STORE)).failed  # for the whole session


async def test_a_call_that_is_refused_is_told_what_the_operator_said(desk_world: DeskWorld, desk: Desk) -> None:
    desk_world.agent(profile="asking")
    await desk.pinfold.agents.load()
    calling = asyncio.ensure_future(desk.call("memory_store", STORE))
    async with asyncio.timeout(10):
        while not (waiting := await desk.pinfold.approvals.waiting()):
            await asyncio.sleep(0.01)
    assert not waiting[0].every_time
    await desk.pinfold.approvals.answer(waiting[0].number, allow=False, words="ask the owner first")
    assert "the operator refused it: ask the owner first" in (await calling).text


async def test_a_call_nobody_approves_in_time_is_refused(desk_world: DeskWorld, desk: Desk) -> None:
    desk_world.agent(profile="asking")
    await desk.pinfold.agents.load()
    answered = await desk.call("memory_store", STORE)
    assert answered.failed
    assert "nobody answered within 1 seconds" in answered.text
    assert await desk.pinfold.agent_memories.of("worker").count() == 0


async def test_what_is_always_asked_is_asked_again(desk_world: DeskWorld, desk: Desk) -> None:
    desk_world.agent(profile="asking", rest='[permissions]\nalways_ask = ["memory_store"]')
    await desk.pinfold.agents.load()
    calling = asyncio.ensure_future(desk.call("memory_store", STORE))
    async with asyncio.timeout(10):
        while not (waiting := await desk.pinfold.approvals.waiting()):
            await asyncio.sleep(0.01)
    assert waiting[0].every_time
    assert waiting[0].rule.startswith("always_ask memory_store: asked every time, agent.toml:")
    await desk.pinfold.approvals.answer(waiting[0].number, allow=True, whole_session=True)
    assert not (await calling).failed
    assert (await desk.call("memory_store", STORE)).failed  # asked, and nobody answers


@pytest.mark.parametrize(
    "arguments",
    [
        {}, {"key": "a"}, {"key": 1, "content": "x"}, {"key": "a", "content": None}, {"key": "", "content": "x"},
        {"key": "a", "content": "x", "agent": "other"}, {"key": "a", "content": "x" * 70_000},
        {"key": "a", "content": "x", "importance": 2}, {"key": "a", "content": "x", "category": "two words"},
        {"key": "a\ud800", "content": "x"}, {"key": "k" * 2000, "content": "x"},
    ],
    ids=[
        "none", "half", "number", "null", "empty key", "foreign", "long", "importance", "category", "surrogate", "huge",
    ],
)  # fmt: skip
async def test_what_does_not_fit_is_refused_and_stores_nothing(desk: Desk, arguments: dict[str, Any]) -> None:
    answered = await desk.call("memory_store", arguments)
    assert answered.failed
    assert await desk.pinfold.agent_memories.of("worker").count() == 0
    assert (await desk.logged())[-1].outcome == "refused"


async def test_a_tool_that_does_not_exist_is_refused_by_naming_those_that_do(desk: Desk) -> None:
    answered = await desk.call("\x1b[31mshell", {})
    assert answered.failed
    assert "memory_recall" in answered.text
    assert (await desk.logged())[-1].detail.startswith("(no tool's name): 2 bytes in")


async def test_each_call_leaves_a_line_that_tells_sizes_and_no_values(desk: Desk) -> None:
    await desk.call("memory_store", {"key": "hidden-key", "content": "hidden-value"})
    await desk.call("memory_recall", {"query": "hidden-value"})
    await desk.call("namespace_pop", {"scope": "chat", "key": "hidden-key"})
    lines = await desk.logged()
    assert [(line.actor, line.session, line.outcome) for line in lines] == [
        ("agent:worker", "s1", "done"), ("agent:worker", "s1", "done"), ("agent:worker", "s1", "refused"),
    ]  # fmt: skip
    assert "hidden" not in " ".join(line.detail for line in lines)
    assert lines[0].detail == "memory_store: 45 bytes in, 25 out"


async def test_a_call_that_is_broken_off_leaves_a_line_too(desk_world: DeskWorld, desk: Desk) -> None:
    desk_world.agent(profile="asking")
    await desk.pinfold.agents.load()
    calling = asyncio.ensure_future(desk.call("memory_store", STORE))
    async with asyncio.timeout(10):
        while not await desk.pinfold.approvals.waiting():
            await asyncio.sleep(0.01)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert (await desk.logged())[-1].detail.endswith("broken off")


async def test_an_agent_that_is_gone_is_an_answer(desk: Desk) -> None:
    answered = await desk.call("memory_recall", {}, agent="nobody")
    assert answered.failed
    assert "nobody" in answered.text


async def test_recalling_says_when_it_was_by_words_alone_and_no_more(desk_world: DeskWorld, desk: Desk) -> None:
    with embedder_server() as server:
        with desk_world.home.config_file.open("a") as config:
            config.write(f'\n[connectors.near]\nkind = "openai"\nbase_url = "{server.url}"\nmodel = "small"\n')
        desk_world.agent(profile="free", rest='[memory.vectors]\nembedder = "near"')
        await desk.pinfold.agents.load()
        await desk.call("memory_store", {"key": "when", "content": "deploy on Mondays"})
        assert "deploy on Mondays" in (await desk.call("memory_recall", {"query": "deploy"})).text
    found = (await desk.call("memory_recall", {"query": "deploys deploy"})).text
    assert "deploy on Mondays" in found
    assert '"notice":"Some or all of it was searched by words alone."' in found
    assert server.url not in found
