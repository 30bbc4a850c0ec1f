"""Every limit names where it is written, and whether anything enforces it today."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.activity import Events
from services.agents import Agents
from services.home import BlockingCalls, Home
from services.policy import Held, Policies, Rule, held, held_to

SHARED = """\
[risk_profiles.net]
preset = "balanced"
max_actions_per_hour = 20
max_memory = "1g"
max_cpus = 4.0

[defaults.sandbox]
cpus = 2.0
"""

WORKER = """\
[agent]
risk_profile = "net"

[sandbox]
memory = "2g"
"""

LIMITS = [
    ("max_actions_per_hour", "20", "pinfold.toml:3 (profile net)", Held.SERVED_TOOLS),
    ("max_cost_per_day", "500 cents", "built in", Held.NOT_YET),
    ("shell_timeout", "60 s", "built in", Held.NOT_YET),
    ("approval_timeout", "120 s", "built in", Held.EVERYWHERE),
    ("memory", "1g", "pinfold.toml:4 (profile net)", Held.EVERYWHERE),
    ("cpus", "2", "pinfold.toml:8", Held.EVERYWHERE),
    ("pids", "512", "built in", Held.EVERYWHERE),
    ("output", "1g", "built in", Held.EVERYWHERE),
    ("delegation", "allow", "pinfold.toml:2 (profile net, preset balanced)", Held.NOT_YET),
]


@pytest.fixture
async def agents(home: Home) -> AsyncIterator[Agents]:
    calls = BlockingCalls()
    home.default_workspace("worker").mkdir(parents=True)
    home.agent_file("worker").write_text(WORKER)
    home.config_file.write_text(SHARED)
    agents = Agents(home, Events(), calls)
    await agents.load()
    yield agents
    calls.close()


async def test_a_limit_names_the_line_that_decides_it_and_a_default_says_so(agents: Agents, home: Home) -> None:
    limits = list(Policies(home, agents).of("worker").limits())
    assert [(rule.kind, rule.effect, str(rule.origin), held(rule)) for rule in limits] == LIMITS


async def test_a_smaller_limit_of_the_agent_beats_the_most_its_profile_lets_it_have(agents: Agents, home: Home) -> None:
    policy = Policies(home, agents).as_if("worker", WORKER.replace("2g", "64m").encode())
    (memory,) = [rule for rule in policy.limits() if rule.kind == "memory"]
    assert (memory.effect, str(memory.origin)) == ("64m", "agent.toml:5")


async def test_what_a_sandbox_does_is_enforced_and_what_a_runner_does_is_not(agents: Agents, home: Home) -> None:
    rules = list(Policies(home, agents).of("worker").rules())
    assert {rule.kind for rule in rules if held(rule) is Held.NOT_YET} == {"allowed command", "auto_approve"}
    assert {rule.kind for rule in rules if held(rule) is Held.SERVED_TOOLS} == {"level", "allowed_tools"}


@pytest.mark.parametrize(
    ("kind", "subject", "holding"),
    [
        ("auto_approve", "memory_store", Held.EVERYWHERE),
        ("excluded tool", "file_write", Held.EVERYWHERE),
        ("allowed tool", "shell", Held.NOT_YET),
        ("always_ask", "*", Held.SERVED_TOOLS),
    ],
    ids=["served", "served too", "a runner's", "every"],
)
def test_a_rule_about_a_tool_is_held_where_pinfold_serves_it(kind: str, subject: str, holding: Held) -> None:
    rule = Rule(kind, subject, "never")
    assert held(rule) is holding
    assert bool(held(rule).remark) == (holding is not Held.EVERYWHERE)


async def test_a_decision_about_a_served_tool_is_held_whatever_rule_makes_it(agents: Agents, home: Home) -> None:
    policy = Policies(home, agents).of("worker")
    assert held_to(policy.tool("memory_store")) is Held.EVERYWHERE
    assert held_to(policy.tool("shell")) is Held.NOT_YET
    assert held_to(policy.command("ls")) is Held.NOT_YET
    assert held_to(policy.read("/etc/passwd")) is Held.EVERYWHERE
