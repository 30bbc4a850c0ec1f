"""A child never gets more than its parent, on any axis."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from services.policy.commands import AllowedCommand, CommandPolicy
from services.policy.decision import Verdict
from services.policy.domains import AllowedDomain, DomainPolicy
from services.policy.memory import MemoryPolicy
from services.policy.paths import PathPolicy, PathRule
from services.policy.policy import Allowances, Policy
from services.policy.spawn import Axis, violations
from services.policy.tools import EnvironmentPolicy, Listed, ToolPolicy

ROOT = Path("/pinfold-test-machine")


def listed(*names: str) -> tuple[Listed, ...]:
    return tuple(Listed(name) for name in names)


def grant(place: str, access: str) -> PathRule:
    return PathRule("allowed root", place, readable="r" in access, writable="w" in access)


BASE = Allowances(100, 500, 30.0, 120.0, 2**30, 2.0, 100, 2**30)
MEMORY = MemoryPolicy("socket", memories=listed("reader"), scopes=listed("user:anna"))


def policy(**changes: Any) -> Policy:
    """A middling policy with some of its parts changed."""
    values: dict[str, Any] = {
        "level": "supervised",
        "roots": (("/projects", "rw"), ("/docs", "r"), ("/drop", "w"), ("/etc/secrets", "")),
        "workspace_only": True,
        "commands": ("git", "cargo", "ls", "/usr/bin/lint"),
        "block": True,
        "medium": True,
        "domains": ("example.com",),
        "network": "allowlist",
        "allowed_tools": ("file_read", "shell"),
        "excluded_tools": ("browser",),
        "auto_approve": ("file_read",),
        "always_ask": ("shell",),
        "environment": ("LANG_EXTRA",),
        "secrets": ("API_KEY",),
        "delegation": "forbidden",
        "allowances": BASE,
        "memory": MEMORY,
    } | changes
    roots = tuple(grant(place, access) for place, access in values["roots"])
    paths = PathPolicy(ROOT / "ws", ROOT / "home", roots, workspace_only=values["workspace_only"])
    level = values["level"]
    return Policy(
        alias="agent",
        profile="hardened",
        level=level,
        paths=paths,
        commands=CommandPolicy(
            level,
            tuple(AllowedCommand(entry) for entry in values["commands"]),
            paths,
            values["block"],
            values["medium"],
        ),
        domains=DomainPolicy(values["network"], tuple(AllowedDomain(entry) for entry in values["domains"])),
        tools=ToolPolicy(
            level,
            listed(*values["allowed_tools"]),
            listed(*values["excluded_tools"]),
            listed(*values["auto_approve"]),
            listed(*values["always_ask"]),
        ),
        environment=EnvironmentPolicy(listed(*values["environment"])),
        allowances=values["allowances"],
        secrets=values["secrets"],
        memory=values["memory"],
        **{key: values[key] for key in ("delegates", "unconfined") if key in values},
        delegation=values["delegation"],
    )


ROOTS = (("/projects", "rw"), ("/docs", "r"), ("/drop", "w"), ("/etc/secrets", ""))

REFUSED = [
    (Axis.AUTONOMY, {"level": "full"}), (Axis.READ_WRITE_ROOT, {"roots": (*ROOTS, ("/secrets", "rw"))}),
    (Axis.READ_WRITE_ROOT, {"roots": (("/docs", "rw"), ("/etc/secrets", ""))}),
    (Axis.READ_ONLY_ROOT, {"roots": (*ROOTS, ("/etc", "r"))}),
    (Axis.READ_ONLY_ROOT, {"roots": (*ROOTS[:2], ("/drop", "r"))}),
    (Axis.WRITE_ONLY_ROOT, {"roots": (*ROOTS, ("/docs/x", "w"))}), (Axis.COMMAND, {"commands": ("git", "rm")}),
    (Axis.COMMAND, {"commands": ("/usr/bin/Lint",)}), (Axis.COMMAND, {"commands": ("*",)}),
    (Axis.WORKSPACE_ONLY, {"workspace_only": False}), (Axis.ENVIRONMENT, {"environment": ("LANG_EXTRA", "AWS_SECRET")}),
    (Axis.ACTIONS, {"allowances": replace(BASE, max_actions_per_hour=200)}),
    (Axis.COST, {"allowances": replace(BASE, max_cost_per_day=1000)}),
    (Axis.SHELL_TIMEOUT, {"allowances": replace(BASE, shell_timeout=600.0)}), (Axis.HIGH_RISK, {"block": False}),
    (Axis.MEDIUM_RISK, {"medium": False}), (Axis.ALLOWED_TOOLS, {"allowed_tools": ("file_read", "web")}),
    (Axis.ALLOWED_TOOLS, {"allowed_tools": ()}), (Axis.EXCLUDED_TOOLS, {"excluded_tools": ()}),
    (Axis.AUTO_APPROVE, {"auto_approve": ("file_read", "shell")}), (Axis.ALWAYS_ASK, {"always_ask": ()}),
    (Axis.DELEGATION, {"delegation": "allow"}), (Axis.NETWORK, {"network": "open"}),
    (Axis.DOMAINS, {"domains": ("example.org",)}), (Axis.DOMAINS, {"domains": ("*",)}),
    (Axis.LIMITS, {"allowances": replace(BASE, memory=2**31)}), (Axis.LIMITS, {"allowances": replace(BASE, pids=None)}),
    (Axis.LIMITS, {"allowances": replace(BASE, cpus=4.0)}), (Axis.UNCONFINED, {"unconfined": True}),
    (Axis.SECRETS, {"secrets": ("API_KEY", "OTHER")}),
    (Axis.LIMITS, {"allowances": replace(BASE, output=2**31)}),
    (Axis.SERVED_TOOLS, {"memory": replace(MEMORY, tools="http")}),
    (Axis.MEMORIES, {"memory": replace(MEMORY, memories=listed("reader", "stranger"))}),
    (Axis.SCOPES, {"memory": replace(MEMORY, scopes=listed("user:bob"))}),
]  # fmt: skip


@pytest.mark.parametrize(("axis", "changes"), REFUSED, ids=[f"{axis.name}-{n}" for n, (axis, _) in enumerate(REFUSED)])
def test_each_axis_alone_is_refused_with_its_reason(axis: Axis, changes: dict[str, Any]) -> None:
    found = violations(policy(), policy(**changes))
    assert axis in {violation.axis for violation in found}
    assert {violation.axis for violation in found} <= {axis, Axis.FORBIDDEN_PATH}


def test_a_dropped_forbidden_path_is_refused_where_it_would_open_something() -> None:
    parent = policy(roots=(("/projects", "rw"), ("/projects/secret", "")))
    found = violations(parent, policy(roots=(("/projects", "rw"),)))
    assert [(violation.axis, violation.subject) for violation in found] == [(Axis.FORBIDDEN_PATH, "/projects/secret")]


ACCEPTED = [
    ("the same", {}), ("fewer roots", {"roots": (("/projects/repo", "rw"), ("/etc/secrets", ""))}),
    ("read-only of read-write", {"roots": (("/projects", "r"),)}),
    ("write-only of read-write", {"roots": (("/projects", "w"),)}),
    ("names without case", {"commands": ("GIT", "Ls")}), ("fewer commands", {"commands": ()}),
    ("a lower level", {"level": "readonly"}),
    ("smaller budgets", {"allowances": Allowances(1, 1, 1.0, 1.0, 1, 0.5, 1, 1)}),
    ("no network", {"network": "none", "domains": ("other.org",)}),
    ("a name below", {"domains": ("*.docs.example.com",)}),
    ("more is asked", {"always_ask": ("shell", "file_read")}), ("fewer tools", {"allowed_tools": ("shell",)}),
    ("more is forbidden", {"roots": (*ROOTS, ("/projects/x", ""))}),
    ("its parent's memory", {"memory": replace(MEMORY, memories=listed("agent"))}),
    ("fewer scopes and no tools", {"memory": MemoryPolicy()}),
]  # fmt: skip


@pytest.mark.parametrize("changes", [row[1] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_what_narrows_is_accepted(changes: dict[str, Any]) -> None:
    assert violations(policy(), policy(**changes)) == ()


def test_a_star_parent_admits_any_command() -> None:
    assert violations(policy(commands=("*",)), policy(commands=("git", "/usr/bin/x"))) == ()


def test_a_star_parent_that_blocks_high_risk_commands_admits_no_entry_for_one() -> None:
    parent = policy(commands=("*", "sudo"))
    found = violations(parent, policy(commands=("git", "rm", "/bin/rm", "sudo")))
    assert [(violation.axis, violation.subject) for violation in found] == [
        (Axis.HIGH_RISK, "rm"),
        (Axis.HIGH_RISK, "/bin/rm"),
    ]
    assert violations(policy(commands=("*",), block=False), policy(commands=("rm",), block=False)) == ()


def test_all_violations_are_reported_and_the_first_is_the_first_axis() -> None:
    found = violations(policy(), policy(level="full", block=False, secrets=("OTHER",)))
    assert [violation.axis for violation in found] == [Axis.AUTONOMY, Axis.HIGH_RISK, Axis.SECRETS]


def test_a_spawned_child_is_held_to_its_parent_by_every_decision() -> None:
    child = policy(commands=("rm",), roots=(("/projects", "rw"),)).under(policy(commands=("ls",), roots=()))
    assert child.command("rm x").verdict is Verdict.DENY
    assert "which spawned it" in child.write("/projects/x").reason


PLACES = ["/projects", "/projects/a", "/projects/a/b", "/docs", "/docs/x", "/drop"]
ROOT_LISTS = st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(["rw", "r", "w", ""])), max_size=5)
COMMANDS = st.lists(st.sampled_from(["ls", "git", "*", "cat", "rm"]), max_size=3, unique=True)


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(
    parent=st.tuples(ROOT_LISTS, COMMANDS, st.booleans(), st.sampled_from(["readonly", "supervised", "full"])),
    child=st.tuples(ROOT_LISTS, COMMANDS, st.booleans(), st.sampled_from(["readonly", "supervised", "full"])),
    path=st.sampled_from([*PLACES, "/projects/a/b/c", "/other", "/docs/y", "/drop/z"]),
    line=st.sampled_from(["ls", "git commit", "cat /docs/x", "rm", "ls && rm", "ls | cat"]),
)
@example(parent=([], ["*"], True, "full"), child=([], ["rm"], True, "full"), path="/other", line="rm")
def test_an_accepted_child_is_never_allowed_what_its_parent_is_denied(
    parent: tuple[Any, ...], child: tuple[Any, ...], path: str, line: str
) -> None:
    def made(part: tuple[Any, ...]) -> Policy:
        return policy(roots=tuple(part[0]), commands=tuple(part[1]), workspace_only=part[2], level=part[3])

    above, below = made(parent), made(child)
    if violations(above, below):
        return
    for question in (lambda p: p.read(path), lambda p: p.write(path), lambda p: p.command(line)):
        if question(below).verdict is Verdict.ALLOW:
            assert question(above).verdict is not Verdict.DENY
