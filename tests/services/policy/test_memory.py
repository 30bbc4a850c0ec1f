"""What an agent reaches of what Pinfold remembers is listed rule by rule, each with the line that grants it."""

from __future__ import annotations

import pytest

from services.activity import Events
from services.agents import Agents
from services.home import BlockingCalls, Home
from services.policy import Policies
from services.policy.policy import Policy

OWN = [
    ("agent memory", "its own", "read and changed", "built in"),
    ("agent memory", "researcher", "read", "agent.toml:4"),
    ("scope", "chat of its session", "read and changed", "built in"),
    ("scope", "context of its session", "read and changed", "built in"),
    ("scope", "user:anna", "read and changed", "agent.toml:6"),
    ("scope", "team:back", "read and changed", "agent.toml:7"),
]
GRANTS = """\
[agent]
risk_profile = "plain"
[memory]
read_memory_from = ["researcher"]
[memory.scopes]
user = "anna"
team = "back"
"""


async def policy_of(home: Home, text: str) -> Policy:
    for alias in ("worker", "researcher"):
        home.default_workspace(alias).mkdir(parents=True)
        home.agent_file(alias).write_text(GRANTS if alias == "researcher" else text)
    home.config_file.write_text("[risk_profiles.plain]\n")
    calls = BlockingCalls()
    agents = Agents(home, Events(), calls)
    await agents.load()
    calls.close()
    return Policies(home, agents).of("worker")


def memory_rules(policy: Policy) -> list[tuple[str, str, str, str]]:
    kinds = ("tools", "agent memory", "scope")
    found = [rule for rule in policy.rules() if rule.kind in kinds]
    return [(rule.kind, rule.subject, rule.effect, str(rule.origin).rpartition("/")[2]) for rule in found]


@pytest.mark.parametrize(
    ("tools", "effect"),
    [("socket", "Pinfold's are reached over a socket"), ("http", "Pinfold's are reached over a socket and HTTP")],
)
async def test_all_that_tools_reach_is_listed_with_the_line_that_grants_it(home: Home, tools: str, effect: str) -> None:
    policy = await policy_of(home, f'{GRANTS}[sandbox]\ntools = "{tools}"\n')
    assert memory_rules(policy) == [("tools", tools, effect, "agent.toml:9"), *OWN]


async def test_without_tools_nothing_is_reached(home: Home) -> None:
    policy = await policy_of(home, GRANTS)
    assert memory_rules(policy) == [("tools", "none", "none of Pinfold's is reached", "built in")]


async def test_a_readonly_agent_only_reads(home: Home) -> None:
    policy = await policy_of(home, f'{GRANTS}[permissions]\nlevel = "readonly"\n[sandbox]\ntools = "socket"\n')
    assert {effect for kind, _, effect, _ in memory_rules(policy) if kind != "tools"} == {"read"}
