"""`pinfold policy`: what an agent may do, told with the rule and the line that decide."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.home import Home
from tests.tui.verbs.conftest import Command
from tui.glyphs import glyphs

SHARED = """\
[risk_profiles.hardened]
level = "supervised"
allowed_commands = ["git", "ls", "cat"]
forbidden_paths = ["~/.ssh", "secret"]
excluded_tools = ["browser"]
auto_approve = ["file_read"]

[defaults.sandbox]
runner = "command"
network = "allowlist"
"""

REVIEWER = """\
# Reviews pull requests.
[agent]
risk_profile = "hardened"

[permissions]
allowed_domains = [
  "docs.example.org",
  "*.example.com",
]

[workspace.access]
researcher = "read"
"""


@pytest.fixture
def reviewer(pinfold: Command, home: Home) -> Path:
    """An agent with a sibling it may read."""
    home.config_file.write_text(SHARED)
    for alias, text in (("reviewer", REVIEWER), ("researcher", '[agent]\nrisk_profile = "hardened"\n')):
        home.default_workspace(alias).mkdir(parents=True)
        home.agent_file(alias).write_text(text)
    return home.agent_file("reviewer")


QUESTIONS = [
    (("--read", "src/a.py"), "allow", "workspace", "built in"),
    (("--write", "secret/key"), "deny", "forbidden path", "pinfold.toml:4"),
    (("--read", "/etc/passwd"), "deny", "workspace_only", "built in"),
    (("--read", "~/.ssh/id_rsa"), "deny", "forbidden path", "pinfold.toml:4"),
    (("--read", "{home}/agents/researcher/workspace/x"), "allow", "sibling", "agent.toml:12"),
    (("--write", "{home}/agents/researcher/workspace/x"), "deny", "sibling", "agent.toml:12"),
    (("--read", "{home}/pinfold.toml"), "deny", "Pinfold's own files", "built in"),
    (("--read", "../x"), "deny", "path spelling", "built in"),
    (("--command", "git status"), "allow", "allowed command", "pinfold.toml:3"),
    (("--command", "git push"), "ask", "require_approval_for_medium_risk", "built in"),
    (("--command", "rm -rf x"), "deny", "allowed_commands", "pinfold.toml:3"),
    (("--command", "ls; curl example.org"), "deny", "allowed_commands", "pinfold.toml:3"),
    (("--command", "cat secret/key"), "deny", "forbidden path", "pinfold.toml:4"),
    (("--command", "ls $HOME"), "deny", "shell grammar", "built in"),
    (("--domain", "https://api.example.com/v1"), "allow", "allowed domain", "agent.toml:8"),
    (("--domain", "example.net"), "deny", "network", "pinfold.toml:10"),
    (("--domain", "169.254.169.254"), "deny", "metadata endpoints", "built in"),
    (("--tool", "browser"), "deny", "excluded tool", "pinfold.toml:5"),
    (("--tool", "file_read"), "allow", "auto_approve", "pinfold.toml:6"),
    (("--tool", "shell"), "ask", "level", "pinfold.toml:2"),
    (("--variable", "AWS_SECRET_ACCESS_KEY"), "deny", "env_passthrough", "built in"),
]


@pytest.mark.parametrize(("question", "verdict", "kind", "place"), QUESTIONS, ids=lambda value: " ".join(value)[:40])
def test_an_answer_names_the_rule_and_where_it_is_written(
    pinfold: Command, reviewer: Path, home: Home, question: tuple[str, str], verdict: str, kind: str, place: str
) -> None:
    option, value = question
    asked = value.replace("{home}", str(home.root))
    status = 1 if verdict == "deny" else 0
    answer = pinfold.json("policy", "explain", "reviewer", option, asked, status=status)
    rule = answer["rule"]
    written = f"{Path(rule['file']).name}:{rule['line']}" if rule["file"] else "built in"
    assert (answer["verdict"], rule["kind"], written) == (verdict, kind, place)
    assert answer["reason"]


def test_an_answer_reads_like_a_sentence(pinfold: Command, reviewer: Path) -> None:
    text = pinfold("policy", "explain", "reviewer", "--command", "rm -rf x", status=1).stdout
    assert text.splitlines()[0] == f"{glyphs().failed} reviewer may not run rm -rf x: rm is not in allowed_commands"


@pytest.mark.parametrize("options", [(), ("--read", "a", "--write", "b")], ids=["none", "two"])
def test_one_question_is_asked_at_a_time(pinfold: Command, reviewer: Path, options: tuple[str, ...]) -> None:
    assert "Ask one question" in pinfold("policy", "explain", "reviewer", *options, status=2).stderr


def test_every_rule_is_shown_with_its_origin(pinfold: Command, reviewer: Path) -> None:
    shown = pinfold.json("policy", "show", "reviewer")
    assert (shown["level"], shown["network"], shown["profile"]) == ("supervised", "allowlist", "hardened")
    assert {rule["kind"] for rule in shown["rules"]} >= {"workspace", "sibling", "forbidden path", "allowed domain"}
    assert "agent.toml:12" in pinfold("policy", "show", "reviewer").stdout


def test_limits_are_shown_with_their_origin_and_what_nothing_enforces_says_so(pinfold: Command, reviewer: Path) -> None:
    shown = pinfold.json("policy", "show", "reviewer")
    limits = {limit["kind"]: (limit["effect"], limit["file"], limit["enforced"]) for limit in shown["limits"]}
    assert limits["max_actions_per_hour"] == ("20", None, False)
    assert limits["pids"] == ("512", None, True)
    enforced = {rule["kind"]: rule["enforced"] for rule in shown["rules"]}
    assert (enforced["forbidden path"], enforced["allowed domain"], enforced["allowed command"]) == (True, True, False)
    lines = pinfold("policy", "show", "reviewer").stdout.splitlines()
    assert "shell_timeout\t\t60 s\tbuilt in\tnot yet" in lines
    asked = pinfold("policy", "explain", "reviewer", "--command", "git status").stdout
    assert "held, not yet enforced: the runner's own tools are not judged" in asked


def test_a_change_is_told_in_words_before_it_is_made(pinfold: Command, reviewer: Path, tmp_path: Path) -> None:
    before = reviewer.read_bytes()
    candidate = tmp_path / "candidate.toml"
    candidate.write_text(REVIEWER.replace('"read"', '"read_write"').replace('  "*.example.com",\n', ""))
    found = pinfold.json("policy", "diff", "reviewer", str(candidate))
    assert {(change["text"], change["widens"]) for change in found} == {
        ("may now write ../researcher", True),
        ("may no longer reach *.example.com", False),
    }
    assert reviewer.read_bytes() == before


def test_a_broken_candidate_is_named_with_its_line(pinfold: Command, reviewer: Path, tmp_path: Path) -> None:
    candidate = tmp_path / "candidate.toml"
    candidate.write_text("[agent]\nrisk_profil = 1\n")
    assert f"{candidate}:2" in pinfold("policy", "diff", "reviewer", str(candidate), status=1).stderr
    missing = pinfold("policy", "diff", "reviewer", str(tmp_path / "none"), status=1)
    assert "no such file" in missing.stderr


def test_a_spawn_is_refused_with_every_reason(pinfold: Command, reviewer: Path) -> None:
    found = pinfold.json("policy", "spawn", "researcher", "reviewer", status=1)
    assert {violation["reason"] for violation in found} >= {"ReadWriteRootNotInParent", "DomainNotInParent"}
    assert pinfold.json("policy", "spawn", "reviewer", "reviewer") == []


def test_an_agent_without_a_usable_file_has_no_policy(pinfold: Command, reviewer: Path) -> None:
    reviewer.write_text("[agent\n")
    assert "not usable" in pinfold("policy", "show", "reviewer", status=1).stderr


DEAD = [
    ('allowed_commands = ["git *"]', 5, "never matches"),
    ('allowed_commands = ["ls", "ls"]', 5, "listed twice"),
    ('allowed_domains = ["https://example.org/"]', 5, "never matches"),
    ('allowed_tools = ["browser"]', 5, "excluded_tools names it too"),
    ('allowed_roots = ["src"]', 5, "adds nothing"),
    ('forbidden_paths = ["."]', 5, "closed to the agent"),
    ('always_ask = ["shell"]\nauto_approve = ["shell"]', 6, "asked about all the same"),
]


@pytest.mark.parametrize(("rule", "line", "says"), DEAD, ids=[row[2] for row in DEAD])
def test_a_check_warns_of_rules_that_cannot_do_what_they_say(
    pinfold: Command, reviewer: Path, rule: str, line: int, says: str
) -> None:
    reviewer.write_text(f'[agent]\nrisk_profile = "hardened"\n\n[permissions]\n{rule}\n')
    found = [problem for problem in pinfold.json("agents", "check", "reviewer") if says in problem["message"]]
    assert [(problem["severity"], problem["line"]) for problem in found] == [("warning", line)]
