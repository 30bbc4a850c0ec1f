"""A draft is what would be written; it is written only over what it was made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.activity import ActivityLog, Events
from services.agents import MISSING, Agents, Change, Draft
from services.agents import writing as writing_module
from services.errors import AgentNotFound, ConfigError, FileConflict, LockHeld
from services.home import BlockingCalls, Database, Home
from tests.services.agents.conftest import AGENT, SHARED, Put

DESCRIPTION = ("agent", "description")
LEVEL = ("permissions", "level")
COMMANDS = ("permissions", "allowed_commands")
TEXT = AGENT + '\n[permissions]  # mine\nallowed_commands = [\n    "git",  # history\n    "ls",\n]\n'


@pytest.fixture
async def draft(agents: Agents, put: Put) -> Draft:
    put("pinfold.toml", SHARED)
    put("reviewer", TEXT)
    await agents.load()
    return await agents.draft("reviewer")


class TestBeginning:
    async def test_holds_the_file_as_it_is_now_not_as_it_was_looked_at(self, agents: Agents, put: Put) -> None:
        put("pinfold.toml", SHARED)
        put("reviewer", AGENT)
        await agents.load()
        file = put("reviewer", AGENT.replace("first", "second"))
        draft = await agents.draft("reviewer")
        assert (draft.alias, draft.file, draft.base, draft.data) == (
            "reviewer",
            file,
            file.read_bytes(),
            file.read_bytes(),
        )
        assert (draft.changes, draft.changed, draft.agent.description) == ((), False, "second")

    @pytest.mark.parametrize(
        ("data", "line", "key"),
        [(b"[agent\n", 1, ""), (b"", 0, ""), (b"[agent]\nenabled = 1\n", 2, "agent.enabled"), (b"\xff", 1, "")],
        ids=["not TOML", "empty", "wrong type", "not UTF-8"],
    )
    async def test_with_a_broken_file_is_refused_with_its_line(
        self, agents: Agents, put: Put, data: bytes, line: int, key: str
    ) -> None:
        file = put("reviewer", data)
        await agents.load()
        with pytest.raises(ConfigError) as raised:
            await agents.draft("reviewer")
        assert (raised.value.file, raised.value.line, raised.value.key) == (file, line, key)

    async def test_of_nobody_is_refused(self, agents: Agents) -> None:
        with pytest.raises(AgentNotFound):
            await agents.draft("reviewer")

    async def test_with_a_missing_file_makes_one(self, agents: Agents, put: Put, home: Home) -> None:
        put("pinfold.toml", SHARED)
        home.agent_dir("reviewer").mkdir(parents=True)
        await agents.load()
        draft = await agents.draft("reviewer")
        assert (draft.base, draft.changed, draft.agent.config) == (b"", False, None)
        draft = await agents.save(await agents.edit(draft, Change(("agent", "risk_profile"), "observer")))
        assert home.agent_file("reviewer").read_text() == (
            '#:schema ../../state/schema/agent.json\n\n[agent]\nrisk_profile = "observer"\n'
        )
        assert draft.agent.problems == ()


class TestEditing:
    async def test_changes_the_text_and_what_the_agent_would_be_but_not_the_file(
        self, agents: Agents, draft: Draft
    ) -> None:
        edited = await agents.edit(draft, Change(COMMANDS, ["git", "jj"]), Change(LEVEL, "readonly"))
        assert edited.file.read_bytes() == draft.base == edited.base
        assert edited.data.decode() == TEXT.replace('"ls",\n]', '"jj",\n]') + 'level = "readonly"\n'
        assert edited.changed
        assert edited.agent.config is not None
        assert edited.agent.config.permissions.level == "readonly"
        assert [change.path for change in edited.changes] == [COMMANDS, LEVEL]

    async def test_keeps_one_change_for_each_key_and_drops_one_that_leads_back(
        self, agents: Agents, draft: Draft
    ) -> None:
        edited = await agents.edit(draft, Change(LEVEL, "full"), Change(DESCRIPTION, "x"))
        edited = await agents.edit(edited, Change(LEVEL, "readonly"))
        assert edited.changes == (Change(LEVEL, "readonly"), Change(DESCRIPTION, "x"))
        edited = await agents.edit(edited, Change(LEVEL, None), Change(DESCRIPTION, "first"))
        assert (edited.changes, edited.changed, edited.data) == ((), False, draft.base)

    async def test_a_change_of_a_table_takes_the_place_of_those_inside_it(self, agents: Agents, draft: Draft) -> None:
        edited = await agents.edit(draft, Change(LEVEL, "full"), Change(("permissions",), None))
        assert edited.changes == (Change(("permissions",), None),)
        assert edited.data.decode() == AGENT

    async def test_shows_every_problem_with_line_and_key(self, agents: Agents, draft: Draft) -> None:
        edited = await agents.edit(draft, Change(LEVEL, "fulll"), Change(("agent", "risk_profile"), "hardned"))
        assert [(problem.line, problem.key) for problem in edited.agent.problems] == [(11, "permissions.level")]
        edited = await agents.edit(edited, Change(LEVEL, "full"))
        assert [(problem.line, problem.key) for problem in edited.agent.problems] == [(3, "agent.risk_profile")]

    async def test_that_would_touch_something_else_is_refused(self, agents: Agents, draft: Draft) -> None:
        with pytest.raises(ConfigError, match=r"agent\.description\.x: cannot be changed"):
            await agents.edit(draft, Change(("agent", "description", "x"), 1))


class TestSaving:
    async def test_writes_the_draft_and_returns_one_of_what_is_there(self, agents: Agents, draft: Draft) -> None:
        edited = await agents.edit(draft, Change(DESCRIPTION, "second"))
        saved = await agents.save(edited)
        assert draft.file.read_bytes() == edited.data == saved.base == saved.data
        assert (saved.changes, saved.changed) == ((), False)
        assert agents.get("reviewer").description == saved.agent.description == "second"

    async def test_of_nothing_changed_writes_nothing(self, agents: Agents, draft: Draft) -> None:
        before = draft.file.stat()
        await agents.save(draft)
        assert (draft.file.stat().st_ino, draft.file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)

    async def test_never_goes_over_a_change_on_disk(self, agents: Agents, draft: Draft) -> None:
        edited = await agents.edit(draft, Change(DESCRIPTION, "second"))
        draft.file.write_text(TEXT + "# theirs\n")
        with pytest.raises(FileConflict):
            await agents.save(edited)
        assert draft.file.read_text() == TEXT + "# theirs\n"

    @pytest.mark.parametrize("what", ["gone", "broken"])
    async def test_never_replaces_a_file_that_went_or_broke(self, agents: Agents, draft: Draft, what: str) -> None:
        edited = await agents.edit(draft, Change(DESCRIPTION, "second"))
        draft.file.unlink()
        if what == "broken":
            draft.file.write_bytes(b"[agent")
        with pytest.raises(FileConflict):
            await agents.save(edited)
        assert draft.file.exists() == (what == "broken")

    @pytest.mark.parametrize(
        ("change", "key"),
        [
            (Change(LEVEL, "fulll"), "permissions.level"),
            (Change(("agent", "risk_profile"), "ghost"), "agent.risk_profile"),
            (Change(("agent", "enabeld"), True), "agent.enabeld"),
            (Change(("workspace", "access", "reviewer"), "read"), "workspace.access.reviewer"),
        ],
        ids=["wrong value", "no such profile", "unknown key", "names itself"],
    )
    async def test_of_an_agent_with_an_error_is_refused_with_its_place(
        self, agents: Agents, draft: Draft, change: Change, key: str
    ) -> None:
        with pytest.raises(ConfigError) as raised:
            await agents.save(await agents.edit(draft, change))
        assert (raised.value.file, raised.value.key) == (draft.file, key)
        assert raised.value.line > 0
        assert draft.file.read_bytes() == draft.base

    async def test_judges_by_pinfold_toml_as_it_is_by_then(self, agents: Agents, draft: Draft, put: Put) -> None:
        edited = await agents.edit(draft, Change(("agent", "risk_profile"), "fresh"))
        assert edited.agent.problems != ()
        put("pinfold.toml", SHARED + "[risk_profiles.fresh]\n")
        assert (await agents.save(edited)).agent.problems == ()

    async def test_waits_for_another_pinfold_but_not_for_ever(
        self, agents: Agents, draft: Draft, home: Home, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        edited = await agents.edit(draft, Change(DESCRIPTION, "second"))
        monkeypatch.setattr(writing_module, "_LOCK_SECONDS", 0.05)
        with home.agent_lock("reviewer"), pytest.raises(LockHeld):
            await agents.save(edited)
        assert draft.file.read_bytes() == draft.base

    async def test_and_undoing_are_recorded_with_keys_and_no_values(
        self, home: Home, put: Put, events: Events, calls: BlockingCalls
    ) -> None:
        put("pinfold.toml", SHARED)
        put("reviewer", AGENT)
        async with Database(home.database_file) as database:
            log = ActivityLog(database, events)
            agents = Agents(home, events, calls, log)
            await agents.load()
            draft = await agents.edit(
                await agents.draft("reviewer"),
                Change(("sandbox", "environment", "API_KEY"), "hunter2"),
                Change(DESCRIPTION, "x"),
            )
            await agents.undo(await agents.save(draft), draft.base)
            assert [(entry.verb, entry.agent, entry.detail) for entry in await log.recent()] == [
                ("agent.edit", "reviewer", "agent.description, sandbox.environment.API_KEY"),
                ("agent.undo", "reviewer", "agent.description, sandbox.environment.API_KEY"),
            ]


class TestUndoing:
    async def test_brings_the_same_bytes_back(self, agents: Agents, draft: Draft) -> None:
        saved = await agents.save(await agents.edit(draft, Change(COMMANDS, []), Change(DESCRIPTION, None)))
        undone = await agents.undo(saved, draft.base)
        assert draft.file.read_bytes() == draft.base == undone.base
        assert agents.get("reviewer").description == "first"

    async def test_never_goes_over_a_change_made_since(self, agents: Agents, draft: Draft) -> None:
        saved = await agents.save(await agents.edit(draft, Change(DESCRIPTION, "second")))
        draft.file.write_bytes(saved.base + b"# theirs\n")
        with pytest.raises(FileConflict):
            await agents.undo(saved, draft.base)
        assert draft.file.read_bytes() == saved.base + b"# theirs\n"


class TestAChangeOnDisk:
    """What the draft changed, what somebody else changed, and what becomes of both."""

    @pytest.fixture
    async def edited(self, agents: Agents, draft: Draft) -> Draft:
        """A draft of three changes, with a file that changed in three places since."""
        edited = await agents.edit(
            draft, Change(DESCRIPTION, "mine"), Change(LEVEL, "full"), Change(("workspace", "path"), "w")
        )
        theirs = TEXT.replace("first", "theirs").replace('    "ls",\n', "") + 'level = "full"\n# theirs\n'
        draft.file.write_text(theirs)
        return edited

    async def test_is_told_key_by_key(self, agents: Agents, edited: Draft) -> None:
        found = await agents.disagreements(edited)
        assert [(one.path, one.base, one.mine, one.theirs, one.conflicts) for one in found] == [
            (DESCRIPTION, "first", "mine", "theirs", True),
            (LEVEL, MISSING, "full", "full", False),
            (("workspace", "path"), MISSING, "w", MISSING, False),
            (COMMANDS, ["git", "ls"], ["git", "ls"], ["git"], False),
        ]

    async def test_can_be_built_on(self, agents: Agents, edited: Draft) -> None:
        rebased = await agents.rebase(edited)
        assert rebased.base == edited.file.read_bytes()
        assert [change.path for change in rebased.changes] == [DESCRIPTION, ("workspace", "path")]
        saved = await agents.save(rebased)
        assert b"# theirs\n" in saved.data
        assert saved.agent.description == "mine"

    async def test_can_win_key_by_key(self, agents: Agents, edited: Draft) -> None:
        rebased = await agents.rebase(edited, keep={("workspace", "path")})
        assert rebased.changes == (Change(("workspace", "path"), "w"),)
        assert rebased.agent.description == "theirs"
        assert (await agents.rebase(edited, keep=())).data == edited.file.read_bytes()

    async def test_that_broke_the_file_cannot_be_compared(self, agents: Agents, edited: Draft) -> None:
        edited.file.write_text("[agent]\nenabled = maybe\n")
        for attempt in (agents.disagreements(edited), agents.rebase(edited)):
            with pytest.raises(ConfigError) as raised:
                await attempt
            assert raised.value.line == 2

    async def test_that_only_moves_comments_is_no_disagreement(self, agents: Agents, draft: Draft) -> None:
        draft.file.write_text("# hello\n" + TEXT)
        assert await agents.disagreements(draft) == ()


async def test_an_alias_that_is_none_cannot_be_saved(agents: Agents, put: Put) -> None:
    put("pinfold.toml", SHARED)
    file: Path = put("My-Agent", AGENT)
    await agents.load()
    with pytest.raises(ConfigError, match="lower-case"):
        await agents.save(await agents.edit(await agents.draft("My-Agent"), Change(DESCRIPTION, "x")))
    assert file.read_text() == AGENT
