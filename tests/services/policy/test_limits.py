"""Every limit names where it is written, and whether anything enforces it today."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.activity import Events
from services.agents import Agents
from services.home import BlockingCalls, Home
from services.policy import Policies, enforced

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
    ("max_actions_per_hour", "20", "pinfold.toml:3 (profile net)", False),
    ("max_cost_per_day", "500 cents", "built in", False),
    ("shell_timeout", "60 s", "built in", False),
    ("approval_timeout", "120 s", "built in", False),
    ("memory", "1g", "pinfold.toml:4 (profile net)", True),
    ("cpus", "2", "pinfold.toml:8", True),
    ("pids", "512", "built in", True),
    ("delegation", "allow", "pinfold.toml:2 (profile net, preset balanced)", False),
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
    assert [(rule.kind, rule.effect, str(rule.origin), enforced(rule)) for rule in limits] == LIMITS


async def test_a_smaller_limit_of_the_agent_beats_the_most_its_profile_lets_it_have(agents: Agents, home: Home) -> None:
    policy = Policies(home, agents).as_if("worker", WORKER.replace("2g", "64m").encode())
    (memory,) = [rule for rule in policy.limits() if rule.kind == "memory"]
    assert (memory.effect, str(memory.origin)) == ("64m", "agent.toml:5")


async def test_what_a_sandbox_does_is_enforced_and_what_takes_a_tool_server_is_not(agents: Agents, home: Home) -> None:
    rules = Policies(home, agents).of("worker").rules()
    held = {rule.kind for rule in rules if not enforced(rule)}
    assert held == {"level", "allowed command", "allowed_tools", "auto_approve"}
