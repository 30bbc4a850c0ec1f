"""Whatever a model sends, a call is answered, and what is another's stays as it was."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.home import Home
from services.memory import Draft, Scope
from services.sandbox.tools.serving import TOOLS
from tests.services.sandbox.tools.desk import Desk, DeskWorld

FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

FIELDS = sorted({field for tool in TOOLS.values() for field in tool.arguments.__struct_fields__})
TEXTS = (
    st.sampled_from(["", "a", "k", "chat", "context", "user", "persona", "theirs", "other", "../x", "\0", "*"])
    | st.text()
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(st.sampled_from(FIELDS) | TEXTS, JSON, max_size=6)


@pytest.fixture(scope="module")
async def busy_desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    world = DeskWorld(Home(tmp_path_factory.mktemp("any") / "home"))
    world.agent(profile="roomy")
    world.agent("other", profile="free")
    async with world.pinfold(supervise=False) as pinfold:
        desk = Desk(pinfold)
        await desk.session()
        await pinfold.agent_memories.of("other").store(Draft(key="theirs", content="kept"))
        await pinfold.memory.namespace(Scope.parse("chat:s2")).set("theirs", "kept")
        yield desk


@FEW
@given(st.sampled_from(sorted(TOOLS)), ARGUMENTS)
async def test_any_arguments_are_answered_and_touch_nothing_of_others(
    busy_desk: Desk, tool: str, arguments: dict[str, Any]
) -> None:
    answered = await busy_desk.call(tool, arguments, drop_boxes=("other",))
    assert answered.text or not answered.failed
    pinfold = busy_desk.pinfold
    row = await pinfold.agent_memories.of("other").get("theirs")
    assert row is not None
    assert (row.content, await pinfold.agent_memories.of("other").count()) == ("kept", 1)
    assert await pinfold.memory.namespace(Scope.parse("chat:s2")).get("theirs") == "kept"
    assert "kept" not in answered.text
    assert list(pinfold.home.default_workspace("other").iterdir()) == []


@FEW
@given(TEXTS, TEXTS.filter(bool), JSON)
async def test_a_value_that_is_stored_is_read_again_as_it_was(
    busy_desk: Desk, key: str, value: str, other: Any
) -> None:
    stored = await busy_desk.call(
        "namespace_set", {"scope": "chat", "key": key, "value": {"text": value, "json": other}}
    )
    if not stored.failed:
        found = await busy_desk.call("namespace_get", {"scope": "chat", "key": key})
        assert found.data is not None
        assert found.data["value"]["text"] == value
