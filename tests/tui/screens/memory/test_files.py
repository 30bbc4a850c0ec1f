"""Exports, imports and snapshots: told how far they are, ended at any time, taken back where they can be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from services.memory import Draft
from tests.tui.conftest import shown
from tests.tui.screens.memory.conftest import USER, Desk
from tui.screens.memory.files.dialogs import AskFile
from tui.screens.memory.files.files import Transfer
from tui.screens.memory.places import AgentRows


async def give(desk: Desk, key: str, path: Path, what: str = "") -> None:
    """Press a key, and answer the question for a file."""
    await desk.press(key)
    await desk.until(lambda: isinstance(desk.app.screen, AskFile) and desk.app.screen.query("#yes"))
    dialog: Any = desk.app.screen
    dialog._path.value = str(path)
    if what:
        dialog._choice.value = what
    await desk.pilot.pause()
    dialog._go()


async def test_keys_are_exported_and_imported_with_their_time(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "keys.jsonl"
    await desk.keys().set("a", {"b": [1]}, ttl=600)
    await desk.keys().set("c", "d")
    await desk.show(USER, rows=2)
    await give(desk, "E", file, "here")
    await desk.until_shown("2 keys, ")
    assert [msgspec.json.decode(line)["key"] for line in file.read_bytes().splitlines()] == ["a", "c"]
    await give(desk, "E", file, "here")
    await desk.until_shown("It is there already; once more replaces it")
    await desk.press("escape")
    await desk.until_closed()
    await desk.keys().clear()
    await give(desk, "I", file)
    await desk.until_shown("2 keys stored")
    assert (await desk.keys().snapshot()).values() == {"a": {"b": [1]}, "c": "d"}
    entry = await desk.keys().entry("a")
    assert entry is not None
    assert entry.expires_at is not None


async def test_rows_of_an_agent_are_exported_and_imported(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    row = await desk.memory().store(Draft(key="style", content="short", pinned=True))
    await desk.show(AgentRows("reviewer"))
    await give(desk, "E", file)
    await desk.until_shown("1 row, ")
    await desk.memory().purge()
    await give(desk, "I", file)
    await desk.until_shown("1 row stored")
    back = await desk.memory().get("style")
    assert back is not None
    assert (back.id, back.content, back.pinned) == (row.id, "short", True)


async def test_a_bad_line_is_told_with_its_number_and_what_was_stored(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text('{"scope": "user", "id": "42", "key": "a", "value": 1}\nnonsense\n')
    await desk.show(USER, rows=0)
    await give(desk, "I", file)
    await desk.until_shown("line 2 is no key of an export")


async def test_an_export_that_is_stopped_leaves_nothing_behind(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "keys.jsonl"
    await desk.keys().set_many({f"{number:05}": "x" * 100 for number in range(3000)})
    said: list[str] = []
    transfer = Transfer(desk.pinfold, said.append)

    def stop(text: str) -> None:
        said.append(text)
        transfer.give_up()

    transfer._say = stop
    outcome = await transfer.export_keys(file, [USER], "", replace=False)
    assert outcome.said.startswith("nothing was written")
    assert list(tmp_path.iterdir()) == []
    assert said[-1] == ""


async def test_a_snapshot_is_restored_after_its_dry_run_and_taken_back(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "snapshot.json"
    await desk.keys().set_many({"kept": 1, "lost": 2})
    await desk.show(USER, rows=2)
    await give(desk, "w", file)
    await desk.until_shown("2 keys of user:42 written")
    await desk.keys().delete("lost")
    await desk.keys().set("new", 3)
    await give(desk, "W", file)
    await desk.until_shown("comes back: lost", "goes: new", "is written over: kept")
    await desk.press("right", "enter")
    await desk.until_shown("2 keys restored")
    assert (await desk.keys().snapshot()).values() == {"kept": 1, "lost": 2}
    await desk.undo()
    assert (await desk.keys().snapshot()).values() == {"kept": 1, "new": 3}


async def test_a_file_that_is_no_snapshot_changes_nothing(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "nonsense.json"
    file.write_text("{}")
    await desk.keys().set("a", 1)
    await desk.show(USER)
    await give(desk, "W", file)
    await desk.until_shown("is no snapshot")
    assert "Replace all" not in shown(desk.app)
    assert await desk.keys().get("a") == 1
