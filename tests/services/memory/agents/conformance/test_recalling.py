"""Recall by words, by time and by place. Rows E13-E15 of the checklist."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.errors import InputRefused
from services.memory.agents import (
    CONVERSATION,
    CORE,
    DAILY,
    Draft,
    Listing,
    Query,
)
from tests.services.memory.agents.conformance.rows import DAY, TEXT, everything, keys, law
from tests.services.memory.agents.conftest import ALL, AgentOf
from tests.services.memory.conftest import Clock

SIGNS = [
    '"',
    '""',
    "-x",
    "agent:x",
    "key : k",
    "^a",
    "a^2",
    "(",
    "{a} : b",
    "'",
    ";--",
    "*",
    "**",
    "%",
    "\0",
    'a"b',
    "a\0b",
]
WORDS = ["AND", "OR NOT", "NEAR(a b)", "🔑", "鍵", "+", "a + b", "a & !b", "a <-> b", ":*", "x" * 10_000, "a-" * 2000]
QUERIES = [*SIGNS, *WORDS, " ".join(map(str, range(2000)))]


async def test_rows_are_recalled_by_any_of_the_words_the_best_first(agent: AgentOf) -> None:
    me = agent("reviewer")
    await me.store(Draft(key="deploy", content="deploy from the main branch with make release"))
    await me.store(Draft(key="branch", content="branches are named after tickets"))
    await me.store(Draft(key="lunch", content="lunch is at noon"))
    found = await me.recall(Query("release branch"))
    assert keys(found)[0] == "deploy"
    assert "lunch" not in keys(found)
    assert found[0].score == 1.0
    assert all(0 < recalled.score <= 1 for recalled in found)


async def test_e15_a_star_makes_a_prefix_and_no_star_does_not(agent: AgentOf) -> None:
    me = agent("reviewer")
    await me.store(Draft(key="one", content="the deployment failed"))
    await me.store(Draft(key="two", content="they deploy on Mondays"))
    assert keys(await me.recall(Query("deploy"))) == ["two"]
    assert sorted(keys(await me.recall(Query("deploy*")))) == ["one", "two"]
    assert keys(await me.recall(Query("loyment*"))) == []
    assert keys(await me.recall(Query("loyment"))) == ["one"]


async def test_keys_are_searched_like_contents_and_letters_without_regard_to_case(agent: AgentOf) -> None:
    me = agent("reviewer")
    await me.store(Draft(key="favourite_editor", content="VI"))
    assert keys(await me.recall(Query("EDITOR"))) == ["favourite_editor"]
    assert keys(await me.recall(Query("vi"))) == ["favourite_editor"]


async def test_e15_signs_in_a_query_mean_themselves_where_no_word_fits(agent: AgentOf) -> None:
    me = agent("reviewer")
    await me.store(Draft(key="rate", content="the discount is 100% now"))
    await me.store(Draft(key="plain", content="the discount is 1000 now"))
    assert keys(await me.recall(Query("0%"))) == ["rate"]
    assert keys(await me.recall(Query("_"))) == []
    await me.store(Draft(key="cjk", content="部署在星期一進行"))
    assert keys(await me.recall(Query("星期一"))) == ["cjk"]


@pytest.mark.parametrize("kind", ALL, indirect=True)
async def test_e15_no_query_is_an_error_or_shows_what_is_not_ones_own(agent: AgentOf) -> None:
    me, other = agent("reviewer"), agent("other")
    for number, text in enumerate(QUERIES):
        await other.store(Draft(key=str(number), content=text))
    for text in QUERIES:
        assert await me.recall(Query(text)) == [], text
        assert await me.recall(Query(f"{text}*")) == [], text


@law
@given(query=TEXT, contents=st.lists(TEXT, max_size=4))
async def test_any_text_can_be_recalled_with_and_only_own_rows_come(
    agent: AgentOf, query: str, contents: list[str]
) -> None:
    me, other = agent("reviewer"), agent("other")
    for number, content in enumerate([*contents, query]):
        await me.store(Draft(key=f"mine {number}", content=content))
        await other.store(Draft(key=f"theirs {number}", content=content))
    found = await me.recall(Query(query, limit=1000))
    assert {recalled.row.agent for recalled in found} <= {"reviewer"}


async def test_e14_without_words_the_newest_come_first(agent: AgentOf, clock: Clock) -> None:
    me = agent("reviewer")
    for key in ("old", "middle", "new"):
        await me.store(Draft(key=key, content=key))
        clock.forward(60)
    await me.store(Draft(key="old", content="again"))
    assert keys(await me.recall(Query())) == ["old", "new", "middle"]
    assert keys(await me.recall(Query(" * ", limit=1))) == ["old"]


async def test_e14_a_time_window_begins_with_and_ends_before(agent: AgentOf, clock: Clock) -> None:
    me, times = agent("reviewer"), []
    for key in ("old", "middle", "new"):
        times.append(clock.now)
        await me.store(Draft(key=key, content="a fact", category=DAILY))
        clock.forward(2 * DAY)
    for text in ("", "fact"):
        assert keys(await me.recall(Query(text, since=times[1], until=times[2]))) == ["middle"]
        assert sorted(keys(await me.recall(Query(text, since=times[1])))) == ["middle", "new"]
    with pytest.raises(InputRefused, match="ends before it begins"):
        await me.recall(Query(since=times[1], until=times[1]))


async def test_recall_can_be_of_one_category_or_session(agent: AgentOf) -> None:
    me = agent("reviewer")
    await me.store(Draft(key="a", content="a fact"))
    await me.store(Draft(key="b", content="a fact", category=CONVERSATION, session="s1"))
    await me.store(Draft(key="c", content="a fact", category=CONVERSATION, session="s2"))
    for text in ("", "fact"):
        assert keys(await me.recall(Query(text, category=CORE))) == ["a"]
        assert sorted(keys(await me.recall(Query(text, category=CONVERSATION)))) == ["b", "c"]
        assert keys(await me.recall(Query(text, session="s1"))) == ["b"]
        assert await me.recall(Query(text, category=CORE, session="s1")) == []


@pytest.mark.parametrize("kind", ALL, indirect=True)
@pytest.mark.parametrize("limit", [0, -1, 1001])
async def test_a_recall_without_a_sensible_limit_is_refused(agent: AgentOf, limit: int) -> None:
    with pytest.raises(InputRefused):
        await agent("reviewer").recall(Query("x", limit=limit))


async def test_e13_a_superseded_row_is_not_recalled_but_kept(agent: AgentOf) -> None:
    me = agent("reviewer")
    await me.store(Draft(key="old", content="the editor is vi"))
    new = await me.store(Draft(key="new", content="the editor is ed"))
    assert await me.supersede("old", "new")
    assert not await me.supersede("old", "missing")
    assert not await me.supersede("missing", "new")
    for text in ("", "editor", "vi", "dito"):
        assert "old" not in keys(await me.recall(Query(text)))
    assert [row.key for row in await me.listed()] == ["new"]
    assert await me.count() == 1
    assert await me.count(Listing(superseded=True)) == 2
    old = await me.get("old")
    assert old is not None
    assert old.superseded_by == new.id
    assert {row.key for row in await everything(me)} == {"old", "new"}
    await me.store(Draft(key="old", content="the editor is vi after all"))
    assert "old" in keys(await me.recall(Query("vi")))
    with pytest.raises(InputRefused):
        await me.supersede("new", "new")


async def test_superseded_rows_do_not_use_up_the_limit(agent: AgentOf) -> None:
    me = agent("reviewer")
    await me.store(Draft(key="new", content="one fact among many other words"))
    for number in range(5):
        await me.store(Draft(key=f"old {number}", content="fact fact"))
        await me.supersede(f"old {number}", "new")
    assert keys(await me.recall(Query("fact", limit=1))) == ["new"]
