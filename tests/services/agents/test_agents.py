"""Creating agents and switching them on and off, alone and beside another Pinfold."""

from __future__ import annotations

import stat
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from services.activity import ActivityLog, AgentsChanged, Event, Events
from services.agents import Agents
from services.agents import writing as writing_module
from services.agents.reading import usable_data
from services.errors import AgentNotFound, ConfigError, FileConflict, LockHeld, PinfoldError
from services.home import BlockingCalls, Database, Home
from tests.services.agents.conftest import AGENT, SHARED, Put
from tests.services.home.processes import outputs, start

TOGGLE = """
import asyncio, sys
from pathlib import Path
from services.activity import Events
from services.agents import Agents
from services.home import BlockingCalls, Home

async def main():
    calls = BlockingCalls()
    agents = Agents(Home(Path(sys.argv[1])), Events(), calls)
    await agents.load()
    for number in range(10):
        await agents.set_enabled(sys.argv[2], number % 2 == 1)
    calls.close()

asyncio.run(main())
"""

CREATE = """
import asyncio, sys
from pathlib import Path
from services.activity import Events
from services.agents import Agents
from services.errors import ConfigError
from services.home import BlockingCalls, Home

async def main():
    calls = BlockingCalls()
    agents = Agents(Home(Path(sys.argv[1])), Events(), calls)
    try:
        await agents.create("reviewer", description=sys.argv[2])
        print("made")
    except ConfigError:
        print("refused")
    calls.close()

asyncio.run(main())
"""


async def told(events: Events, action: Any) -> set[Event]:
    """What is published while `action` runs."""
    with events.listen() as listener:
        await action
        events.publish(AgentsChanged("end"))
        async with aclosing(listener.batches()) as batches:
            return set(await anext(batches)) - {AgentsChanged("end")}


class TestCreating:
    async def test_writes_a_file_a_person_can_read_and_an_editor_can_check(
        self, agents: Agents, put: Put, home: Home
    ) -> None:
        put("pinfold.toml", SHARED)
        agent = await agents.create(
            "reviewer",
            description='Reads "pull\trequests"\\ é',
            risk_profile="observer",
            runner="command",
            engine="docker",
            image="busybox:stable",
            lifecycle="session",
            command=("sh", "-c", "echo 'hi'"),
        )
        assert home.agent_file("reviewer").read_text() == (
            "#:schema ../../state/schema/agent.json\n"
            "[agent]\n"
            "enabled = true\n"
            'description = "Reads \\"pull\\trequests\\"\\\\ é"\n'
            'risk_profile = "observer"\n'
            "\n"
            "[sandbox]\n"
            'runner = "command"\n'
            'engine = "docker"\n'
            'image = "busybox:stable"\n'
            'lifecycle = "session"\n'
            'command = ["sh", "-c", "echo \'hi\'"]\n'
        )
        assert (home.agent_dir("reviewer") / "../../state/schema/agent.json").is_file()
        assert home.default_workspace("reviewer").is_dir()
        assert agent is agents.get("reviewer")
        assert (agent.description, agent.problems) == ('Reads "pull\trequests"\\ é', ())

    async def test_leaves_out_what_nobody_said(self, agents: Agents, put: Put, home: Home) -> None:
        put("pinfold.toml", SHARED)
        await agents.create("reviewer")
        assert home.agent_file("reviewer").read_text().endswith('\nenabled = true\nrisk_profile = "hardened"\n')

    async def test_takes_the_only_profile_there_is(self, agents: Agents, put: Put) -> None:
        put("pinfold.toml", "[risk_profiles.lonely]\n")
        assert (await agents.create("reviewer")).profile is not None

    @pytest.mark.parametrize(
        ("shared", "arguments", "why"),
        [
            ("", {}, "an agent needs a risk profile"),
            ("[risk_profiles.a]\n[risk_profiles.b]\n", {}, "There are: a, b"),
            (SHARED, {"risk_profile": "hardend"}, 'no risk profile "hardend"'),
            (SHARED, {"runner": "comand"}, 'Did you mean "command"'),
            (SHARED, {"engine": "podman"}, "sandbox.engine: must be one of"),
            (SHARED, {"lifecycle": "forever"}, "sandbox.lifecycle: must be one of"),
            (SHARED, {"command": ("a\0b",)}, "without NUL"),
            (SHARED, {"description": "\ud800"}, "text"),
        ],
    )
    async def test_refuses_what_could_not_be_used_and_makes_nothing(
        self, agents: Agents, put: Put, home: Home, shared: str, arguments: dict[str, Any], why: str
    ) -> None:
        put("pinfold.toml", shared or "[interface]\n")
        with pytest.raises(PinfoldError, match=why):
            await agents.create("reviewer", **arguments)
        assert not home.agents_dir.exists()
        assert agents.all() == ()

    @pytest.mark.parametrize("alias", ["", "default", "My-Agent", "a__b", "../x", "a/b", "x" * 64])
    async def test_refuses_a_name_that_is_no_alias(self, agents: Agents, put: Put, home: Home, alias: str) -> None:
        put("pinfold.toml", SHARED)
        with pytest.raises(ConfigError, match="cannot be an alias"):
            await agents.create(alias)
        assert not home.agents_dir.exists()

    async def test_never_takes_the_place_of_an_agent(self, agents: Agents, put: Put) -> None:
        put("pinfold.toml", SHARED)
        file = put("reviewer", "broken [")
        with pytest.raises(ConfigError, match="there is an agent reviewer already"):
            await agents.create("reviewer")
        assert file.read_text() == "broken ["

    async def test_takes_over_a_workspace_that_was_left_behind(self, agents: Agents, put: Put, home: Home) -> None:
        put("pinfold.toml", SHARED)
        home.default_workspace("reviewer").mkdir(parents=True)
        (home.default_workspace("reviewer") / "notes").write_text("kept")
        assert (await agents.create("reviewer")).problems == ()
        assert (home.default_workspace("reviewer") / "notes").read_text() == "kept"

    async def test_leaves_nothing_half_made(self, agents: Agents, put: Put, home: Home) -> None:
        put("pinfold.toml", SHARED)
        home.agents_dir.touch()
        with pytest.raises(PinfoldError):
            await agents.create("reviewer")
        home.agents_dir.unlink()
        await agents.create("reviewer")
        assert [path.name for path in home.agents_dir.iterdir()] == ["reviewer"]

    def test_at_once_in_two_processes_makes_one_agent(self, put: Put, home: Home) -> None:
        put("pinfold.toml", SHARED)
        results = outputs([start(CREATE, home.root, name) for name in ("one", "two", "three")])
        assert sorted(results) == ["made", "refused", "refused"]
        assert [path.name for path in home.agents_dir.iterdir()] == ["reviewer"]


class TestSwitching:
    async def test_keeps_everything_else_in_the_file(self, agents: Agents, put: Put) -> None:
        put("pinfold.toml", SHARED)
        text = AGENT.replace("[agent]", "[agent]   # me\nenabled = true  # for now") + "\n\n# bye"
        data = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
        file = put("reviewer", data)
        file.chmod(0o640)
        await agents.load()
        agent = await agents.set_enabled("reviewer", False)
        assert not agent.enabled
        assert file.read_bytes() == data.replace(b"enabled = true", b"enabled = false")
        assert stat.S_IMODE(file.stat().st_mode) == 0o640
        await agents.set_enabled("reviewer", True)
        assert file.read_bytes() == data

    async def test_to_what_it_is_already_writes_nothing(self, agents: Agents, put: Put) -> None:
        put("pinfold.toml", SHARED)
        file = put("reviewer", AGENT + "enabled = true\n")
        await agents.load()
        before = file.stat()
        await agents.set_enabled("reviewer", True)
        assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)

    async def test_takes_along_what_an_editor_changed_since(self, agents: Agents, put: Put) -> None:
        put("pinfold.toml", SHARED)
        put("reviewer", AGENT)
        await agents.load()
        file = put("reviewer", AGENT.replace("first", "second"))
        agent = await agents.set_enabled("reviewer", False)
        assert (agent.description, agent.enabled) == ("second", False)
        assert "second" in file.read_text()

    async def test_of_a_broken_file_is_refused_with_its_line_and_the_file_left_alone(
        self, agents: Agents, put: Put
    ) -> None:
        put("pinfold.toml", SHARED)
        put("reviewer", AGENT)
        await agents.load()
        for broken in ("[agent\n", "", "[agent]\nrisk_profil = 'x'\n"):
            file = put("reviewer", broken)
            with pytest.raises(ConfigError) as raised:
                await agents.set_enabled("reviewer", False)
            assert raised.value.file == file
            assert file.read_text() == broken

    async def test_of_a_missing_file_is_refused(self, agents: Agents, put: Put) -> None:
        put("reviewer", AGENT).unlink()
        await agents.load()
        with pytest.raises(ConfigError, match="missing"):
            await agents.set_enabled("reviewer", False)

    async def test_of_nobody_is_refused(self, agents: Agents) -> None:
        with pytest.raises(AgentNotFound):
            await agents.set_enabled("reviewer", False)

    async def test_of_an_agent_with_a_wrong_name_is_refused(self, agents: Agents, put: Put) -> None:
        file = put("My-Agent", AGENT)
        await agents.load()
        with pytest.raises(ConfigError, match="cannot be an alias"):
            await agents.set_enabled("My-Agent", False)
        assert file.read_text() == AGENT

    async def test_is_a_conflict_when_the_file_changes_in_the_same_moment(
        self, agents: Agents, put: Put, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put("pinfold.toml", SHARED)
        file = put("reviewer", AGENT)
        await agents.load()

        def read_and_edit(path: Path) -> bytes:
            data = usable_data(path)
            path.write_text(AGENT + "# theirs\n")
            return data

        monkeypatch.setattr(writing_module, "usable_data", read_and_edit)
        with pytest.raises(FileConflict):
            await agents.set_enabled("reviewer", False)
        assert file.read_text() == AGENT + "# theirs\n"

    async def test_waits_for_another_pinfold_but_not_for_ever(
        self, agents: Agents, put: Put, home: Home, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put("pinfold.toml", SHARED)
        put("reviewer", AGENT)
        await agents.load()
        monkeypatch.setattr(writing_module, "_LOCK_SECONDS", 0.05)
        with home.agent_lock("reviewer"), pytest.raises(LockHeld, match="the agent reviewer is in use"):
            await agents.set_enabled("reviewer", False)
        await agents.set_enabled("reviewer", False)
        assert not (home.agent_dir("reviewer") / "agent.lock").exists()

    def test_by_many_processes_at_once_ends_with_a_whole_file(self, put: Put, home: Home) -> None:
        put("pinfold.toml", SHARED)
        file = put("reviewer", AGENT + "enabled = true # c\n")
        outputs([start(TOGGLE, home.root, "reviewer") for _ in range(3)])
        assert file.read_text() == AGENT + "enabled = true # c\n"
        assert [path.name for path in home.agent_dir("reviewer").iterdir()] == ["agent.toml"]


class TestTelling:
    async def test_names_the_agents_that_changed(self, agents: Agents, put: Put, events: Events) -> None:
        put("pinfold.toml", SHARED)
        put("a", AGENT)
        put("b", AGENT)
        await agents.load()
        assert await told(events, agents.load()) == set()
        put("b", AGENT.replace("first", "second"))
        put("c", AGENT)
        assert await told(events, agents.load()) == {AgentsChanged("b"), AgentsChanged("c")}
        assert await told(events, agents.set_enabled("a", False)) == {AgentsChanged("a")}

    async def test_names_none_when_all_are_concerned(self, agents: Agents, put: Put, events: Events) -> None:
        put("a", AGENT)
        await agents.load()
        put("pinfold.toml", SHARED)
        assert await told(events, agents.load()) == {AgentsChanged()}

    async def test_is_silent_about_a_file_only_touched(self, agents: Agents, put: Put, events: Events) -> None:
        file = put("a", AGENT)
        await agents.load()
        file.touch()
        assert await told(events, agents.load()) == set()

    async def test_records_what_an_operator_did(
        self, home: Home, put: Put, events: Events, calls: BlockingCalls
    ) -> None:
        put("pinfold.toml", SHARED)
        async with Database(home.database_file) as database:
            log = ActivityLog(database, events)
            agents = Agents(home, events, calls, log)
            await agents.create("reviewer")
            await agents.set_enabled("reviewer", False)
            await agents.set_enabled("reviewer", True)
            assert [(entry.verb, entry.agent) for entry in await log.recent()] == [
                ("agent.create", "reviewer"),
                ("agent.disable", "reviewer"),
                ("agent.enable", "reviewer"),
            ]
