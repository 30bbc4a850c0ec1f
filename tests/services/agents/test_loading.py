"""What a look at a home finds: agents good, broken and stale, and why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.agents import Agent, Agents, PinfoldConfig
from services.errors import AgentNotFound
from services.home import Home
from tests.services.agents.conftest import AGENT, SHARED, Put

BROKEN = "[agent]\nenabled = maybe\n"


def said(agent: Agent) -> list[tuple[int, str, str, str]]:
    return [(problem.line, problem.key, problem.severity, problem.message) for problem in agent.problems]


async def test_a_home_that_is_not_there_has_no_agents_and_no_problems(agents: Agents, home: Home) -> None:
    await agents.load()
    assert (agents.all(), agents.shared, agents.shared_problems) == ((), PinfoldConfig(), ())
    assert not home.root.exists()


async def test_reads_every_agent_with_its_profile_and_settings(agents: Agents, put: Put, home: Home) -> None:
    put("pinfold.toml", SHARED + "[defaults.sandbox]\nmemory = '1g'\n")
    put("writer", AGENT)
    put("reviewer", AGENT + "[workspace]\npath = 'files'\n")
    await agents.load()
    assert [agent.alias for agent in agents.all()] == ["reviewer", "writer"]
    writer, reviewer = agents.get("writer"), agents.get("reviewer")
    assert writer.profile == agents.shared.risk_profiles["hardened"]
    assert writer.settings is not None
    assert (writer.settings.memory, writer.settings.origins["memory"]) == (1024**3, "pinfold.toml")
    assert writer.workspace == home.default_workspace("writer")
    assert reviewer.workspace == home.agent_dir("reviewer") / "files"
    assert (writer.problems, writer.obstacle, writer.stale, writer.enabled) == ((), None, False, True)


async def test_an_unknown_alias_names_the_nearest(agents: Agents, put: Put) -> None:
    put("reviewer", AGENT)
    await agents.load()
    with pytest.raises(AgentNotFound, match="reviewer"):
        agents.get("reveiwer")


async def test_one_broken_agent_does_not_hide_the_others(agents: Agents, put: Put) -> None:
    put("pinfold.toml", SHARED)
    put("broken", BROKEN)
    put("whole", AGENT)
    await agents.load()
    broken = agents.get("broken")
    assert (broken.config, broken.stale, broken.settings, broken.enabled) == (None, False, None, False)
    assert broken.obstacle is broken.problems[0]
    assert agents.get("whole").problems == ()


class TestLastGood:
    async def test_stays_in_force_when_the_file_breaks(self, agents: Agents, put: Put) -> None:
        put("pinfold.toml", SHARED)
        put("reviewer", AGENT)
        await agents.load()
        put("reviewer", BROKEN)
        await agents.load()
        agent = agents.get("reviewer")
        assert agent.stale
        assert agent.description == "first"
        assert agent.obstacle is None
        assert [(line, severity) for line, _, severity, _ in said(agent)] == [(2, "error")]
        put("reviewer", AGENT.replace("first", "second"))
        await agents.load()
        assert (agents.get("reviewer").description, agents.get("reviewer").stale) == ("second", False)

    @pytest.mark.parametrize("kind", ["missing", "empty", "directory", "circle of links", "dangling link", "too large"])
    async def test_stays_in_force_whatever_becomes_of_the_file(self, agents: Agents, put: Put, kind: str) -> None:
        put("pinfold.toml", SHARED)
        file = put("reviewer", AGENT)
        await agents.load()
        file.unlink()
        match kind:
            case "empty":
                file.touch()
            case "directory":
                file.mkdir()
            case "circle of links":
                file.symlink_to(file)
            case "dangling link":
                file.symlink_to("nowhere")
            case "too large":
                file.write_bytes(b"# " + b"x" * 1024 * 1024)
        for _ in range(2):
            await agents.load()
            agent = agents.get("reviewer")
            assert (agent.stale, agent.description) == (True, "first")
            assert len(agent.problems) == 1

    async def test_of_pinfold_toml_stays_in_force_too(self, agents: Agents, put: Put) -> None:
        file = put("pinfold.toml", SHARED)
        put("reviewer", AGENT)
        await agents.load()
        put("pinfold.toml", SHARED + "[defualts]\n")
        await agents.load()
        (problem,) = agents.shared_problems
        assert (problem.line, problem.fix) == (7, 'Did you mean "defaults"?')
        assert agents.get("reviewer").profile is not None
        assert agents.get("reviewer").problems == ()
        file.unlink()
        await agents.load()
        assert [problem.message for problem in agents.shared_problems] == ["pinfold.toml is missing"]
        assert agents.get("reviewer").profile is not None

    async def test_is_judged_without_lines_of_a_file_that_says_something_else(self, agents: Agents, put: Put) -> None:
        put("pinfold.toml", SHARED)
        put("reviewer", AGENT)
        await agents.load()
        put("reviewer", BROKEN)
        put("pinfold.toml", "[risk_profiles.other]\n")
        await agents.load()
        agent = agents.get("reviewer")
        assert agent.profile is None
        assert agent.obstacle is not None
        assert (agent.obstacle.line, agent.obstacle.key) == (0, "agent.risk_profile")
        assert len(agent.problems) == 2


class TestPinfoldToml:
    async def test_that_never_was_good_is_said_to_be_why_profiles_are_unknown(self, agents: Agents, put: Put) -> None:
        put("pinfold.toml", "[risk_profiles\n")
        put("reviewer", AGENT)
        await agents.load()
        assert len(agents.shared_problems) == 1
        assert "while pinfold.toml cannot be used" in str(agents.get("reviewer").obstacle)

    async def test_that_changes_is_applied_to_agents_that_did_not(self, agents: Agents, put: Put) -> None:
        put("pinfold.toml", SHARED)
        put("reviewer", AGENT)
        await agents.load()
        put("pinfold.toml", SHARED + "[defaults.sandbox]\nlifecycle = 'session'\n")
        await agents.load()
        settings = agents.get("reviewer").settings
        assert settings is not None
        assert settings.lifecycle == "session"

    async def test_that_was_broken_and_then_removed_leaves_no_problem(self, agents: Agents, put: Put) -> None:
        file = put("pinfold.toml", "[")
        await agents.load()
        file.unlink()
        await agents.load()
        assert agents.shared_problems == ()

    async def test_that_names_a_connector_it_does_not_have(self, agents: Agents, put: Put) -> None:
        put("pinfold.toml", SHARED + "[roles]\nheavy = 'lokal'\n")
        await agents.load()
        (problem,) = agents.shared_problems
        assert (problem.line, problem.key, problem.fix) == (8, "roles.heavy", 'Did you mean "local"?')


class TestDirectories:
    async def test_with_a_wrong_name_are_listed_if_they_hold_an_agent(
        self, agents: Agents, put: Put, home: Home
    ) -> None:
        put("pinfold.toml", SHARED)
        put("My-Agent", AGENT)
        put("default", AGENT)
        put(".hidden", AGENT)
        for name in ("lost+found", "backup.d"):
            (home.agents_dir / name).mkdir()
        (home.agents_dir / "notes.txt").touch()
        await agents.load()
        assert [agent.alias for agent in agents.all()] == ["My-Agent", "default"]
        assert [str(agent.obstacle).split(". ")[-1] for agent in agents.all()] == ["Rename its directory."] * 2
        assert agents.get("default").config is not None

    async def test_without_a_file_are_agents_that_lack_it(self, agents: Agents, home: Home) -> None:
        home.agent_dir("reviewer").mkdir(parents=True)
        await agents.load()
        assert [problem.message for problem in agents.get("reviewer").problems] == ["agent.toml is missing"]

    async def test_with_names_that_are_no_text_are_shown_as_far_as_they_can(self, agents: Agents, put: Put) -> None:
        put(os.fsdecode(b"caf\xe9"), AGENT)
        await agents.load()
        (agent,) = agents.all()
        assert agent.alias == "caf\ufffd"
        assert agent.alias.encode()

    async def test_behind_links_are_agents_like_any_other(
        self, agents: Agents, put: Put, home: Home, tmp_path: Path
    ) -> None:
        put("pinfold.toml", SHARED)
        elsewhere = tmp_path / "dotfiles"
        elsewhere.mkdir()
        (elsewhere / "agent.toml").write_text(AGENT)
        home.agents_dir.mkdir()
        (home.agents_dir / "reviewer").symlink_to(elsewhere)
        await agents.load()
        assert agents.get("reviewer").problems == ()
        (elsewhere / "agent.toml").write_text(AGENT.replace("first", "second"))
        await agents.load()
        assert agents.get("reviewer").description == "second"

    async def test_that_cannot_be_listed_keep_the_agents_known(self, agents: Agents, put: Put, home: Home) -> None:
        put("pinfold.toml", SHARED)
        put("reviewer", AGENT)
        await agents.load()
        home.agents_dir.rename(home.root / "aside")
        home.agents_dir.touch()
        await agents.load()
        assert [problem.file for problem in agents.shared_problems] == [home.agents_dir]
        assert agents.get("reviewer").profile is not None
        home.agents_dir.unlink()
        (home.root / "aside").rename(home.agents_dir)
        await agents.load()
        assert agents.shared_problems == ()


async def test_two_changes_within_one_tick_of_the_clock_are_both_seen(agents: Agents, put: Put) -> None:
    put("pinfold.toml", SHARED)
    file = put("reviewer", AGENT)
    moment = file.stat().st_mtime_ns
    await agents.load()
    put("reviewer", AGENT.replace("first", "other"))
    os.utime(file, ns=(moment, moment))
    await agents.load()
    assert agents.get("reviewer").description == "other"


class TestSource:
    async def test_is_what_the_file_says_now(self, agents: Agents, put: Put) -> None:
        put("reviewer", b"\xef\xbb\xbf[agent]\n# caf\xe9\n")
        await agents.load()
        assert await agents.source("reviewer") == "[agent]\n# caf\ufffd\n"

    async def test_of_a_missing_file_is_empty(self, agents: Agents, home: Home) -> None:
        home.agent_dir("reviewer").mkdir(parents=True)
        await agents.load()
        assert await agents.source("reviewer") == ""

    async def test_of_nobody_is_an_error(self, agents: Agents) -> None:
        with pytest.raises(AgentNotFound):
            await agents.source("reviewer")
