"""What a change of policy means, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from services.policy.changes import changes
from services.policy.decision import Verdict
from tests.services.policy.test_spawn import BASE, COMMANDS, MEMORY, PLACES, ROOT_LISTS, listed, policy

SAID = [
    (
        {"roots": (("/projects", "rw"), ("/docs", "rw"), ("/drop", "w"), ("/etc/secrets", ""))},
        "may now write /docs",
        True,
    ),
    (
        {"roots": (("/projects", "r"), ("/docs", "r"), ("/drop", "w"), ("/etc/secrets", ""))},
        "may no longer write /projects",
        False,
    ),
    ({"roots": (("/projects", "rw"), ("/docs", "r"), ("/drop", "w"))}, None, False),
    ({"workspace_only": False}, "reaches everything nothing forbids", True),
    ({"commands": ("git", "cargo", "ls", "/usr/bin/lint", "rm")}, "may now run rm", True),
    ({"commands": ("git", "cargo", "ls")}, "may no longer run /usr/bin/lint", False),
    ({"commands": ("git", "*")}, "may now run *", True),
    ({"level": "full"}, "works at level full, was supervised", True),
    ({"block": False}, "high-risk commands are no longer blocked", True),
    ({"allowed_tools": ()}, "may now use every tool not excluded", True),
    ({"excluded_tools": ()}, "is no longer kept from the tool browser", True),
    ({"always_ask": ()}, "is no longer always asked about shell", True),
    ({"network": "none"}, "reaches no network, reaches only listed hosts before", False),
    ({"domains": ("example.com", "example.org")}, "may now reach example.org", True),
    ({"secrets": ("API_KEY", "B")}, "may now have the secret B", True),
    ({"allowances": replace(BASE, pids=None)}, "has unlimited processes, 100 before", True),
    ({"delegation": "allow"}, "may now delegate", True),
    ({"delegates": ("writer",)}, "may now hand work to writer", True),
    ({"memory": replace(MEMORY, memories=listed("reader", "writer"))}, "may now read the memory of writer", True),
    ({"unconfined": True}, "may now run without a sandbox", True),
    ({"allowances": replace(BASE, memory=2**31)}, "has 2g of memory, 1g before", True),
    ({"allowances": replace(BASE, memory=None)}, "has unlimited memory, 1g before", True),
    (
        {"allowances": replace(BASE, max_actions_per_hour=4_294_967_295)},
        "has 4,294,967,295 actions an hour, 100 before",
        True,
    ),
    ({"allowances": replace(BASE, approval_timeout=60.0)}, "has 60 seconds for an approval, 120 before", False),
]


@pytest.mark.parametrize(("changed", "text", "widens"), SAID, ids=[row[1] or "nothing" for row in SAID])
def test_a_change_is_said_in_words(changed: dict[str, Any], text: str | None, widens: bool) -> None:
    found = changes(policy(), policy(**changed))
    assert [(change.text, change.widens) for change in found] == ([] if text is None else [(text, widens)])


def test_a_list_that_takes_the_place_of_everything_narrows() -> None:
    everything, some, none = (policy(commands=entries) for entries in (("*", "git"), ("git", "ls"), ()))
    assert [(one.text, one.widens) for one in changes(everything, some)] == [
        ("may now run ls also where it is high risk", True),
        ("may no longer run *, only git, ls", False),
    ]
    assert [(one.text, one.widens) for one in changes(everything, none)] == [("may no longer run *", False)]


def test_an_entry_beside_everything_counts_where_everything_is_not_enough() -> None:
    """`*` lets no high-risk command run while these are blocked; an entry of its own does."""
    star, named = policy(commands=("*",)), policy(commands=("*", "rm"))
    assert named.command("rm").verdict is Verdict.ASK
    assert star.command("rm").verdict is Verdict.DENY
    assert [(one.text, one.widens) for one in changes(star, named)] == [
        ("may now run rm also where it is high risk", True)
    ]
    assert [(one.text, one.widens) for one in changes(named, star)] == [
        ("may no longer run rm where it is high risk", False)
    ]
    unblocked = [policy(commands=entries, block=False) for entries in (("*",), ("*", "rm"))]
    assert changes(*unblocked) == ()


def test_nothing_changed_says_nothing_and_the_way_back_undoes_every_widening() -> None:
    wide = policy(level="full", commands=("*",), block=False, network="open", secrets=("A", "API_KEY"))
    assert changes(wide, wide) == ()
    assert all(not change.widens for change in changes(wide, policy()) if "asked" not in change.text)


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(
    before=st.tuples(ROOT_LISTS, COMMANDS, st.booleans(), st.booleans()),
    after=st.tuples(ROOT_LISTS, COMMANDS, st.booleans(), st.booleans()),
    path=st.sampled_from([*PLACES, "/projects/a/b/c", "/other"]),
    line=st.sampled_from(["ls", "git status", "cat /docs/x", "rm", "ls && rm"]),
)
@example(before=([], ["*"], True, True), after=([], ["*", "rm"], True, True), path="/other", line="rm")
@example(before=([], ["*"], True, True), after=([], ["rm"], True, True), path="/other", line="rm")
def test_what_gets_a_milder_answer_is_always_marked_as_widening(
    before: tuple[Any, ...], after: tuple[Any, ...], path: str, line: str
) -> None:
    old, new = (
        policy(roots=tuple(part[0]), commands=tuple(part[1]), workspace_only=part[2], block=part[3])
        for part in (before, after)
    )
    widened = any(change.widens for change in changes(old, new))
    for ask in (lambda p: p.read(path), lambda p: p.write(path), lambda p: p.command(line)):
        if ask(new).verdict.strictness < ask(old).verdict.strictness:
            assert widened
