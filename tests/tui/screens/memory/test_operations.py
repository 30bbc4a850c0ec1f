"""Every operation: what it does, what its form asks and tells, and that it is taken back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from services.memory import Block, Draft, Scope
from tests.tui.conftest import shown
from tests.tui.screens.memory.conftest import USER, Desk
from tui.actions import BY_ID
from tui.screens.memory.changes.doing import Subject
from tui.screens.memory.items import Item, key_item
from tui.screens.memory.operations.catalogue import OPERATIONS
from tui.screens.memory.operations.choosing import ChooseOperation
from tui.screens.memory.places import AgentRows, ArchiveOf, CoreBlocksOf, OpenContexts, ScopeKeys, StepsOf


@dataclass(frozen=True)
class Case:
    """An operation on the key `k` of a user, what is there before and after, and what is told."""

    operation: str
    before: Any = None
    after: Any = None
    told: str = ""
    typed: dict[str, str] = field(default_factory=dict)


CASES = [
    Case("set", 1, [1, {"a": "b"}], "k is set", {"key": "k", "value": '[1, {"a": "b"}]'}),
    Case("set-many", 1, 2, "2 keys set", {"values": '{"k": 2, "l": 3}'}),
    Case("get-or-set", 1, 1, "k is there already", {"key": "k", "value": "2"}),
    Case("get-or-set-many", 1, 1, "2 keys there now", {"values": '{"k": 2, "l": 3}'}),
    Case("get-many", "x", "x", "k: x", {"keys": '["k", "l"]'}),
    Case("del", 1, None, "1 key deleted", {"keys": '["k"]'}),
    Case("get-del", [1, "taken"], None, "taken"),
    Case("expire", 1, 1, "k has a new time to live", {"ttl": "1h"}),
    Case("incr", 1, 42, "k is 42", {"amount": "41"}),
    Case("decr", 1, -1, "k is -1", {"amount": "2"}),
    Case("has", 1, 1, "yes, it is there"),
    Case("count", 1, 1, "1 key", {"pattern": "k*"}),
    Case("stats", 1, 1, "pinfold.db"),
    Case("push", [1], [1, 2, 3], "k has 3 items", {"values": "[2, 3]"}),
    Case("add-to-set", [1], [1, 2], "1 item added to k", {"values": "[1, 2]"}),
    Case("pop", [1, 2], [2], "1", {"end": "-1"}),
    Case("pull", [1, 2, 1], [2], "2 items taken out of k", {"value": "1"}),
    Case("pull-all", [1, 2, 3], [2], "2 items taken out of k", {"values": "[1, 3]"}),
    Case("array-set", [1, 2], [1, "x"], "item -1 of k is replaced", {"index": "-1", "value": "x"}),
    Case("array-get", [1, "item"], [1, "item"], "item", {"index": "1"}),
    Case("array-slice", ["a", "bee"], ["a", "bee"], "bee", {"skip": "1", "limit": "5"}),
    Case("array-page", ["a", "bee"], ["a", "bee"], "bee", {"page": "2", "size": "1"}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.operation)
async def test_an_operation_on_keys_does_it_and_is_taken_back(opened: Desk, case: Case) -> None:
    keys, place = opened.keys(), ScopeKeys(USER)
    await keys.clear()
    await keys.set("k", case.before, ttl=600)
    before = (await keys.snapshot()).values()
    entry = await keys.entry("k")
    assert entry is not None
    subject = Subject(opened.pinfold, place, key_item(place, entry, reveal=False))
    operation = next(each for each in OPERATIONS if each.id == case.operation)
    assert operation.fits(place, subject.item)
    outcome = await operation.run(
        subject, {each.key: each.read(case.typed.get(each.key, each.begin(subject))) for each in operation.parameters}
    )
    assert case.told in "\n".join((outcome.said, *outcome.lines))
    found = (await keys.snapshot()).values()
    assert found.get("k") == case.after
    if outcome.undo is not None:
        await outcome.undo.back(opened.pinfold, False)
        assert (await keys.snapshot()).values() == before
    else:
        assert found == before


def test_every_operation_on_keys_is_tried_above() -> None:
    keys = {operation.id for operation in OPERATIONS if operation.fits(_scope_place(), None) or _on_key(operation)}
    contexts = {"fork", "release", "begin"}
    assert keys - contexts == {case.operation for case in CASES}


def _scope_place() -> Any:
    return ScopeKeys(USER)


def _on_key(operation: Any) -> bool:
    return any(operation.fits(_scope_place(), Item(_scope_place(), "k", "k", kind, "", 1, None)) for kind in _KINDS)


_KINDS = ("integer", "list of 3", "text")


async def test_what_goes_wrong_is_told_in_the_form_and_nothing_typed_is_lost(desk: Desk) -> None:
    await desk.keys().set("k", "text")
    await desk.show()
    await desk.operate("push", key="k", values='["half')
    await desk.until_shown("the value is not JSON")
    form: Any = desk.app.screen
    form._inputs["values"].value = "[1]"
    await desk.press("ctrl+s")
    await desk.until_shown("'k' is not a list: it holds text")
    assert form._inputs["values"].value == "[1]"
    assert await desk.keys().get("k") == "text"


async def test_the_operations_are_offered_in_a_list_and_in_the_palette(desk: Desk) -> None:
    await desk.keys().set("k", [1])
    await desk.show()
    await desk.press("o")
    await desk.until(lambda: isinstance(desk.app.screen, ChooseOperation))
    assert all(label in shown(desk.app) for label in ("append", "pop", "read page"))
    await desk.press("escape")
    await desk.until_closed()
    names = {name for name, _, _ in desk.screen.commands()}
    assert {"memory: pop", "memory: add to set", "memory: set if missing"} <= names
    assert "memory: pin" not in names
    assert BY_ID["memory.operate"].keys == ("o",)


async def test_rows_of_an_agent_are_stored_weighed_superseded_and_pinned(desk: Desk) -> None:
    await desk.show(AgentRows("reviewer"), rows=0)
    typed = {"key": "style", "content": "short answers", "category": "core", "importance": "0.9", "pinned": "no"}
    await desk.operate("store", **typed)
    await desk.until_shown("style is stored", "short answers")
    await desk.memory().store(Draft(key="older", content="long answers", category="core"))
    await desk.show(AgentRows("reviewer"), "older", rows=2)
    await desk.operate("supersede", by="style")
    await desk.until_shown("superseded")
    await desk.until_closed()
    await desk.operate("weigh", importance="0.1", category="daily", session="s9")
    await desk.until_closed()
    await desk.until_shown("0.10", "s9")
    await desk.press("p")
    await desk.until_shown("older is pinned")
    row = await desk.memory().get("older")
    assert row is not None
    assert (row.category, row.importance, row.session, row.pinned) == ("daily", 0.1, "s9", True)
    for _ in range(4):
        await desk.undo()
    assert [row.key for row in await desk.memory().listed()] == ["older"]


async def test_hygiene_tells_first_what_it_would_delete(desk: Desk) -> None:
    await desk.memory().store(Draft(key="c", content="said", category="conversation"))
    await desk.show(AgentRows("reviewer"))
    await desk.operate("would-tidy", days="0.000000001")
    await desk.until_shown("would go: 1 row", "conversation: 1 row")
    await desk.press("escape")
    await desk.until_closed()
    assert await desk.memory().count() == 1
    await desk.operate("tidy", days="0.000000001")
    await desk.until_shown("1 row, 4 deleted")
    assert await desk.memory().count() == 0


async def test_blocks_are_appended_replaced_and_rethought_with_their_history(desk: Desk) -> None:
    await desk.show(CoreBlocksOf(None, "reviewer"), "persona", rows=3)
    await desk.operate("append", content="careful")
    await desk.until_shown("1,993 characters are left")
    tenant = await desk.pinfold.core_memory.tenants.find("reviewer")
    assert tenant is not None
    blocks = desk.pinfold.core_memory.blocks(tenant)
    await desk.show(CoreBlocksOf(tenant, "reviewer"), "persona", rows=3)
    await desk.operate("replace", old="careful", new="kind")
    await desk.until_closed()
    await desk.operate("rethink", content="brave", why="it had to be")
    await desk.until_closed()
    assert (await blocks.read(Block.PERSONA)).content == "brave"
    await desk.operate("history", most="5")
    await desk.until_shown("[rethink:persona] it had to be")
    await desk.press("escape")
    await desk.until_closed()
    await desk.undo()
    await desk.undo()
    assert (await blocks.read(Block.PERSONA)).content == "careful"


async def test_archive_entries_are_put_away_searched_deleted_and_brought_back(desk: Desk) -> None:
    tenant = await desk.pinfold.core_memory.tenants.of_agent("reviewer")
    archive = desk.pinfold.core_memory.archive(tenant)
    await desk.show(ArchiveOf(tenant, "reviewer"), rows=0)
    await desk.operate("archive-insert", content="the build needs make")
    await desk.until_shown("an entry is put away", "the build needs make")
    await archive.insert("something else")
    await desk.show(ArchiveOf(tenant, "reviewer"), rows=2)
    await desk.press("slash")
    await desk.type("build")
    await desk.press("enter")
    await desk.until(lambda: desk.table.total == 1)
    await desk.press("D", "right", "enter")
    await desk.until_shown("1 row deleted")
    assert [entry.content for entry in await archive.entries()] == ["something else"]
    await desk.undo()
    assert {entry.content for entry in await archive.entries()} == {"the build needs make", "something else"}


async def test_contexts_are_opened_forked_worked_in_resumed_and_released(desk: Desk) -> None:
    contexts = desk.pinfold.memory.contexts
    await desk.show(OpenContexts(), rows=0)
    await desk.operate("open", agent="reviewer", chat="c1")
    await desk.until(lambda: desk.table.total == 1 and desk.item)
    parent = desk.item
    await desk.keys(Scope.parse(f"context:{parent}")).set("k", 1)
    await desk.operate("fork", copy="copy")
    await desk.until(lambda: desk.table.total == 2)
    (fork,) = [context.id for context in await contexts.all() if context.parent == parent]
    assert await desk.keys(f"context:{fork}").get("k") == 1
    await desk.show(OpenContexts(), parent, rows=2)
    await desk.operate("begin", type="tool", input='{"path": "a.py"}')
    await desk.until_closed()
    await desk.press("enter")
    await desk.until_shown("1 tool", "running")
    await desk.until(lambda: isinstance(desk.screen._listing.place, StepsOf) and desk.item)
    await desk.operate("end", how="failed", why="no such file")
    await desk.until_closed()
    await desk.until_shown("failed", "no such file")
    await desk.operate("step-keys")
    await desk.until_shown('"k": 1')
    await desk.press("escape")
    await desk.until_closed()
    await desk.operate("resume")
    await desk.until_shown("goes on from the step")
    for context in await contexts.all():
        if context.state == "open" and not context.parent:
            await desk.show(OpenContexts(), context.id)
            await desk.operate("release", how="completed")
            await desk.until_closed()
    await desk.until(lambda: not [item for item in desk.table.rows if item.state == "open"])
