"""Core blocks, archives and tenants. Rows X01-X03, X05-X09, X15 and X17 of the checklist."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.errors import DatabaseError, InputRefused, MemoryRefused, NothingThere
from services.home import Database
from services.memory.blocks import (
    Archive,
    Block,
    CoreBlocks,
    CoreMemory,
    LettaTools,
    Tenant,
    Tenants,
    derived_id,
    rendered,
)
from tests.services.memory.conftest import Clock

DAY = 86_400.0
NAME = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=":"), min_size=1, max_size=20)
NUMBER = st.integers(-(2**63), 2**63 - 1)


@dataclass(frozen=True)
class Of:
    """What one tenant has."""

    blocks: CoreBlocks
    archive: Archive
    tools: LettaTools


@pytest.fixture
def core(database: Database, clock: Clock) -> CoreMemory:
    return CoreMemory(database, clock)


@pytest.fixture
def tenants(core: CoreMemory) -> Tenants:
    return core.tenants


@pytest.fixture
def of(core: CoreMemory) -> Callable[[Tenant], Of]:
    return lambda tenant: Of(core.blocks(tenant), core.archive(tenant), core.tools(tenant))


@pytest.fixture
async def me(tenants: Tenants, of: Callable[[Tenant], Of]) -> Of:
    return of(await tenants.of_agent("reviewer"))


# tenants


def test_x01_the_tenant_of_a_role_is_the_number_agreed_upon() -> None:
    assert derived_id(42, "main", "code-reviewer") == -1549316045745472146


@given(NUMBER, NAME, NAME)
def test_x01_tenants_of_roles_are_negative_and_follow_the_rule(parent: int, agent: str, role: str) -> None:
    found = derived_id(parent, agent, role)
    assert -(2**63) <= found < 0
    digest = hashlib.sha256(b":".join([str(parent).encode(), agent.encode(), role.encode()])).digest()
    assert found.to_bytes(8, "big", signed=True)[1:] == digest[1:8]


@given(st.lists(st.tuples(st.integers(-3, 3), st.sampled_from(["a", "b", "ab", "a/b"]), st.sampled_from("abc"))))
def test_x01_different_callers_and_roles_are_different_tenants(names: list[tuple[int, str, str]]) -> None:
    assert len({derived_id(*name) for name in names}) == len(set(names))


@pytest.mark.parametrize(
    ("parent", "agent", "role"),
    [(1, "a", "b:c"), (1, "a:b", "c"), (1, "", "b"), (1, "a", ""), (1, "\ud800", "b"), (2**63, "a", "b")],
    ids=["colon in role", "colon in agent", "no agent", "no role", "half a character", "too large"],
)
def test_x01_names_that_could_be_two_are_refused(parent: int, agent: str, role: str) -> None:
    with pytest.raises(InputRefused):
        derived_id(parent, agent, role)


async def test_an_agent_has_one_tenant_which_is_positive_and_never_used_again(tenants: Tenants) -> None:
    found = await asyncio.gather(*(tenants.of_agent("reviewer") for _ in range(10)))
    assert len({tenant.id for tenant in found}) == 1
    role = await tenants.of_role(found[0], "reviewer", "planner")
    other = await tenants.of_agent("researcher")
    assert role.id < 0 < found[0].id < other.id
    assert await tenants.remove(other)
    assert not await tenants.remove(other)
    assert (await tenants.of_agent("researcher")).id > other.id


async def test_x17_every_tenant_says_whose_it_is(tenants: Tenants) -> None:
    assert await tenants.find("reviewer") is None
    main = await tenants.of_agent("reviewer")
    role = await tenants.of_role(main, "reviewer", "planner")
    deeper = await tenants.of_role(role, "reviewer/planner", "tester")
    assert await tenants.find("reviewer") == main
    assert await tenants.all() == [main, role, deeper]
    assert deeper == Tenant(derived_id(role.id, "reviewer/planner", "tester"), "reviewer/planner", role.id, "tester")


async def tenants_in(database: Database, table: str) -> list[tuple[int]]:
    return await database.read(lambda c: c.execute(f"SELECT DISTINCT tenant FROM {table}").fetchall())


async def test_a_removed_tenant_takes_all_it_has_and_the_roles_below_it_along(
    tenants: Tenants, of: Callable[[Tenant], Of], database: Database
) -> None:
    main, other = await tenants.of_agent("reviewer"), await tenants.of_agent("other")
    role = await tenants.of_role(await tenants.of_role(main, "reviewer", "planner"), "reviewer/planner", "tester")
    for tenant in (main, role, other):
        await of(tenant).blocks.rethink(Block.HUMAN, "somebody", "because")
        await of(tenant).archive.insert("a fact")
    assert await tenants.remove(main)
    assert await tenants.all() == [other]
    for table in ("core_blocks", "block_history", "archive_entries"):
        assert await tenants_in(database, table) == [(other.id,)]
    assert len(await of(other).archive.search("fact")) == 1


# core blocks


async def test_x03_blocks_are_empty_at_first(me: Of) -> None:
    assert [(text.block, text.content) for text in await me.blocks.all()] == [
        (Block.PERSONA, ""),
        (Block.HUMAN, ""),
        (Block.WORKING_CONTEXT, ""),
    ]


async def test_x02_x05_blocks_belong_to_one_caller_and_role_and_stay(
    tenants: Tenants, of: Callable[[Tenant], Of], me: Of
) -> None:
    main = me.blocks.tenant
    roles = [(main, "reviewer", "planner"), (main, "reviewer", "tester"), (main, "reviewer/planner", "tester")]
    for parent, agent, role in roles:
        tenant = await tenants.of_role(parent, agent, role)
        for block in Block:
            await of(tenant).blocks.append(block, f"{agent} calls {role}")
    for parent, agent, role in roles:
        again = of(await tenants.of_role(parent, agent, role))
        assert {text.content for text in await again.blocks.all()} == {f"{agent} calls {role}"}
    assert {text.content for text in await me.blocks.all()} == {""}


@pytest.mark.parametrize(("block", "limit"), [("persona", 2000), ("human", 2000), ("working_context", 4000)])
@pytest.mark.parametrize("letter", ["x", "é", "鍵", "🔑"])
async def test_x06_limits_are_in_characters_and_nothing_is_cut(me: Of, block: str, limit: int, letter: str) -> None:
    kind = Block.parse(block)
    assert kind.limit == limit
    full = await me.blocks.rethink(kind, letter * limit, "")
    assert full.left == 0
    for refused in (
        me.blocks.append(kind, "y"),
        me.blocks.replace(kind, letter, "yy"),
        me.blocks.rethink(kind, letter * (limit + 1), "more"),
        me.blocks.write(kind, letter * (limit + 1), letter * limit),
    ):
        with pytest.raises(InputRefused, match=f"at most {limit:,} fit"):
            await refused
    assert (await me.blocks.read(kind)).content == letter * limit
    assert len(await me.blocks.history()) == 1


async def test_x08_append_adds_a_line_and_replace_changes_the_first_that_is_the_same(me: Of) -> None:
    await me.blocks.append(Block.HUMAN, "likes tea")
    await me.blocks.append(Block.HUMAN, "likes tea a lot")
    text = await me.blocks.replace(Block.HUMAN, "tea", "coffee")
    assert text == await me.blocks.read(Block.HUMAN)
    assert text.content == "likes coffee\nlikes tea a lot"
    with pytest.raises(NothingThere, match="no changes were made"):
        await me.blocks.replace(Block.HUMAN, "Tea", "water")
    with pytest.raises(InputRefused):
        await me.blocks.replace(Block.HUMAN, "", "water")
    with pytest.raises(InputRefused):
        await me.blocks.append(Block.HUMAN, "")
    assert (await me.blocks.replace(Block.HUMAN, text.content, "")).content == ""


async def test_x08_rethink_says_why_in_the_history(me: Of) -> None:
    await me.blocks.rethink(Block.PERSONA, "calm", "was too loud")
    assert [entry.entry for entry in await me.blocks.history()] == ["[rethink:persona] was too loud"]


async def test_a_block_somebody_else_changed_is_not_written_over(me: Of) -> None:
    await me.blocks.append(Block.HUMAN, "new")
    with pytest.raises(MemoryRefused, match="changed meanwhile"):
        await me.blocks.write(Block.HUMAN, "mine", "")
    assert (await me.blocks.write(Block.HUMAN, "mine", "new")).content == "mine"


async def test_fifty_appends_at_once_are_all_there(me: Of) -> None:
    await asyncio.gather(*(me.blocks.append(Block.WORKING_CONTEXT, f"line {number}") for number in range(50)))
    lines = (await me.blocks.read(Block.WORKING_CONTEXT)).content.split("\n")
    assert sorted(lines) == sorted(f"line {number}" for number in range(50))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
async def test_blocks_and_entries_are_read_as_they_were_written(me: Of, content: str) -> None:
    await me.blocks.rethink(Block.HUMAN, content, content)
    assert (await me.blocks.read(Block.HUMAN)).content == content
    if content:
        entry = await me.archive.insert(content)
        assert await me.archive.get(entry.id) == entry
        await me.archive.search(content)


async def test_x15_blocks_of_a_tenant_nobody_made_are_refused_by_the_database(of: Callable[[Tenant], Of]) -> None:
    with pytest.raises(DatabaseError, match="FOREIGN KEY"):
        await of(Tenant(-5, "nobody", 1, "none")).blocks.append(Block.HUMAN, "x")


# the archive


async def test_x09_entries_are_found_by_words_within_one_tenant(
    tenants: Tenants, of: Callable[[Tenant], Of], me: Of, clock: Clock
) -> None:
    role = of(await tenants.of_role(me.blocks.tenant, "reviewer", "planner"))
    await role.archive.insert("deploy with make release")
    first = await me.archive.insert("deploy from main")
    clock.forward(1)
    second = await me.archive.insert("lunch at noon")
    assert [entry.content for entry in await me.archive.search("deploy release")] == ["deploy from main"]
    assert [entry.id for entry in await me.archive.search("depl*")] == [first.id]
    assert [entry.id for entry in await me.archive.entries()] == [second.id, first.id]
    assert await me.archive.count() == 2
    assert await role.archive.delete(first.id) is False
    assert await role.archive.get(first.id) is None
    assert await me.archive.delete(first.id) is True
    assert await me.archive.search("deploy") == []
    assert await me.archive.clear() == 1
    assert await role.archive.count() == 1


async def test_x09_a_search_gives_five_unless_told_otherwise(me: Of) -> None:
    for number in range(7):
        await me.archive.insert(f"fact {number}")
    assert len(await me.archive.search("fact")) == 5
    assert len(await me.archive.search("fact", 7)) == 7
    for limit in (0, 1001):
        with pytest.raises(InputRefused):
            await me.archive.search("fact", limit)


@pytest.mark.parametrize("query", ['"', "a AND", "owner:t1", "-", "%", "\0", "^x", "NEAR("], ids=repr)
async def test_no_search_is_an_error(me: Of, query: str) -> None:
    await me.archive.insert("a fact")
    assert len(await me.archive.search(query)) <= 1


@pytest.mark.parametrize("content", ["", "\ud800", "x" * 65_537], ids=["empty", "half a character", "too long"])
async def test_what_cannot_be_archived_is_refused(me: Of, content: str) -> None:
    with pytest.raises(InputRefused):
        await me.archive.insert(content)
    assert await me.archive.count() == 0


# the tools


async def test_x07_blocks_are_shown_in_order_with_what_is_archived(me: Of) -> None:
    await me.blocks.append(Block.HUMAN, "likes tea")
    await me.archive.insert("a fact")
    assert await rendered(me.blocks, me.archive) == (
        "## Core Memory\n\n### Persona\n(empty)\n\n### Human\nlikes tea\n\n### Working Context\n(empty)\n\n"
        "[Archival Memory: 1 entries | Use archival_memory_search to retrieve]"
    )


async def test_x08_tools_change_blocks_and_name_the_valid_ones(me: Of) -> None:
    assert await me.tools.core_memory_append("human", "likes tea") == "Added to human; 1,991 characters are left."
    assert "Replaced" in await me.tools.core_memory_replace("human", "tea", "ale")
    assert "Rewrote" in await me.tools.rethink("persona", "calm", "why not")
    for refused in (
        me.tools.core_memory_append("Human", "x"),
        me.tools.core_memory_replace("soul", "x", "y"),
        me.tools.rethink("", "x", "y"),
    ):
        with pytest.raises(InputRefused, match="persona, human, working_context"):
            await refused


async def test_x09_tools_archive_find_and_delete(me: Of) -> None:
    assert await me.tools.archival_memory_search("tea") == "No archival memory entries found."
    assert "1 entries in all" in await me.tools.archival_memory_insert("they like tea")
    (entry,) = await me.archive.entries()
    found = await me.tools.archival_memory_search("tea")
    assert found.startswith(f"1. [{entry.id}, ")
    assert found.endswith("score=1.00] they like tea")
    assert await me.tools.archival_memory_delete(entry.id) == "Deleted."
    assert await me.tools.archival_memory_delete(entry.id) == "No such archival memory entry."


async def test_x09_history_is_read_by_days_the_last_included_and_newest_first(me: Of, clock: Clock) -> None:
    days = []
    for number in range(3):
        days.append(datetime.fromtimestamp(clock.now / 1e9).astimezone().strftime("%Y-%m-%d"))
        await me.blocks.note(f"day {number}")
        clock.forward(DAY)

    async def shown(start: str = "", end: str = "", limit: int = 20) -> list[str]:
        text = await me.tools.recall_memory_search(start, end, limit)
        return [line.rpartition("] ")[2] for line in text.split("\n")]

    assert await shown(days[0], days[1]) == ["day 1", "day 0"]
    assert await shown(end=days[0]) == ["day 0"]
    assert await shown(days[1], limit=1) == ["day 2"]
    assert await shown("2190-01-01") == ["No history in that time."]
    for start in ("", "yesterday", "2026-13-01", "2026-02-30", "20260101", "9999-12-31", "2026-1-1", "٢٠٢٦-01-01"):
        with pytest.raises(InputRefused):
            await shown(start)
