"""`pinfold agents set`: both diffs first, nothing written that was not meant, and no wider by accident."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.home import Home
from tests.tui.verbs.conftest import Command

SHARED = """\
[risk_profiles.hardened]
allowed_commands = ["cat", "git"]

[risk_profiles.observer]
level = "readonly"
allowed_commands = ["cat"]
"""
REVIEWER = """\
# Reviews pull requests.
[agent]
risk_profile = "hardened"  # for now

[permissions]
allowed_roots = [
    "/srv/shared",  # everybody's
    "/srv/mine",
]
"""


@pytest.fixture
def reviewer(pinfold: Command, home: Home) -> Path:
    home.config_file.write_text(SHARED)
    home.default_workspace("reviewer").mkdir(parents=True)
    home.agent_file("reviewer").write_text(REVIEWER)
    return home.agent_file("reviewer")


def test_what_narrows_is_shown_and_written_with_everything_else_kept(pinfold: Command, reviewer: Path) -> None:
    done = pinfold("agents", "set", "reviewer", "agent.risk_profile=observer", "permissions.allowed_roots-=/srv/mine")
    assert '-risk_profile = "hardened"  # for now\n+risk_profile = "observer"  # for now\n' in done.stdout
    assert "other: works at level readonly, was supervised\n" in done.stdout
    assert "other: may no longer run git\n" in done.stdout
    assert done.stdout.endswith(f"wrote {reviewer}\n")
    assert reviewer.read_text() == REVIEWER.replace('"hardened"', '"observer"').replace('    "/srv/mine",\n', "")
    (entry,) = pinfold.json("activity")
    assert (entry["verb"], entry["agent"]) == ("agent.edit", "reviewer")
    assert entry["detail"] == "agent.risk_profile, permissions.allowed_roots"


def test_what_widens_is_refused_without_a_yes(pinfold: Command, reviewer: Path) -> None:
    arguments = ("agents", "set", "reviewer", "permissions.allowed_commands+=jj")
    done = pinfold(*arguments, status=1)
    assert "widens: may now run jj\n" in done.stdout
    assert "nothing was written" in done.stderr
    assert "--yes" in done.stderr
    assert reviewer.read_text() == REVIEWER
    pinfold(*arguments, "--yes")
    assert reviewer.read_text() == REVIEWER + 'allowed_commands = ["cat", "git", "jj"]\n'


@pytest.mark.parametrize(
    ("assignment", "said"),
    [
        ("agent.delegates+={ agent = 'writer' }", "may now hand work to writer"),
        ("memory.read_memory_from+=writer", "may now read the memory of writer"),
        ("workspace.access.writer=read", "may now read ../writer"),
        ("workspace.unrestricted_filesystem=true", "reaches everything nothing forbids"),
        ("sandbox.network=open", "reaches every host, reaches no network before"),
        ("sandbox.secrets+=TOKEN", "may now have the secret TOKEN"),
        ("sandbox.memory=2g", "has 2g of memory, 1g before"),
        ("agent.risk_profile=loose", "may now run without a sandbox"),
    ],
)
def test_every_way_to_widen_is_known(pinfold: Command, home: Home, reviewer: Path, assignment: str, said: str) -> None:
    home.config_file.write_text(
        SHARED + '[risk_profiles.loose]\nallowed_commands = ["cat", "git"]\nallow_unconfined = true\n'
        '[defaults.sandbox]\nmemory = "1g"\n'
    )
    home.default_workspace("writer").mkdir(parents=True)
    home.agent_file("writer").write_text('[agent]\nrisk_profile = "observer"\n')
    assert f"widens: {said}\n" in pinfold("agents", "set", "reviewer", assignment, status=1).stdout
    assert reviewer.read_text() == REVIEWER


@pytest.mark.parametrize(("answer", "status"), [("y\r", 0), ("n\r", 1), ("\r", 1), ("\x03", 130)], ids=repr)
def test_at_a_terminal_what_widens_is_asked_about(pinfold: Command, reviewer: Path, answer: str, status: int) -> None:
    with pinfold.on_terminal("agents", "set", "reviewer", "permissions.level=full") as terminal:
        terminal.wait_for("Write it?")
        assert reviewer.read_text() == REVIEWER
        terminal.send(answer)
        assert terminal.wait_for_exit() == status
    assert ('level = "full"' in reviewer.read_text()) == (status == 0)


def test_a_dry_run_writes_nothing(pinfold: Command, reviewer: Path) -> None:
    done = pinfold("agents", "set", "reviewer", "permissions.level=full", "--dry-run", "--yes")
    assert '+level = "full"\n' in done.stdout
    assert "widens: works at level full, was supervised\n" in done.stdout
    assert reviewer.read_text() == REVIEWER


def test_an_override_is_removed_with_the_table_it_leaves_empty(pinfold: Command, reviewer: Path) -> None:
    done = pinfold("agents", "set", "reviewer", "--unset", "permissions.allowed_roots")
    assert "other: may no longer read /srv/mine\n" in done.stdout
    assert reviewer.read_text() == REVIEWER[: REVIEWER.index("\n[permissions]")]


def test_one_document_holds_both_diffs(pinfold: Command, reviewer: Path) -> None:
    arguments = ("agents", "set", "reviewer", "permissions.level=full", "agent.enabled=false")
    document = pinfold.json(*arguments, status=1)
    assert (document["agent"], document["file"], document["written"]) == ("reviewer", str(reviewer), False)
    assert document["diff"][:3] == ["--- agent.toml (now)", "+++ agent.toml (then)", "@@ -1,9 +1,11 @@"]
    assert {"text": "works at level full, was supervised", "widens": True} in document["changes"]
    assert pinfold.json(*arguments, "--yes")["written"] is True
    assert pinfold.json(*arguments, "--yes") == {
        "agent": "reviewer",
        "file": str(reviewer),
        "diff": [],
        "changes": [],
        "written": False,
    }


def test_a_first_profile_lets_an_agent_do_more(pinfold: Command, reviewer: Path) -> None:
    reviewer.write_text("[agent]\nenabled = false\n")
    done = pinfold("agents", "set", "reviewer", "agent.risk_profile=observer", status=1)
    assert "widens: follows the risk profile observer, none before\n" in done.stdout


def test_values_of_environment_variables_are_never_printed(pinfold: Command, reviewer: Path) -> None:
    for secret in ("hunter2", "hunter3"):
        for options in ((), ("--json",)):
            done = pinfold("agents", "set", "reviewer", f"sandbox.environment.TOKEN={secret}", "--yes", *options)
            assert secret not in done.stdout + done.stderr
        assert f'TOKEN = "{secret}"' in reviewer.read_text()
    assert "hunter" not in pinfold("activity").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["permisions.level=full"], 'unknown key "permisions". Did you mean "permissions"?'),
        (["agent.risk_profile=hardend"], 'agent.toml:3: agent.risk_profile: there is no risk profile "hardend"'),
        (["agent.delegates+={agent='reviewer'}"], "agent.delegates[0].agent: an agent must not name itself here"),
        (["sandbox.pids=0"], "sandbox.pids: must be a whole number from 1"),
        (["level"], "Write KEY=VALUE"),
    ],
)
def test_what_would_be_an_error_is_refused(pinfold: Command, reviewer: Path, arguments: list[str], said: str) -> None:
    assert said in pinfold("agents", "set", "reviewer", "--yes", *arguments, status=1).stderr
    assert reviewer.read_text() == REVIEWER


def test_a_broken_file_is_never_written_over(pinfold: Command, reviewer: Path) -> None:
    reviewer.write_text("[agent]\nenabled = maybe\n")
    assert f"{reviewer}:2: " in pinfold("agents", "set", "reviewer", "agent.enabled=true", status=1).stderr
    assert reviewer.read_text() == "[agent]\nenabled = maybe\n"


def test_nothing_to_change_is_wrong_usage(pinfold: Command, reviewer: Path) -> None:
    assert "KEY=VALUE" in pinfold("agents", "set", "reviewer", status=2).stderr
