"""What agents name of one another, and whose workspaces lie where."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.agents import Agent, Agents
from services.home import Home
from tests.services.agents.conftest import AGENT, SHARED, Put


def said(agent: Agent) -> list[tuple[int, str, str, str]]:
    return [(problem.line, problem.key, problem.severity, problem.message) for problem in agent.problems]


class TestReferences:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("[agent]\nenabled = true\n", (1, "agent.risk_profile", "error", "no risk profile is named")),
            (
                '[agent]\nrisk_profile = "hardend"\n',
                (2, "agent.risk_profile", "error", 'there is no risk profile "hardend" in pinfold.toml'),
            ),
            (
                AGENT + "roles = { light = 'nothing' }\n",
                (5, "agent.roles.light", "warning", 'there is no connector "nothing" in pinfold.toml'),
            ),
            (
                AGENT + "[workspace.access]\nwritr = 'read'\n",
                (6, "workspace.access.writr", "warning", 'there is no agent "writr"'),
            ),
            (
                AGENT + "[workspace.access]\nreviewer = 'read'\n",
                (6, "workspace.access.reviewer", "error", "an agent must not name itself here"),
            ),
            (
                AGENT + "delegates = [\n{ agent = 'writer' },\n{ agent = 'writer' } ]\n",
                (7, "agent.delegates[1].agent", "error", 'the delegate "writer" is listed twice'),
            ),
            (
                AGENT + "delegates = [{ agent = 'ghost' }]\n",
                (5, "agent.delegates[0].agent", "warning", 'there is no agent "ghost"'),
            ),
            (
                AGENT + "delegates = [{ agent = 'idle' }]\n",
                (5, "agent.delegates[0].agent", "warning", "idle is disabled, so no work is handed to it"),
            ),
            (
                AGENT + "delegates = [{ agent = ' ' }]\n",
                (5, "agent.delegates[0].agent", "error", "an agent is not named"),
            ),
            (
                AGENT + "[memory]\nread_memory_from = [\n'',\n]\n",
                (7, "memory.read_memory_from[0]", "error", "an agent is not named"),
            ),
            (
                AGENT + "[memory]\nread_memory_from = ['writer']\n",
                (
                    6,
                    "memory.read_memory_from[0]",
                    "error",
                    "writer keeps its memory in markdown, this agent in sqlite",
                ),
            ),
            (
                AGENT + "[sandbox]\nidle_timeout = '5m'\n",
                (6, "sandbox.idle_timeout", "warning", "has no effect with the lifecycle oneshot"),
            ),
            (
                AGENT + "[sandbox]\ncommand = ['ls']\n",
                (6, "sandbox.command", "warning", "has no effect with the runner yaocode"),
            ),
            (
                AGENT + "[sandbox]\nrunner = 'command'\nengine = 'local'\n",
                (5, "sandbox", "warning", "has no command to run unless a start names one"),
            ),
        ],
    )
    async def test_that_lead_nowhere_are_told_with_line_and_key(
        self, agents: Agents, put: Put, text: str, found: tuple[int, str, str, str]
    ) -> None:
        put("pinfold.toml", SHARED)
        put("writer", AGENT + "[memory]\nbackend = 'markdown'\n")
        put("idle", "[agent]\nenabled = false\n")
        put("reviewer", text)
        await agents.load()
        agent = agents.get("reviewer")
        assert said(agent) == [found]
        assert agent.config is not None
        assert not agent.stale
        assert (agent.obstacle is None) == (found[2] == "warning")

    async def test_a_disabled_agent_needs_no_profile(self, agents: Agents, put: Put) -> None:
        put("reviewer", "[agent]\nenabled = false\n")
        await agents.load()
        assert agents.get("reviewer").problems == ()

    async def test_are_looked_at_again_when_the_sibling_comes_or_goes(
        self, agents: Agents, put: Put, home: Home
    ) -> None:
        put("pinfold.toml", SHARED)
        put("reviewer", AGENT + "[workspace.access]\nwriter = 'read'\n")
        await agents.load()
        assert len(agents.get("reviewer").problems) == 1
        put("writer", AGENT)
        await agents.load()
        assert agents.get("reviewer").problems == ()
        home.agent_file("writer").unlink()
        home.agent_dir("writer").rmdir()
        await agents.load()
        assert len(agents.get("reviewer").problems) == 1


class TestWorkspaces:
    @pytest.mark.parametrize(
        "path", ["..", "../..", "/", "../writer", "../../state", "../../state/x", "../../archives/a", "link", ".", ""]
    )
    async def test_must_not_hold_what_pinfold_keeps(self, agents: Agents, put: Put, home: Home, path: str) -> None:
        put("pinfold.toml", SHARED)
        put("reviewer", AGENT + f"[workspace]\npath = '{path}'\n")
        (home.agent_dir("reviewer") / "link").symlink_to(home.root)
        await agents.load()
        keys = [problem.key for problem in agents.get("reviewer").problems]
        assert keys == (["workspace.path"] if path else [])
        assert (agents.get("reviewer").obstacle is not None) == bool(path)

    async def test_may_lie_anywhere_else(self, agents: Agents, put: Put, tmp_path: Path) -> None:
        put("pinfold.toml", SHARED)
        for number, path in enumerate((f"{tmp_path}/with space: ü", "deep/er", "~/elsewhere")):
            put(f"a{number}", AGENT + f"[workspace]\npath = '{path}'\n")
        await agents.load()
        assert all(agent.problems == () and agent.workspace.is_absolute() for agent in agents.all())
        assert agents.get("a2").workspace == Path.home() / "elsewhere"

    async def test_of_nobody_is_a_problem(self, agents: Agents, put: Put) -> None:
        put("pinfold.toml", SHARED)
        put("reviewer", AGENT + "[workspace]\npath = '~no-such-user/x'\n")
        await agents.load()
        assert [problem.key for problem in agents.get("reviewer").problems] == ["workspace.path"]
