"""`pinfold memory embed`, and what `recall` and `doctor` say of an embedder."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from services.home import Home
from services.memory import Draft
from services.pinfold import Pinfold
from tests.support.embedder import EmbedderServer, embedder_server
from tests.tui.verbs.conftest import Command

SECRET = "ghp_" + "a1B2" * 9
VECTORS = '[memory.vectors]\nembedder = "near"\n'


@pytest.fixture
def server() -> Iterator[EmbedderServer]:
    with embedder_server() as server:
        yield server


@pytest.fixture
def remembering(pinfold: Command, server: EmbedderServer) -> Command:
    """The command on a home whose agent got an embedder after it had stored something."""
    home = pinfold.home
    home.agent_dir("reviewer").mkdir(parents=True, exist_ok=True)
    home.agent_file("reviewer").write_text("[agent]\n")
    asyncio.run(store(home))
    home.agent_file("reviewer").write_text(f"[agent]\n{VECTORS}")
    with home.config_file.open("a") as config:
        config.write(f'\n[connectors.near]\nkind = "openai"\nbase_url = "{server.url}"\nmodel = "small"\n')
    return pinfold


async def store(home: Home) -> None:
    async with Pinfold.open(home, supervise=False, engines={}) as services:
        memory = services.agent_memories.of("reviewer")
        await memory.store(Draft(key="when", content="deploy on Mondays"))
        await memory.store(Draft(key="where", content="lunch in the canteen"))
        await memory.store(Draft(key="token", content=f"pushes with {SECRET}"))


def test_embedding_says_what_it_does_and_recall_finds_what_means_the_like(
    remembering: Command, server: EmbedderServer
) -> None:
    said = remembering("memory", "recall", "reviewer", "publish")
    assert said.stdout.count("\n") == 1
    assert "3 of 3 of reviewer. Run: pinfold memory embed reviewer" in said.stderr
    text = remembering("memory", "embed", "reviewer", "--dry-run").stdout
    assert text == "3 of 3 memories of reviewer would be embedded by small\n"
    assert server.texts == ["publish"]
    text = remembering("memory", "embed", "reviewer").stdout
    assert text.splitlines() == [
        "3 of 3 memories of reviewer to embed by small",
        "2 embedded",
        "1 given to nobody, because of what the scan found in them",
    ]
    said = remembering("memory", "recall", "reviewer", "publish", "--json")
    assert [row["key"] for row in json.loads(said.stdout)] == ["when"]
    assert said.stderr == ""
    assert remembering.json("memory", "recall", "reviewer", "publish", "--search", "keywords") == []
    assert SECRET not in " ".join(server.texts)


def test_with_json_every_step_is_a_line(remembering: Command) -> None:
    steps = remembering.json_lines("memory", "embed", "reviewer")
    assert [step["step"] for step in steps] == ["plan", "embed", "embed", "done"]
    assert steps[-1] == {
        "step": "done",
        "alias": "reviewer",
        "embedder": "near",
        "model": "small",
        "memories": 3,
        "outdated": 0,
        "missing": 3,
        "done": 3,
        "total": 3,
        "kept_back": 1,
        "refused": 0,
    }


def test_an_embedder_that_is_away_is_an_error_for_embed_and_a_word_for_recall(
    remembering: Command, server: EmbedderServer
) -> None:
    server.stop()
    refused = remembering("memory", "embed", "reviewer", status=1)
    assert "cannot use the embedder near: no server answers at its address. Look whether it runs" in refused.stderr
    said = remembering("memory", "recall", "reviewer", "Mondays")
    assert "deploy on Mondays" in said.stdout
    assert "pinfold: Found by words alone: cannot use the embedder near" in said.stderr


def test_the_doctor_says_whether_an_embedder_answers(remembering: Command, server: EmbedderServer) -> None:
    def embedder() -> dict[str, object]:
        (found,) = [one for one in remembering.json("doctor")["memory"] if one["name"] == "embedder near"]
        return dict(found)

    assert (embedder()["usable"], embedder()["detail"]) == (True, "small, 5 dimensions")
    server.stop()
    assert embedder()["usable"] is False
    assert "base_url in [connectors.near]" in str(embedder()["fix"])


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("", "it has no embedder"),
        (f'[memory]\nbackend = "markdown"\n{VECTORS}', "Move them with: pinfold memory move reviewer --to sqlite"),
    ],
    ids=["no embedder", "another back-end"],
)
def test_what_cannot_be_embedded_says_why(pinfold: Command, section: str, words: str) -> None:
    pinfold.add_agent("reviewer")
    with pinfold.home.agent_file("reviewer").open("a") as file:
        file.write(f"\n{section}")
    assert words in pinfold("memory", "embed", "reviewer", status=1).stderr


def test_likeness_asked_for_without_an_embedder_is_said_not_to_be_had(pinfold: Command) -> None:
    home = pinfold.home
    home.agent_dir("reviewer").mkdir(parents=True, exist_ok=True)
    home.agent_file("reviewer").write_text("[agent]\n")
    asyncio.run(store(home))
    said = pinfold("memory", "recall", "reviewer", "deploy", "--search", "vectors")
    assert "deploy on Mondays" in said.stdout
    assert "Found by words alone: reviewer has no embedder." in said.stderr
    assert pinfold("memory", "recall", "reviewer", "deploy").stderr == ""
