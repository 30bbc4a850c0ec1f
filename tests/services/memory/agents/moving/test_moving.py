"""A memory is moved whole, verified, and only then switched over and removed where it was."""

from __future__ import annotations

from contextlib import aclosing

import msgspec
import pytest

from services.errors import ConfigError, InputRefused, LockHeld, MemoryRefused, MemoryUnavailable, NothingThere
from services.memory import Draft, Listing, Owner, Query, Row
from services.memory.agents.gate import Gate
from tests.services.memory.agents.moving.conftest import AGENT, House, everything, filled, moved

WAYS = [
    ("sqlite", "markdown"),
    ("markdown", "sqlite"),
    ("sqlite", "postgres"),
    ("postgres", "sqlite"),
    ("markdown", "postgres"),
    ("postgres", "markdown"),
    ("sqlite", "qdrant"),
    ("qdrant", "postgres"),
    ("postgres", "qdrant"),
    ("qdrant", "markdown"),
    ("markdown", "qdrant"),
    ("sqlite", "lucid"),
    ("lucid", "sqlite"),
    ("lucid", "postgres"),
    ("qdrant", "lucid"),
    ("lucid", "markdown"),
]


def essence(rows: list[Row]) -> list[Row]:
    """Rows without what belongs to where they are kept."""
    return [msgspec.structs.replace(row, agent_id="") for row in rows]


@pytest.mark.parametrize(("source", "target"), WAYS, ids=lambda way: way)
async def test_every_row_arrives_as_it_was_and_the_agent_goes_on_there(house: House, source: str, target: str) -> None:
    house.set_backend(source)
    async with house.opened() as pinfold:
        before = await filled(pinfold.agent_memories.of("reviewer"))
        told = await moved(pinfold, target)
        memory = pinfold.agent_memories.of("reviewer")
        assert memory.backend.name == target
        assert essence(await everything(memory)) == essence(before)
        assert [progress.stage for progress in told][-3:] == ["switch", "remove", "done"]
        assert {progress.stage for progress in told} >= {"copy", "verify"}
        assert told[-1].rows == told[0].total == len(before)
        there = pinfold.agent_memories.backends[source]
        assert await there.count(memory.owner, Listing(superseded=True)) == 0
        assert "k" in [found.row.key for found in await memory.recall(Query("k", limit=100))]
        (note,) = [entry for entry in await pinfold.activity.recent() if entry.verb == "memory.move"]
        assert (note.agent, note.detail) == ("reviewer", f"{len(before)} from {source} to {target}")
        agent = pinfold.agents.get("reviewer")
        assert (agent.problems, agent.stale) == ((), False)
    assert f'backend = "{target}"' in house.file
    assert AGENT in house.file


async def test_a_plan_tells_and_changes_nothing(house: House) -> None:
    async with house.opened() as pinfold:
        before = await filled(pinfold.agent_memories.of("reviewer"))
        plan = await pinfold.agent_memories.mover("reviewer", "markdown").plan()
        assert (plan.source, plan.target, plan.rows, plan.there) == ("sqlite", "markdown", len(before), 0)
        assert not plan.resumed
        assert await everything(pinfold.agent_memories.of("reviewer")) == before
        assert not pinfold.agents.get("reviewer").workspace.exists()
    assert house.file == AGENT


async def test_rows_that_are_there_already_stay_unless_they_have_the_same_key(house: House) -> None:
    house.set_backend("markdown")
    async with house.opened() as pinfold:
        notes = pinfold.agents.get("reviewer").workspace / "MEMORY.md"
        notes.parent.mkdir(parents=True)
        notes.write_text("# Mine\n- **editor**: vi\n")
    house.set_backend("sqlite")
    async with house.opened() as pinfold:
        memory = pinfold.agent_memories.of("reviewer")
        await memory.store(Draft(key="editor", content="ed"))
        with pytest.raises(MemoryRefused, match="both have a memory 'editor'"):
            await moved(pinfold, "markdown")
        await memory.forget("editor")
        await memory.store(Draft(key="shell", content="dash"))
        await moved(pinfold, "markdown")
        rows = {row.key: row.content for row in await everything(pinfold.agent_memories.of("reviewer"))}
    assert rows == {"editor": "vi", "shell": "dash"}
    assert "# Mine" in notes.read_text()


@pytest.mark.parametrize(
    ("target", "error", "words"),
    [
        ("sqlite", MemoryRefused, "in sqlite already"),
        ("none", MemoryRefused, "keeps nothing"),
        ("redis", InputRefused, "no back-end 'redis'. There are: sqlite,"),
        ("lucid", MemoryRefused, "researcher reads it and keeps its own in sqlite. Take reviewer out"),
    ],
)
async def test_what_cannot_be_moved_says_why_before_anything_is_copied(
    house: House, target: str, error: type[Exception], words: str
) -> None:
    house.home.agent_dir("researcher").mkdir()
    house.home.agent_file("researcher").write_text(f'{AGENT}\n[memory]\nread_memory_from = ["reviewer"]\n')
    async with house.opened() as pinfold:
        await pinfold.agent_memories.of("reviewer").store(Draft(key="k", content="x"))
        with pytest.raises(error, match=words):
            await moved(pinfold, target)
        with pytest.raises(NothingThere):
            await pinfold.agent_memories.mover("reviewer", "markdown").cancel()


async def test_an_agent_that_reads_others_is_not_moved_away_from_them(house: House) -> None:
    house.home.agent_dir("researcher").mkdir()
    house.home.agent_file("researcher").write_text(AGENT)
    house.home.agent_file("reviewer").write_text(f'{AGENT}\n[memory]\nread_memory_from = ["researcher"]\n')
    async with house.opened() as pinfold:
        with pytest.raises(ConfigError, match="researcher keeps its memory in sqlite, this agent in markdown"):
            await moved(pinfold, "markdown")


async def test_a_server_that_is_away_leaves_all_as_it_was(house: House) -> None:
    house.env["MEMORY_URL"] = "postgresql://u:p@/x?host=/nowhere"
    async with house.opened() as pinfold:
        before = await filled(pinfold.agent_memories.of("reviewer"))
        with pytest.raises(MemoryUnavailable):
            await moved(pinfold, "postgres")
        assert await everything(pinfold.agent_memories.of("reviewer")) == before
    assert house.file == AGENT


async def test_what_the_agent_changes_while_it_is_copied_arrives_too(house: House) -> None:
    async with house.opened() as pinfold:
        memory = pinfold.agent_memories.of("reviewer")
        for number in range(450):
            await memory.store(Draft(key=f"{number:03}", content="x"))
        copies = 0
        async for progress in pinfold.agent_memories.mover("reviewer", "postgres").run():
            copies += progress.stage == "copy"
            if progress.stage == "copy" and copies == 2:
                await memory.store(Draft(key="000", content="changed"))
                await memory.forget("001")
                await memory.store(Draft(key="new", content="x"))
            if progress.stage == "verify":
                with pytest.raises(LockHeld, match="being moved"):
                    await memory.store(Draft(key="late", content="x"))
        with pytest.raises(MemoryRefused, match="in postgres by now, not in sqlite"):
            await memory.store(Draft(key="late", content="x"))
        rows = {row.key: row.content for row in await everything(pinfold.agent_memories.of("reviewer"))}
    assert copies > 2
    assert (rows["000"], rows["new"], len(rows)) == ("changed", "x", 450)
    assert "001" not in rows


async def test_a_row_that_arrives_differently_stops_the_move_and_nothing_is_removed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house.opened() as pinfold:
        before = await filled(pinfold.agent_memories.of("reviewer"))
        target = pinfold.agent_memories.backends["markdown"]
        take_in = target.take_in

        async def forgetful(owner: Owner, rows: list[Row]) -> int:
            return await take_in(owner, [msgspec.structs.replace(row, pinned=False) for row in rows])

        monkeypatch.setattr(target, "take_in", forgetful)
        with pytest.raises(MemoryRefused, match=r"of 17 memories are not the same in markdown. It stays in sqlite"):
            await moved(pinfold, "markdown")
        assert await everything(pinfold.agent_memories.of("reviewer")) == before
        assert house.file == AGENT


async def test_a_move_that_is_ended_early_can_be_given_up_or_go_on_but_not_elsewhere(house: House) -> None:
    async with house.opened() as pinfold:
        before = await filled(pinfold.agent_memories.of("reviewer"))
        for _ in range(2):
            async with aclosing(pinfold.agent_memories.mover("reviewer", "markdown").run()) as moving:
                assert (await anext(moving)).stage == "copy"
            with pytest.raises(MemoryRefused, match="a move to markdown was interrupted"):
                await moved(pinfold, "lucid")
            assert (await pinfold.agent_memories.mover("reviewer", "markdown").plan()).resumed
            assert await pinfold.agent_memories.mover("reviewer", "markdown").cancel() == len(before)
        assert await everything(pinfold.agent_memories.of("reviewer")) == before
        await moved(pinfold, "lucid")
        assert essence(await everything(pinfold.agent_memories.of("reviewer"))) == essence(before)


async def test_two_cannot_move_it_at_once_and_one_who_changes_it_is_waited_for(house: House) -> None:
    async with house.opened() as pinfold:
        await pinfold.agent_memories.of("reviewer").store(Draft(key="k", content="x"))
        async with aclosing(pinfold.agent_memories.mover("reviewer", "markdown").run()) as moving:
            await anext(moving)
            with pytest.raises(LockHeld, match="another Pinfold moves it"):
                await moved(pinfold, "markdown")
        with Gate(house.home, "reviewer").passed(), pytest.raises(LockHeld, match="in use"):
            async with Gate(house.home, "reviewer").closed(0.05):
                pass


async def test_what_was_held_back_is_moved_to_where_the_file_says(house: House) -> None:
    async with house.opened() as pinfold:
        before = await filled(pinfold.agent_memories.of("reviewer"))
    house.set_backend("markdown")
    async with house.opened() as pinfold:
        assert "memory move reviewer --to markdown" in pinfold.agents.get("reviewer").problems[0].fix
        assert pinfold.agent_memories.of("reviewer").backend.name == "sqlite"
        written = house.file
        await moved(pinfold, "markdown")
        assert essence(await everything(pinfold.agent_memories.of("reviewer"))) == essence(before)
        assert pinfold.agents.get("reviewer").problems == ()
    assert house.file == written
