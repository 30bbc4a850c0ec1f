"""All memories of an agent get vectors of its embedder: what is asked, what is told, what another model changes."""

from __future__ import annotations

from contextlib import aclosing

import msgspec
import pytest

from services.errors import EmbedderUnavailable, LockHeld, MemoryRefused
from services.memory import Draft, EmbedProgress, Query, Row
from services.pinfold import Pinfold
from tests.services.memory.agents.vectors.conftest import VECTORS, House, count, embedded, recalled
from tests.support.embedder import Answer, EmbedderServer

SECRET = "ghp_" + "a1" * 18


async def run(pinfold: Pinfold) -> list[EmbedProgress]:
    return [progress async for progress in pinfold.agent_memories.embed_run("reviewer").run()]


async def filled(house: House, rows: int) -> None:
    """Store rows before the agent has an embedder."""
    house.put("reviewer", "")
    async with house.opened() as pinfold:
        memory = pinfold.agent_memories.of("reviewer")
        row = await memory.store(Draft(key="000", content="deploy"))
        await memory.take_in([_copy(row, number) for number in range(1, rows)])
    house.put("reviewer", VECTORS)


def _copy(row: Row, number: int) -> Row:
    return msgspec.structs.replace(row, id=f"{number:032x}", key=f"{number:03}", content=f"note {number}")


async def test_what_was_there_before_is_embedded_in_batches_and_only_once(house: House, server: EmbedderServer) -> None:
    await filled(house, 70)
    async with house.opened() as pinfold:
        plan = await pinfold.agent_memories.embed_run("reviewer").plan()
        assert (plan.memories, plan.missing, plan.outdated, plan.model) == (70, 70, 0, "small")
        assert server.asked == []
        notice = (await pinfold.agent_memories.of("reviewer").recollect(Query("ship"))).notice
        assert "70 of 70 of reviewer. Run: pinfold memory embed reviewer" in notice
        told = await run(pinfold)
        assert [(one.done, one.total) for one in told] == [(0, 70), (32, 70), (64, 70), (70, 70)]
        assert await recalled(pinfold, "ship") == ["000"]
        before = len(server.asked)
        assert [(one.done, one.total) for one in await run(pinfold)] == [(0, 0)]
        assert len(server.asked) == before + 1  # what its vectors are like is asked anew
        (note,) = [entry for entry in await pinfold.activity.recent() if entry.verb == "memory.embed"]
        assert (note.agent, note.detail) == ("reviewer", "70 by small")


@pytest.mark.parametrize("change", ["model", "address", "size"])
async def test_another_model_is_noticed_and_its_vectors_never_compared_with_the_old(
    house: House, server: EmbedderServer, change: str
) -> None:
    async with house.opened() as pinfold:
        await pinfold.agent_memories.of("reviewer").store(Draft(key="k", content="deploy"))
        await embedded(pinfold, 1)
    if change == "model":
        house.set_shared(model="large")
    elif change == "address":
        house.set_shared(url=server.url.replace("127.0.0.1", "localhost"))
    else:
        server.dimensions = 64
    async with house.opened() as pinfold:
        memory = pinfold.agent_memories.of("reviewer")
        recollection = await memory.recollect(Query("ship"))
        assert recollection.found == []
        assert "1 of 1 of reviewer. Run: pinfold memory embed reviewer" in recollection.notice
        assert [one.row.key for one in (await memory.recollect(Query("deploy"))).found] == ["k"]
        plan = await pinfold.agent_memories.embed_run("reviewer").plan()
        assert (plan.outdated, plan.missing) == ((1, 0) if change != "size" else (0, 0))  # not known without asking
        assert (await run(pinfold))[-1].done == 1
        recollection = await memory.recollect(Query("ship"))
        assert ([one.row.key for one in recollection.found], recollection.notice) == (["k"], "")
        assert await count(pinfold, "memory_vectors") == 1


async def test_what_is_given_to_nobody_and_what_is_not_taken_is_told(house: House, server: EmbedderServer) -> None:
    await filled(house, 3)
    async with house.opened() as pinfold:
        memory = pinfold.agent_memories.of("reviewer")
        await memory.store(Draft(key="token", content=SECRET))
        await embedded(pinfold, 1)
        server.answer = lambda asked: Answer(400) if "note 2" in " ".join(asked.texts) else server.usual(asked)
        last = (await run(pinfold))[-1]
        assert (last.done, last.kept_back, last.refused) == (3, 0, 1)
        house.set_shared(model="large")
        await pinfold.agents.load()
        last = (await run(pinfold))[-1]
        assert (last.done, last.kept_back, last.refused) == (4, 1, 1)
        assert SECRET not in " ".join(server.texts)


async def test_an_embedder_that_goes_away_ends_it_and_what_was_done_stays(house: House, server: EmbedderServer) -> None:
    await filled(house, 70)
    async with house.opened() as pinfold:
        server.answer = lambda asked: Answer(500) if len(server.asked) > 2 else server.usual(asked)
        with pytest.raises(EmbedderUnavailable, match="answers 500"):
            await run(pinfold)
        assert await count(pinfold, "memory_vectors") == 32
        server.answer = server.usual
        assert (await run(pinfold))[-1].done == 38
        assert await count(pinfold, "memory_vectors") == 70


async def test_an_embedder_with_too_much_to_do_is_asked_again_when_it_says(
    house: House, server: EmbedderServer
) -> None:
    await filled(house, 40)
    busy = Answer(429, headers={"Retry-After": "0"})
    server.answer = lambda asked: busy if len(server.asked) in (2, 3, 5) else server.usual(asked)
    async with house.opened() as pinfold:
        assert (await run(pinfold))[-1].done == 40
        assert len(server.asked) == 1 + 2 + 3


async def test_vectors_that_change_their_size_on_the_way_end_it(house: House, server: EmbedderServer) -> None:
    await filled(house, 40)

    def growing(asked: object) -> Answer:
        server.dimensions = 5 if len(server.asked) < 3 else 6
        return server.usual(server.asked[-1])

    server.answer = growing
    async with house.opened() as pinfold:
        with pytest.raises(EmbedderUnavailable, match=r"another size than when this began\. Run it again"):
            await run(pinfold)
        server.answer = server.usual
        assert (await run(pinfold))[-1].done == 40


async def test_two_do_not_embed_the_same_memories_at_once(house: House) -> None:
    await filled(house, 3)
    async with house.opened() as pinfold:
        async with aclosing(pinfold.agent_memories.embed_run("reviewer").run()) as running:
            await anext(running)
            with pytest.raises(LockHeld, match="another Pinfold does it"):
                await run(pinfold)
        assert (await run(pinfold))[-1].done == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it has no embedder. Name a connector"),
        (f'[memory]\nbackend = "markdown"\n{VECTORS}', "which has no vectors. Move them with: pinfold memory move"),
    ],
    ids=["no embedder", "another back-end"],
)
async def test_what_cannot_be_embedded_says_why(house: House, text: str, words: str) -> None:
    house.put("reviewer", text)
    async with house.opened() as pinfold:
        with pytest.raises(MemoryRefused, match=words):
            await run(pinfold)
