"""`pinfold rename`, `delete`, `archives` and `operations`: a plan first, and nothing by accident."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from services.home import Home
from tests.support.terminal import ROOT
from tests.tui.verbs.conftest import Command

LEAD = '[workspace.access]\nreviewer = "read"  # to see\n'


@pytest.fixture
def home_with_reviewer(pinfold: Command, home: Home) -> Home:
    pinfold.add_agent("reviewer")
    (home.default_workspace("reviewer") / "notes.md").write_text("# Notes\n")
    file = pinfold.add_agent("lead")
    file.write_text(file.read_text() + LEAD)
    return home


def tree(home: Home) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in home.agents_dir.rglob("*") if path.is_file()}


def test_a_dry_run_shows_the_plan_and_changes_nothing(pinfold: Command, home_with_reviewer: Home):
    before = tree(home_with_reviewer)
    for arguments in (("rename", "reviewer", "critic"), ("delete", "reviewer")):
        shown = pinfold(*arguments, "--dry-run").stdout
        assert '-reviewer = "read"  # to see' in shown
        assert "from here on it can only be completed" in shown
        document = pinfold.json(*arguments, "--dry-run")
        assert document["allowed"]
        assert document["plan"]["rewrites"][0]["owner"] == "lead"
    assert tree(home_with_reviewer) == before
    assert pinfold.json("operations", "list") == []


def test_a_rename_goes_through_and_is_listed(pinfold: Command, home_with_reviewer: Home):
    assert "renamed reviewer to critic" in pinfold("rename", "reviewer", "critic").stdout
    assert 'critic = "read"  # to see' in home_with_reviewer.agent_file("lead").read_text()
    (operation,) = pinfold.json("operations", "list")
    assert (operation["kind"], operation["state"], operation["target"]) == ("rename", "done", "critic")
    assert pinfold.json("operations", "show", operation["id"][-4:])["steps"][0]["name"] == "move"
    assert "rename its directory to critic" in pinfold("operations", "show", operation["id"]).stdout
    assert "it is done" in pinfold("operations", "retry", operation["id"], status=1).stderr


def test_a_rename_stops_sessions_when_it_is_asked_to(pinfold: Command, home_with_reviewer: Home):
    pinfold.add_agent("worker", "sleep 60")
    session = pinfold.json("run", "worker", "--detach")["id"]
    told = pinfold("rename", "worker", "digger", status=1).stderr
    assert f"session {session} is running" in told
    pinfold("rename", "worker", "digger", "--stop-sessions")
    (found,) = pinfold.json("sessions", "list")
    assert (found["id"], found["agent"], found["live"]) == (session, "digger", False)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        pytest.param(("rename", "reviewer", "lead"), "is there already", id="a target that is taken"),
        pytest.param(("rename", "nobody", "critic"), "there is no agent nobody", id="nobody"),
        pytest.param(("rename", "reviewer", "default"), "is reserved", id="the reserved alias"),
        pytest.param(("delete", "default", "--yes"), "is reserved", id="deleting the reserved alias"),
        pytest.param(("delete", "nobody", "--yes"), "there is no agent nobody", id="deleting nobody"),
        pytest.param(("delete", "reviewer"), "nothing was changed", id="without a yes"),
        pytest.param(("operations", "show", "x"), "there is no operation", id="an unknown operation"),
        pytest.param(("archives", "show", "x"), "there is no archive", id="an unknown archive"),
        pytest.param(
            ("archives", "restore", "x-20260101000000"),
            "cannot restore x-20260101000000: there is no archive",
            id="restoring nothing",
        ),
    ],
)
def test_what_is_refused_says_why_with_status_1(pinfold, home_with_reviewer, arguments, reason):
    before = tree(home_with_reviewer)
    assert reason in pinfold(*arguments, status=1).stderr
    assert tree(home_with_reviewer) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("rename", "reviewer"),
        ("delete",),
        ("archives", "purge"),
        ("archives", "purge", "x", "--older-than", "1d"),
        ("archives", "purge", "--older-than", "soon"),
        ("archives", "purge", "--keep-size", "much"),
        ("archives", "restore", "x", "--part", "half"),
    ],
    ids=" ".join,
)
def test_what_is_not_understood_has_status_2(pinfold, home_with_reviewer, arguments):
    pinfold(*arguments, status=2)


class TestArchives:
    @pytest.fixture
    def archive(self, pinfold: Command, home_with_reviewer: Home) -> str:
        operation = pinfold.json("delete", "reviewer", "--yes")
        assert operation["state"] == "done"
        return str(operation["archive"])

    def test_answer_what_was_deleted_what_is_kept_whether_it_is_intact_and_what_referred_to_it(
        self, pinfold: Command, archive: str
    ):
        (listed,) = pinfold.json("archives", "list", "--agent", "reviewer")
        assert (listed["id"], listed["state"], listed["intact"]) == (archive, "sealed", None)
        (verified,) = pinfold.json("archives", "verify")
        assert (verified["archive"], verified["intact"]) == (archive, True)
        shown = pinfold("archives", "show", archive, "--files").stdout
        for part in ("lead:workspace.access.reviewer", "intact", "workspace/notes.md"):
            assert part in shown
        details = pinfold.json("archives", "show", archive)
        assert details["manifest"]["references"][0]["value"] == '"read"'

    def test_give_the_agent_back(self, pinfold: Command, home_with_reviewer: Home, archive: str):
        pinfold("archives", "restore", archive, "--all-references")
        assert (home_with_reviewer.default_workspace("reviewer") / "notes.md").read_text() == "# Notes\n"
        assert 'reviewer = "read"' in home_with_reviewer.agent_file("lead").read_text()
        assert pinfold.json("archives", "compare", archive, "reviewer")["same"]
        (home_with_reviewer.default_workspace("reviewer") / "notes.md").write_text("# Other\n")
        assert (
            "changed: file workspace/notes.md" in pinfold("archives", "compare", archive, "reviewer", status=1).stdout
        )
        arguments = ("archives", "restore", archive, "--part", "files", "--path", "workspace/notes.md")
        assert "would be replaced" in pinfold(*arguments, status=1).stderr
        pinfold(*arguments, "--overwrite")
        assert (home_with_reviewer.default_workspace("reviewer") / "notes.md").read_text() == "# Notes\n"

    def test_that_were_changed_are_named_with_status_1(self, pinfold: Command, home: Home, archive: str):
        (home.archives_dir / archive / "agent.toml").write_text("[agent]\n")
        assert "differs: agent.toml" in pinfold("archives", "verify", archive, status=1).stdout
        assert "is not intact" in pinfold("archives", "restore", archive, status=1).stderr

    def test_are_purged_one_by_one_with_their_alias_typed(self, pinfold: Command, home: Home, archive: str):
        assert "Confirm with --alias reviewer" in pinfold("archives", "purge", archive, status=1).stderr
        pinfold("archives", "purge", archive, "--alias", "lead", status=1)
        assert (home.archives_dir / archive).is_dir()
        pinfold("archives", "purge", archive, "--alias", "reviewer")
        assert not (home.archives_dir / archive).exists()
        assert pinfold.json("archives", "list") == []
        assert [one["state"] for one in pinfold.json("archives", "list", "--purged")] == ["purged"]

    def test_are_purged_in_bulk_after_a_dry_run(self, pinfold: Command, home: Home, archive: str):
        assert f"would remove {archive}" in pinfold("archives", "purge", "--keep-size", "1b", "--dry-run").stdout
        assert "Add --yes" in pinfold("archives", "purge", "--keep-size", "1b", status=1).stderr
        assert pinfold("archives", "purge", "--older-than", "1d", "--yes").stdout == "Nothing to remove.\n"
        pinfold("archives", "purge", "--keep-size", "1b", "--yes")
        assert not (home.archives_dir / archive).exists()


def test_a_delete_on_a_terminal_asks_and_shows_how_far_it_is(pinfold: Command, home_with_reviewer: Home):
    terminal = pinfold.on_terminal("delete", "reviewer", columns=120, rows=60)
    with terminal:
        terminal.wait_for("Delete reviewer?")
        terminal.send(b"y\n")
        terminal.wait_for("deleted reviewer; all of it is in the archive")
    assert not os.path.lexists(home_with_reviewer.agent_dir("reviewer"))


def test_an_operation_that_was_interrupted_is_reported_and_retried(pinfold: Command, home_with_reviewer: Home):
    home = home_with_reviewer
    program = PROGRAM.format(home=str(home.root))
    _run(program)
    (operation,) = pinfold.json("operations", "list", "--unfinished")
    assert (operation["state"], operation["retryable"]) == ("interrupted", True)
    reported = [entry for entry in pinfold.json("activity") if entry["verb"] == "operation.interrupted"]
    assert operation["id"] in reported[0]["detail"]
    assert not home.agent_dir("critic").exists() or not home.agent_dir("reviewer").exists()
    pinfold("operations", "retry", operation["id"])
    assert 'critic = "read"' in home.agent_file("lead").read_text()
    assert len([e for e in pinfold.json("activity") if e["verb"] == "operation.interrupted"]) == 1


PROGRAM = """
import asyncio, os, signal
from pathlib import Path
from services.home import Home
from services.pinfold import Pinfold

async def main():
    async with Pinfold.open(Home(Path({home!r})), supervise=False) as pinfold:
        plan = await pinfold.operations.plan_rename("reviewer", "critic")
        async for progress in pinfold.operations.carry_out(plan):
            if progress.step == "references":
                os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def _run(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
