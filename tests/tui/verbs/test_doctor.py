"""`pinfold doctor`: every engine usable or not and why, and whether home and terminal are as they should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.home import Home, examine
from tests.tui.verbs.conftest import Command
from tui.verbs.doctor import colour_depth


def test_every_engine_is_named_with_what_it_is_or_lacks(pinfold: Command) -> None:
    report = pinfold.json("doctor", DOCKER_HOST="unix:///nowhere.sock")
    engines = {engine["name"]: engine for engine in report["engines"]}
    assert engines["docker"]["usable"] is False
    assert engines["docker"]["problem"]
    assert engines["local"]["usable"] is True
    assert report["ok"] is True
    assert report["home"]["exists"] is True
    assert report["versions"]["textual"].startswith("8.")
    text = pinfold("doctor", DOCKER_HOST="unix:///nowhere.sock").stdout
    assert "/nowhere.sock" in text


def test_every_memory_back_end_in_use_is_named_with_whether_it_answers(pinfold: Command) -> None:
    pinfold.add_agent("near")
    for alias, backend in (("far", "postgres"), ("farther", "qdrant")):
        pinfold.home.agent_dir(alias).mkdir(parents=True)
        pinfold.home.agent_file(alias).write_text(f'[memory]\nbackend = "{backend}"\n')
    with pinfold.home.config_file.open("a") as config:
        config.write('[memory.postgres]\nurl_env = "MEMORY_URL"\n[memory.qdrant]\nurl = "http://127.0.0.1:1"\n')
    away = {"MEMORY_URL": "postgresql://me:hidden@127.0.0.1:1/x", "DOCKER_HOST": "unix:///nowhere.sock"}
    pinfold.environment.update(away)
    report = pinfold.json("doctor")
    assert report["ok"] is True
    assert {one["name"]: one["usable"] for one in report["memory"]} == {
        "sqlite": True,
        "postgres": False,
        "qdrant": False,
    }
    text = pinfold("doctor").stdout
    assert "Look whether the server runs" in text
    assert "no server answers at http://127.0.0.1:1" in text
    assert "hidden" not in text
    pinfold.environment["MEMORY_URL"] = ""
    assert "$MEMORY_URL is not set" in pinfold("doctor").stdout


def test_without_a_home_it_says_so_and_makes_none(tmp_path: Path) -> None:
    command = Command(Home(tmp_path / "nowhere"))
    assert "pinfold init" in command("doctor").stdout
    assert not command.home.root.exists()


def test_a_damaged_database_fails_it(pinfold: Command) -> None:
    pinfold.home.state_dir.mkdir()
    pinfold.home.database_file.write_bytes(b"not a database at all" * 100)
    report = pinfold.json("doctor", status=1)
    assert report["ok"] is False
    assert "not a database" in report["home"]["problems"][0]
    pinfold.home.database_file.unlink()


def test_a_home_others_may_change_is_a_problem(home: Home) -> None:
    home.agents_dir.mkdir(parents=True)
    home.root.chmod(0o777)
    (problem,) = examine(home).problems
    assert "chmod go-w" in problem


@pytest.mark.parametrize(
    ("env", "depth"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "true"),
        ({"TERM": "xterm-256color"}, "256"),
        ({"TERM": "linux"}, "16"),
        ({"TERM": "dumb"}, "none"),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, "none"),
        ({}, "none"),
    ],
    ids=["true", "256", "16", "dumb", "no-color", "no-terminal"],
)
def test_colours_are_told_from_the_environment(env: dict[str, str], depth: str) -> None:
    assert colour_depth(env) == depth
