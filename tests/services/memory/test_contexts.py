"""Contexts: forked, released, worked in step by step, resumed from where they were cut off. Rows M47-M49, R01-R12."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from services.errors import InputRefused, NothingThere, StepRefused
from services.memory import Context, Contexts, Memory, Namespace, Step, StepType
from tests.services.memory.conftest import SECOND, Clock, Keys

TOOL, LLM = StepType.TOOL, StepType.LLM


@pytest.fixture
def contexts(memory: Memory) -> Contexts:
    return memory.contexts


@pytest.fixture
async def context(contexts: Contexts) -> Context:
    return await contexts.open(agent="reviewer", chat="chat", request="request")


@pytest.fixture
def here(memory: Memory, context: Context) -> Namespace:
    return memory.namespace(context.scope)


async def values(memory: Memory, context: Context) -> dict[str, Any]:
    return (await memory.namespace(context.scope).snapshot()).values()


def shape(steps: list[Step]) -> list[tuple[str, str, int, int]]:
    return [(step.type, step.state, step.number, step.depth) for step in steps]


class TestForks:
    async def test_m47_a_fork_shares_all_but_the_context(self, memory: Memory, contexts: Contexts) -> None:
        parent = await contexts.open()
        around = memory.scopes.surroundings(user="u", team="t", chat="c", context=parent.id)
        fork = await contexts.fork(parent.id, copy=False)
        forked = around.within(memory.namespace(fork.scope))
        for kind in ("user", "team", "chat"):
            mine, theirs = around.of(kind), forked.of(kind)
            assert mine is not None
            assert theirs is not None
            await mine.set("k", kind)
            assert await theirs.get("k") == kind
        assert around.context is not None
        assert forked.context is not None
        await around.context.set("k", 1)
        assert await forked.context.keys() == []
        assert around.within(None) == around

    async def test_a_fork_begins_as_an_independent_copy_with_the_times_left(
        self, memory: Memory, contexts: Contexts, context: Context, here: Namespace, clock: Clock
    ) -> None:
        await here.set("deep", {"a": [1]})
        await here.push("list", 1)
        clock.forward(60)
        fork = await contexts.fork(context.id)
        there = memory.namespace(fork.scope)
        assert (await there.snapshot()).entries == (await here.snapshot()).entries
        await there.push("list", 2)
        await here.delete("deep")
        assert await values(memory, fork) == {"deep": {"a": [1]}, "list": [1, 2]}
        assert await values(memory, context) == {"list": [1]}
        assert (fork.parent, fork.agent, fork.chat, fork.request) == (context.id, "reviewer", "chat", "request")

    async def test_m48_forks_end_with_their_parent(
        self, memory: Memory, contexts: Contexts, context: Context, here: Namespace
    ) -> None:
        await here.set("k", 1)
        fork = await contexts.fork(context.id)
        inner = await contexts.fork(fork.id)
        await contexts.release(context.id)
        for ended in (context, fork, inner):
            assert await values(memory, ended) == {}
            with pytest.raises(NothingThere, match="no context"):
                await contexts.get(ended.id)
        assert await contexts.all() == []

    async def test_a_fork_of_what_has_ended_is_refused_and_never_shares_instead(self, contexts: Contexts) -> None:
        ended, broken = await contexts.open(), await contexts.open()
        await contexts.release(ended.id)
        await contexts.begin(broken.id, TOOL)
        await contexts.release(broken.id, "failed")
        with pytest.raises(NothingThere):
            await contexts.fork(ended.id)
        with pytest.raises(StepRefused, match="has ended"):
            await contexts.fork(broken.id)
        assert [context.id for context in await contexts.all()] == [broken.id]

    async def test_m49_releasing_clears_the_context_only(
        self, of: Keys, contexts: Contexts, context: Context, here: Namespace
    ) -> None:
        scopes = [of(f"{kind}:{context.id}") for kind in ("user", "team", "chat")] + [of("context:other")]
        for keys in (*scopes, here):
            await keys.set("k", 1)
        await contexts.release(context.id)
        assert [await keys.count() for keys in (*scopes, here)] == [1, 1, 1, 1, 0]
        with pytest.raises(NothingThere):
            await contexts.release(context.id)


class TestSteps:
    async def test_r01_a_snapshot_is_taken_of_the_context_alone_when_a_step_starts(
        self, of: Keys, contexts: Contexts, context: Context, here: Namespace
    ) -> None:
        await of("chat:chat").set("not this", 1)
        for number in range(3):
            await here.set("k", number)
            step = await contexts.begin(context.id, TOOL)
            await here.set("later", number)
            assert (await contexts.snapshot(step.id)).values()["k"] == number
        assert (await contexts.snapshot(step.id)).values() == {"k": 2, "later": 1}

    async def test_r02_a_snapshot_is_immune_to_later_changes_nested_ones_too(
        self, contexts: Contexts, context: Context, here: Namespace
    ) -> None:
        await here.set("deep", {"a": [{"b": 1}]})
        await here.push("list", [1], [2])
        step = await contexts.begin(context.id, LLM)
        await here.set("deep", {"a": [{"b": 2}]})
        await here.pop("list")
        await here.push("list", 9)
        await here.array_set("list", 0, 9)
        assert (await contexts.snapshot(step.id)).values() == {"deep": {"a": [{"b": 1}]}, "list": [[1], [2]]}

    async def test_r03_a_snapshot_keeps_kinds_and_the_time_left(
        self, memory: Memory, contexts: Contexts, context: Context, here: Namespace, clock: Clock
    ) -> None:
        await here.push("list", 1)
        await here.set_many({"integer": 1, "number": 1.0, "null": None}, "never")
        clock.forward(60)
        step = await contexts.begin(context.id, TOOL)
        clock.forward(3 * 86_400)
        await contexts.interrupt(step.id)
        there = memory.namespace((await contexts.resume(step.id)).scope)
        entries = {entry.key: (entry.kind, entry.expires_at) for entry in await there.entries()}
        assert entries == {
            "list": ("list", clock.now + 29 * 60 * SECOND),
            "integer": ("integer", None),
            "number": ("number", None),
            "null": ("null", None),
        }

    @pytest.mark.parametrize("type", ["input", "hook_create", "llm", "tool", "hook_next", "delegate"])
    async def test_r04_the_types_of_steps(self, contexts: Contexts, context: Context, type: str) -> None:
        step = await contexts.begin(context.id, StepType(type), {"given": type})
        assert (await contexts.complete(step.id, [type])).output == [type]
        assert [(step.type, step.input) for step in await contexts.steps(chat="chat")] == [(type, {"given": type})]

    async def test_r05_steps_are_numbered_from_1_with_stack_parent_and_depth(
        self, contexts: Contexts, context: Context
    ) -> None:
        outer = await contexts.begin(context.id, StepType.DELEGATE)
        inner = await contexts.begin(context.id, LLM)
        await contexts.complete(inner.id)
        second = await contexts.begin(context.id, TOOL)
        await contexts.complete(second.id)
        await contexts.complete(outer.id)
        last = await contexts.begin(context.id, StepType.HOOK_NEXT)
        found = [(step.number, step.stack, step.parent, step.depth) for step in (outer, inner, second, last)]
        assert found == [
            (1, context.id, "", 0),
            (2, outer.id, outer.id, 1),
            (3, outer.id, outer.id, 1),
            (4, context.id, "", 0),
        ]

    async def test_r05_steps_side_by_side_say_what_they_run_inside(self, contexts: Contexts, context: Context) -> None:
        outer = await contexts.begin(context.id, LLM)
        beside = await asyncio.gather(*(contexts.begin(context.id, TOOL, inside=outer.id) for _ in range(5)))
        assert {step.parent for step in beside} == {outer.id}
        assert sorted(step.number for step in beside) == [2, 3, 4, 5, 6]
        with pytest.raises(NothingThere, match="no step"):
            await contexts.begin(context.id, TOOL, inside="none")

    async def test_r05_a_forks_steps_run_inside_the_step_that_forked(
        self, contexts: Contexts, context: Context
    ) -> None:
        outer = await contexts.begin(context.id, LLM)
        fork = await contexts.fork(context.id)
        step = await contexts.begin(fork.id, TOOL)
        assert (step.context, step.number, step.parent, step.stack, step.depth) == (fork.id, 1, outer.id, outer.id, 1)

    async def test_r06_an_inner_step_that_ends_leaves_the_outer_one_running(
        self, contexts: Contexts, context: Context
    ) -> None:
        outer = await contexts.begin(context.id, LLM)
        async with contexts.step(context.id, TOOL) as inner:
            assert inner.parent == outer.id
        assert shape(await contexts.steps(context=context.id)) == [
            ("llm", "running", 1, 0),
            ("tool", "completed", 2, 1),
        ]
        assert (await contexts.complete(outer.id)).state == "completed"
        for end in (contexts.complete(outer.id), contexts.fail(outer.id, ""), contexts.interrupt(outer.id)):
            with pytest.raises(StepRefused, match="has ended: it was completed"):
                await end

    async def test_r07_success_leaves_nothing_to_resume(self, contexts: Contexts, context: Context) -> None:
        with pytest.raises(ZeroDivisionError):
            async with contexts.step(context.id, TOOL):
                _ = 1 / 0
        async with contexts.step(context.id, TOOL):
            pass
        assert shape(await contexts.resumable()) == [("tool", "failed", 1, 0)]
        await contexts.release(context.id)
        assert await contexts.resumable() == []
        assert await contexts.steps() == []

    @pytest.mark.parametrize("outcome", ["failed", "interrupted"])
    async def test_r08_what_ends_otherwise_leaves_its_running_steps_with_all_they_had(
        self, memory: Memory, contexts: Contexts, context: Context, here: Namespace, clock: Clock, outcome: Any
    ) -> None:
        async with contexts.step(context.id, StepType.INPUT):
            pass
        await here.set("k", [1])
        await contexts.begin(context.id, LLM, {"prompt": "p"})
        inner = await contexts.begin(context.id, TOOL, {"tool": "t"})
        await here.set("k", [2])
        clock.forward(5)
        await contexts.release(context.id, outcome, "because")
        assert await values(memory, context) == {}
        assert shape(await contexts.resumable(chat="chat")) == [("llm", outcome, 2, 0), ("tool", outcome, 3, 1)]
        (_, last) = await contexts.resumable(chat="chat")
        assert (last.id, last.input, last.error, last.ended_at) == (inner.id, {"tool": "t"}, "because", clock.now)
        assert (await contexts.snapshot(inner.id)).values() == {"k": [1]}
        assert (await contexts.get(context.id)).state == outcome

    async def test_r08_a_cancelled_block_is_an_interrupted_step(self, contexts: Contexts, context: Context) -> None:
        inside = asyncio.Event()

        async def work() -> None:
            async with contexts.step(context.id, TOOL):
                inside.set()
                await asyncio.Event().wait()

        working = asyncio.create_task(work())
        await inside.wait()
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
        (step,) = await contexts.resumable()
        assert (step.state, step.error) == ("interrupted", "cancelled")

    async def test_r09_a_failure_before_any_sandbox_leaves_a_row_too(self, contexts: Contexts) -> None:
        context = await contexts.open(chat="chat")
        with pytest.raises(OSError, match="no engine"):
            async with contexts.step(context.id, StepType.HOOK_CREATE, {"image": "missing"}):
                raise OSError("no engine")
        await contexts.release(context.id, "failed", "no engine")
        (step,) = await contexts.resumable(chat="chat")
        assert (step.type, step.error, step.input) == ("hook_create", "no engine", {"image": "missing"})

    @pytest.mark.parametrize("value", [float("nan"), (1,), 2**64], ids=repr)
    async def test_what_is_no_json_begins_no_step(self, contexts: Contexts, context: Context, value: Any) -> None:
        with pytest.raises(InputRefused):
            await contexts.begin(context.id, TOOL, value)
        assert await contexts.steps() == []
