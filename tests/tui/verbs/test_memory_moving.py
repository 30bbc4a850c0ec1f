"""`pinfold memory move` and `hygiene`: what they print and refuse, as text and as JSON."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import aclosing

import pytest

from services.home import Home
from services.memory import Draft
from services.pinfold import Pinfold
from tests.tui.verbs.conftest import Command

DAY = 86_400 * 1_000_000_000


@pytest.fixture
def remembering(pinfold: Command) -> Command:
    """The command on a home whose agent has remembered something for 40 days."""
    pinfold.add_agent("reviewer")
    asyncio.run(store(pinfold.home))
    return pinfold


async def store(home: Home) -> None:
    before = time.time_ns() - 40 * DAY
    async with Pinfold.open(home, supervise=False, engines={}, now=lambda: before) as services:
        memory = services.agent_memories.of("reviewer")
        for key, category in (("a", "core"), ("b", "daily"), ("c", "conversation"), ("d", "conversation")):
            await memory.store(Draft(key=key, content="twelve bytes", category=category, pinned=key == "d"))


def test_a_move_says_what_it_does_and_the_file_says_where_it_is(remembering: Command) -> None:
    text = remembering("memory", "move", "reviewer", "--to", "markdown", "--dry-run").stdout
    assert text == "4 memories of reviewer would be moved from sqlite to markdown\n"
    assert "markdown" not in remembering.home.agent_file("reviewer").read_text()
    text = remembering("memory", "move", "reviewer", "--to", "markdown").stdout
    assert text.splitlines() == [
        "4 memories of reviewer to move from sqlite to markdown",
        "4 copied",
        "4 read back and compared",
        "4 switched over",
        "removing them where they were",
    ]
    assert 'backend = "markdown"' in remembering.home.agent_file("reviewer").read_text()
    assert "memory.move" in remembering("activity").stdout
    steps = remembering.json_lines("memory", "move", "reviewer", "--to", "sqlite")
    assert [step["step"] for step in steps] == ["plan", "copy", "verify", "switch", "remove", "done"]
    assert steps[-1] == {
        "step": "done",
        "alias": "reviewer",
        "source": "markdown",
        "target": "sqlite",
        "rows": 4,
        "total": 4,
    }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reviewer", "--to", "sqlite"], "in sqlite already"),
        (["reviewer", "--to", "redis"], "There are: sqlite, markdown, postgres, qdrant, lucid, none."),
        (["nobody", "--to", "markdown"], 'there is no agent "nobody"'),
        (["reviewer", "--to", "postgres"], "pinfold.toml does not say where it is. Set url_env in [memory.postgres]."),
        (["reviewer", "--to", "markdown", "--cancel"], "no move of the memory of reviewer has begun"),
    ],
    ids=["where it is", "no back-end", "no agent", "no address", "nothing to give up"],
)
def test_what_cannot_be_moved_says_why(remembering: Command, arguments: list[str], words: str) -> None:
    assert words in remembering("memory", "move", *arguments, status=1).stderr


def test_an_interrupted_move_goes_on_or_is_given_up(remembering: Command) -> None:
    async def begin() -> None:
        async with (
            Pinfold.open(remembering.home, supervise=False, engines={}) as services,
            aclosing(services.agent_memories.mover("reviewer", "markdown").run()) as moving,
        ):
            await anext(moving)

    asyncio.run(begin())
    elsewhere = remembering("memory", "move", "reviewer", "--to", "lucid", status=1).stderr
    assert "pinfold memory move reviewer --to markdown, or give it up with --cancel" in elsewhere
    text = remembering("memory", "move", "reviewer", "--to", "markdown", "--dry-run").stdout
    assert text.startswith("goes on: 4 memories")
    assert remembering.json("memory", "move", "reviewer", "--to", "markdown", "--cancel") == {
        "alias": "reviewer",
        "removed": 4,
    }


def test_a_back_end_that_was_changed_by_hand_is_marked_with_the_command(remembering: Command) -> None:
    with remembering.home.agent_file("reviewer").open("a") as file:
        file.write('\n[memory]\nbackend = "markdown"\n')
    found = remembering("agents", "check", status=1)
    assert "pinfold memory move reviewer --to markdown" in found.stdout + found.stderr
    remembering("memory", "move", "reviewer", "--to", "markdown")
    remembering("agents", "check")


def test_setting_another_back_end_is_refused_with_the_command(remembering: Command) -> None:
    refused = remembering("agents", "set", "reviewer", "memory.backend=markdown", "--yes", status=1)
    assert "pinfold memory move reviewer --to markdown" in refused.stderr


def test_hygiene_says_what_it_removes_and_removes_it(remembering: Command) -> None:
    text = remembering("memory", "hygiene", "reviewer", "--dry-run").stdout
    assert text == "1 memory would be removed: 1 conversation, 12 bytes\n"
    assert remembering.json("memory", "hygiene", "reviewer", "--keep", "daily=39.5") == {
        "alias": "reviewer",
        "dry_run": False,
        "rows": {"conversation": 1, "daily": 1},
        "total": 2,
        "size": 24,
    }
    assert remembering("memory", "hygiene", "reviewer").stdout == "0 memories removed\n"
    left = json.loads(remembering("memory", "recall", "reviewer", "--json").stdout)
    assert {row["key"] for row in left} == {"a", "d"}
    assert "removed 1 conversation, 1 daily" in remembering("activity").stdout


def test_hygiene_keeps_what_pinfold_toml_says(remembering: Command) -> None:
    with remembering.home.config_file.open("a") as config:
        config.write("[memory.retention.days]\nconversation = 0\ncore = 1\n")
    assert remembering("memory", "hygiene", "reviewer").stdout == "1 memory removed: 1 core, 12 bytes\n"
    refused = remembering("memory", "hygiene", "reviewer", "--keep", "core", status=1).stderr
    assert "Write it as daily=30." in refused
