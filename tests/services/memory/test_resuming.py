"""Going on from a step that was interrupted, whoever began it."""

from __future__ import annotations

from typing import Any

import pytest

from services.errors import NothingThere, StepRefused
from services.home import BlockingCalls, Database, Home
from services.memory import Context, Contexts, Memory, Namespace, Scope, StepType
from tests.services.memory.conftest import Clock

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


class TestResuming:
    async def test_r10_the_last_is_the_latest_in_time_even_when_the_clock_goes_back(
        self, contexts: Contexts, clock: Clock
    ) -> None:
        for number in range(3):
            context = await contexts.open(chat="chat", request=str(number))
            for _ in range(3 - number):  # the numbers of the later requests are smaller
                await contexts.begin(context.id, TOOL)
            await contexts.release(context.id, "failed")
            clock.forward(-100)
        last = (await contexts.resumable(chat="chat"))[-1]
        assert (last.request, last.number) == ("2", 1)

    async def test_r11_resuming_fills_a_new_context_and_marks_the_step_used(
        self, memory: Memory, contexts: Contexts, context: Context, here: Namespace, clock: Clock
    ) -> None:
        await here.set("k", 1)
        outer = await contexts.begin(context.id, LLM)
        await here.set("k", 2)
        inner = await contexts.begin(context.id, TOOL)
        await here.set("k", 3)
        with pytest.raises(StepRefused, match="it is running"):
            await contexts.resume(inner.id)
        await contexts.release(context.id, "interrupted")
        resumed = await contexts.resume(inner.id)
        assert resumed.id != context.id
        assert (resumed.resumes, resumed.agent, resumed.chat) == (inner.id, "reviewer", "chat")
        assert await values(memory, resumed) == {"k": 2}
        assert [step.used_at for step in await contexts.path(inner.id)] == [clock.now, clock.now]
        assert await contexts.resumable() == []
        for used in (outer, inner):
            with pytest.raises(StepRefused, match="resumed before"):
                await contexts.resume(used.id)
        with pytest.raises(NothingThere):
            await contexts.resume("none")

    async def test_r11_branches_are_resumed_each_by_itself(
        self, memory: Memory, contexts: Contexts, context: Context
    ) -> None:
        await contexts.begin(context.id, LLM)
        forks = [await contexts.fork(context.id) for _ in range(2)]
        steps = []
        for number, fork in enumerate(forks):
            await memory.namespace(fork.scope).set("branch", number)
            steps.append(await contexts.begin(fork.id, TOOL))
        await contexts.release(context.id, "interrupted")
        for number, step in enumerate(steps):
            assert await values(memory, await contexts.resume(step.id)) == {"branch": number}

    async def test_r12_steps_are_found_by_chat_stack_and_request_and_forgotten(
        self, contexts: Contexts, context: Context
    ) -> None:
        outer = await contexts.begin(context.id, StepType.DELEGATE)
        middle = await contexts.begin(context.id, LLM)
        inner = await contexts.begin(context.id, TOOL)
        other = await contexts.open(chat="other", request="second")
        elsewhere = await contexts.begin(other.id, TOOL)
        for asked, found in (
            ({"chat": "chat"}, [outer, middle, inner]),
            ({"request": "second"}, [elsewhere]),
            ({"stack": outer.id}, [middle]),
            ({"stack": context.id}, [outer]),
            ({"chat": "chat", "request": "second"}, []),
        ):
            assert [step.id for step in await contexts.steps(**asked)] == [step.id for step in found]
        assert [step.id for step in await contexts.path(inner.id)] == [outer.id, middle.id, inner.id]
        assert await contexts.forget("chat") == 0  # still worked on
        await contexts.release(context.id, "failed")
        assert await contexts.forget("chat") == 3
        assert await contexts.steps(chat="chat") == []
        for gone in (contexts.path(inner.id), contexts.snapshot(inner.id), contexts.resume(inner.id)):
            with pytest.raises(NothingThere):
                await gone
        assert [step.id for step in await contexts.steps()] == [elsewhere.id]

    async def test_what_ended_long_ago_is_swept_away_and_what_is_open_is_not(
        self, contexts: Contexts, context: Context, clock: Clock, database: Database
    ) -> None:
        ended = await contexts.open()
        await contexts.begin(ended.id, TOOL)
        await contexts.release(ended.id, "failed")
        clock.forward(6 * 86_400)
        assert await contexts.sweep() == 0
        clock.forward(2 * 86_400)
        assert await contexts.sweep() == 1
        assert await contexts.all() == [context]
        query = "SELECT count(*) FROM context_steps"
        assert await database.read(lambda connection: connection.execute(query).fetchone()) == (0,)


class TestOtherProcesses:
    async def test_a_context_stays_open_while_its_process_lives_and_is_interrupted_when_it_is_gone(
        self, home: Home, database: Database, calls: BlockingCalls, clock: Clock, contexts: Contexts
    ) -> None:
        other = Memory(home, database, calls, clock)
        context = await other.contexts.open(chat="chat")
        await other.namespace(context.scope).set("k", 1)
        step = await other.contexts.begin(context.id, TOOL)
        assert await contexts.recover() == 0
        assert await contexts.resumable() == []
        await other.close()
        assert [(found.id, found.error) for found in await contexts.resumable()] == [
            (step.id, "Pinfold ended while it ran")
        ]
        assert await other.scopes.namespace(Scope.parse(f"context:{context.id}")).keys() == []
        assert await contexts.recover() == 0
        assert list((home.state_dir / "contexts").iterdir()) == []
