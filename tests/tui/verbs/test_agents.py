"""`pinfold agents`, `init` and `schema`: what people decide, read and written."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.home import Home
from tests.tui.verbs.conftest import Command


def test_a_list_tells_states_and_settings(pinfold: Command) -> None:
    pinfold.add_agent("one")
    pinfold.add_agent("two", agent="enabled = false")
    pinfold.add_agent("three").write_text("[agent]\nenabled = maybe\n")
    agents = {agent["alias"]: agent for agent in pinfold.json("agents", "list")}
    assert agents["one"]["enabled"] is True
    assert agents["two"]["enabled"] is False
    assert agents["three"]["enabled"] is None
    assert agents["three"]["problems"][0]["line"] == 2
    text = pinfold("agents", "list").stdout
    assert "error at line 2" in text


def test_no_agents_are_no_error(pinfold: Command) -> None:
    assert pinfold.json("agents", "list") == []
    with pinfold.on_terminal("agents", "list") as terminal:
        assert terminal.wait_for_exit() == 0
        assert "pinfold agents create" in terminal.text()


def test_details_name_where_each_setting_comes_from(pinfold: Command) -> None:
    pinfold.add_agent("one", sandbox='memory = "64m"')
    details = pinfold.json("agents", "show", "one")
    settings = {setting["name"]: setting for setting in details["settings"]}
    assert (settings["memory"]["value"], settings["memory"]["origin"]) == (64 * 1024 * 1024, "agent.toml")
    assert settings["engine"]["origin"] == "pinfold.toml"
    assert settings["lifecycle"]["origin"] == "built in"
    assert "64M" in pinfold("agents", "show", "one").stdout


def test_an_unknown_alias_is_refused_with_the_nearest(pinfold: Command) -> None:
    pinfold.add_agent("reviewer")
    assert "reviewer" in pinfold("agents", "show", "revewer", status=1).stderr


def test_a_check_names_file_line_and_key_and_fails(pinfold: Command) -> None:
    file = pinfold.add_agent("one")
    file.write_text(file.read_text() + 'memmory = "1g"\n')
    done = pinfold("agents", "check", status=1)
    assert f"{file}:" in done.stdout
    assert "memmory" in done.stdout
    assert "memory" in done.stdout.replace("memmory", "")
    (problem,) = pinfold.json("agents", "check", "one", status=1)
    assert (problem["file"], problem["severity"]) == (str(file), "error")
    assert problem["line"] > 1


def test_a_check_of_good_files_passes(pinfold: Command) -> None:
    pinfold.add_agent("one")
    assert pinfold("agents", "check").stdout == ""


def test_a_created_agent_is_there(pinfold: Command) -> None:
    pinfold("agents", "create", "fresh", "--description", "Does things", "--profile", "free")
    (agent,) = pinfold.json("agents", "list")
    assert (agent["alias"], agent["description"], agent["risk_profile"]) == ("fresh", "Does things", "free")
    assert Path(agent["file"]).is_file()


@pytest.mark.parametrize("alias", ["Bad", "a__b", "default", "x" * 64, "../up", ""], ids=repr)
def test_a_name_that_is_no_alias_is_refused(pinfold: Command, alias: str) -> None:
    assert pinfold("agents", "create", alias, status=1).stderr.startswith("pinfold: ")
    assert pinfold.json("agents", "list") == []


def test_a_created_agent_runs_what_it_was_given(pinfold: Command) -> None:
    options = ("--profile", "free", "--engine", "local", "--lifecycle", "session", "--image", "busybox:stable")
    pinfold("agents", "create", "fresh", *options, "--", "echo", "--home", "a b")
    assert pinfold("run", "fresh").stdout == "--home a b\n"
    settings = {setting["name"]: setting["value"] for setting in pinfold.json("agents", "show", "fresh")["settings"]}
    assert (settings["lifecycle"], settings["image"]) == ("session", "busybox:stable")


def test_an_agent_is_not_created_twice(pinfold: Command) -> None:
    file = pinfold.add_agent("one")
    before = file.read_bytes()
    pinfold("agents", "create", "one", status=1)
    assert file.read_bytes() == before


def test_disabling_and_enabling_keep_comments(pinfold: Command) -> None:
    file = pinfold.add_agent("one")
    file.write_text("# mine\n[agent]\nenabled = true  # for now\n")
    pinfold("agents", "disable", "one")
    assert file.read_text() == "# mine\n[agent]\nenabled = false  # for now\n"
    pinfold("agents", "enable", "one")
    assert file.read_text() == "# mine\n[agent]\nenabled = true  # for now\n"


def test_a_new_home_is_made_once_and_never_changed(tmp_path: Path) -> None:
    command = Command(Home(tmp_path / "new home"))
    assert "made" in command("init").stdout
    assert command.home.config_file.is_file()
    before = {path: path.read_bytes() for path in command.home.root.rglob("*.toml")}
    assert command.json("init") == {"home": str(command.home.root), "created": []}
    assert {path: path.read_bytes() for path in command.home.root.rglob("*.toml")} == before


def test_the_demo_has_agents_without_problems(tmp_path: Path) -> None:
    command = Command(Home(tmp_path / "home"))
    command("init", "--demo")
    assert len(command.json("agents", "list")) >= 3
    assert command.json("agents", "check") == []


def test_the_option_before_or_after_the_verb_names_the_home(tmp_path: Path, pinfold: Command) -> None:
    other = str(tmp_path / "other")
    pinfold("--home", other, "init")
    assert pinfold.json("agents", "list", "--home", other) == pinfold.json("--home", other, "agents", "list")


def test_schemas_are_printed_each_or_both(pinfold: Command) -> None:
    both = pinfold.json("schema")
    assert both == {"agent": pinfold.json("schema", "agent"), "pinfold": pinfold.json("schema", "pinfold")}
    assert pinfold("schema", "agent").stdout == pinfold("schema", "agent", "--json").stdout
