"""Every field of an agent and of a risk profile: what gives an agent more is marked, and why the others are not.

A field that is in neither table fails the test, so that a new one cannot be forgotten.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import get_args, get_type_hints

import msgspec
import pytest

from services.activity import Events
from services.agents import AgentConfig, Agents
from services.agents.model import RiskProfile
from services.home import BlockingCalls, Home
from services.policy import Policies

WIDENS = {
    "agent.enabled": ("false", "true", "may now be started"),
    "agent.risk_profile": ('"plain"', '"wide"', "may now run *"),
    "agent.delegates": ("[]", '[{ agent = "other" }]', "may now hand work to other"),
    "agent.delegates[].agent": ("[]", '[{ agent = "other" }]', "may now hand work to other"),
    "agent.delegates[].mode": (
        '[{ agent = "other" }]',
        '[{ agent = "other", mode = "independent" }]',
        "may now hand other work outside its own limits",
    ),
    "permissions.level": ('"readonly"', '"supervised"', "works at level supervised, was readonly"),
    "permissions.allowed_commands": ('["ls"]', '["ls", "git"]', "may now run git"),
    "permissions.allowed_tools": ('["a"]', "[]", "may now use every tool not excluded"),
    "permissions.excluded_tools": ('["a"]', "[]", "is no longer kept from the tool a"),
    "permissions.auto_approve": ("[]", '["a"]', "may now use a without asking"),
    "permissions.always_ask": ('["a"]', "[]", "is no longer always asked about a"),
    "permissions.allowed_roots": ("[]", '["/srv/more"]', "may now write /srv/more"),
    "permissions.forbidden_paths": ('["/srv/other/x"]', "[]", "may now read /srv/other/x"),
    "permissions.allowed_domains": ("[]", '["a.example"]', "may now reach a.example"),
    "permissions.env_passthrough": ("[]", '["A"]', "may now see the variable A"),
    "workspace.unrestricted_filesystem": ("false", "true", "reaches everything nothing forbids"),
    "workspace.access": ('{ other = "read" }', '{ other = "read_write" }', "may now write ../other"),
    "memory.read_memory_from": ("[]", '["other"]', "may now read the memory of other"),
    "memory.scopes": ("{}", '{ user = "anna" }', "may now read and change the keys of user:anna"),
    "memory.read": ("false", "true", "is now told what was learned from its runs"),
    "memory.live_update": ("false", "true", "may now change what was learned while it runs"),
    "sandbox.memory": ('"1g"', '"2g"', "has 2g of memory, 1g before"),
    "sandbox.cpus": ("1.0", "2.0", "has 2 processor cores, 1 before"),
    "sandbox.pids": ("10", "20", "has 20 processes, 10 before"),
    "sandbox.network": ('"none"', '"open"', "reaches every host, reaches no network before"),
    "sandbox.tools": (
        '"none"',
        '"socket"',
        "calls Pinfold's tools over a socket, calls none of Pinfold's tools before",
    ),
    "sandbox.output_limit": ('"1g"', '"2g"', "has 2g of output kept, 1g before"),
    "sandbox.secrets": ("[]", '["KEY"]', "may now have the secret KEY"),
    "sandbox.environment": ("{}", '{ A = "1" }', "may now see the variable A as its file sets it"),
}
"""A narrow value, a wide one, and what the save dialog and `policy diff` mark."""

WIDENS_EITHER_WAY = {
    "workspace.path": ('"/srv/one"', '"/srv/two"', "may now write its workspace"),
    "sandbox.environment": ('{ A = "1" }', '{ A = "2" }', "sees another value of the variable A"),
}
"""Two values, each of which gives what the other does not."""

WIDENS_IN_PROFILE = {
    "level": ('"readonly"', '"full"', "works at level full, was readonly"),
    "workspace_only": ("true", "false", "reaches everything nothing forbids"),
    "allowed_commands": ("[]", '["git"]', "may now run git"),
    "allowed_tools": ('["a"]', '["a", "b"]', "may now use the tool b"),
    "excluded_tools": ('["a"]', "[]", "is no longer kept from the tool a"),
    "auto_approve": ("[]", '["*"]', "may now use * without asking"),
    "always_ask": ('["a"]', "[]", "is no longer always asked about a"),
    "allowed_roots": ("[]", '["/srv/more"]', "may now read /srv/more"),
    "forbidden_paths": ('["/srv/other/x"]', "[]", "may now read /srv/other/x"),
    "allowed_domains": ("[]", '["a.example"]', "may now reach a.example"),
    "env_passthrough": ("[]", '["A"]', "may now see the variable A"),
    "require_approval_for_medium_risk": ("true", "false", "medium-risk commands are no longer asked about"),
    "block_high_risk_commands": ("true", "false", "high-risk commands are no longer blocked"),
    "delegation": ('"forbidden"', '"allow"', "may now delegate"),
    "allow_unconfined": ("false", "true", "may now run without a sandbox"),
    "max_actions_per_hour": ("1", "2", "has 2 actions an hour, 1 before"),
    "max_cost_per_day_cents": ("1", "2", "has 2 cents a day, 1 before"),
    "shell_timeout": ('"1s"', '"2s"', "has 2 seconds for a shell command, 1 before"),
    "approval_timeout": ('"1s"', '"2s"', "has 2 seconds for an approval, 1 before"),
    "max_memory": ('"1g"', '"2g"', "has 2g of memory, 1g before"),
    "max_cpus": ("1.0", "2.0", "has 2 processor cores, 1 before"),
    "max_pids": ("1", "2", "has 2 processes, 1 before"),
    "preset": ('"locked_down"', '"yolo"', "may now run *"),
}

WHAT_RUNS = "says what runs, not what it may do"
NEUTRAL = {
    "agent.description": "is for people",
    "agent.roles": "says which model answers",
    "memory.backend": "says where memories are kept",
    "memory.layout.memories": "a place in its workspace",
    "memory.layout.sessions": "a place in its workspace",
    "memory.generate": "says what Pinfold does with its runs",
    "sandbox.runner": WHAT_RUNS,
    "sandbox.engine": "what an engine cannot keep it from needs allow_unconfined",
    "sandbox.image": WHAT_RUNS,
    "sandbox.command": WHAT_RUNS,
    "sandbox.prepare": WHAT_RUNS,
    "sandbox.prepare[].action": WHAT_RUNS,
    "sandbox.prepare[].cmd": WHAT_RUNS,
    "sandbox.prepare[].once": WHAT_RUNS,
    "sandbox.prepare[].ignore_error": WHAT_RUNS,
    "sandbox.lifecycle": "says when its sandbox is cleared away",
    "sandbox.idle_timeout": "says when its sandbox is cleared away",
    "sandbox.stop_timeout": "says how it is stopped",
}
RECALL = "memory.vectors."
"""How its own memory is searched."""


def parts(kind: object) -> Iterator[object]:
    """A type and all that it is made of."""
    yield kind
    for part in get_args(kind):
        yield from parts(part)


def fields(struct: type[msgspec.Struct], path: str = "") -> Iterator[str]:
    """Every field as people write it; those of lists of tables with `[]`."""
    for name, kind in get_type_hints(struct).items():
        types = (part for part in parts(kind) if isinstance(part, type))
        nested = next((part for part in types if issubclass(part, msgspec.Struct)), None)
        if nested is None or nested is not kind:
            yield f"{path}{name}"
        if nested is not None:
            yield from fields(nested, f"{path}{name}{'' if nested is kind else '[]'}.")


def test_every_field_of_an_agent_is_classified() -> None:
    known = [field for field in fields(AgentConfig) if not field.startswith(RECALL)]
    assert sorted(known) == sorted({*WIDENS, *WIDENS_EITHER_WAY, *NEUTRAL})


def test_every_field_of_a_risk_profile_is_classified() -> None:
    assert sorted(fields(RiskProfile)) == sorted(WIDENS_IN_PROFILE)


@pytest.fixture
async def agents(home: Home) -> AsyncIterator[Agents]:
    calls = BlockingCalls()
    for alias in ("worker", "other"):
        home.default_workspace(alias).mkdir(parents=True)
        home.agent_file(alias).write_text('[agent]\nrisk_profile = "plain"\n')
    yield Agents(home, Events(), calls)
    calls.close()


async def marked(agents: Agents, home: Home, before: str, after: str, profiles: Mapping[str, str]) -> list[str]:
    """What is said to widen where one text takes the place of another."""
    home.config_file.write_text("".join(f"[risk_profiles.{name}]\n{keys}\n" for name, keys in profiles.items()))
    home.agent_file("worker").write_text(before)
    await agents.load()
    assert [str(problem) for problem in agents.get("worker").problems if problem.severity == "error"] == []
    found = Policies(home, agents).changes("worker", after.encode())
    return [change.text for change in found if change.widens]


PLAIN = {"plain": 'forbidden_paths = ["/srv/x"]', "wide": 'allowed_commands = ["*"]'}
WITH = {
    "permissions.allowed_domains": 'sandbox.network = "allowlist"\n',
    "permissions.forbidden_paths": 'permissions.allowed_roots = ["/srv/other"]\n',
}
"""What else a field needs to have an effect."""


def agent_text(path: str, value: str) -> str:
    field = path.partition("[]")[0]
    profile = "" if field == "agent.risk_profile" else 'agent.risk_profile = "plain"\n'
    return f"{profile}{WITH.get(field, '')}{field} = {value}\n"


@pytest.mark.parametrize("path", WIDENS)
async def test_a_wider_value_of_an_agents_field_is_marked_and_the_way_back_is_not(
    agents: Agents, home: Home, path: str
) -> None:
    narrow, wide, said = WIDENS[path]
    before, after = agent_text(path, narrow), agent_text(path, wide)
    assert said in await marked(agents, home, before, after, PLAIN)
    assert said not in await marked(agents, home, after, before, PLAIN)


@pytest.mark.parametrize("path", WIDENS_EITHER_WAY)
async def test_what_is_merely_another_is_marked_in_either_direction(agents: Agents, home: Home, path: str) -> None:
    one, other, said = WIDENS_EITHER_WAY[path]
    before, after = agent_text(path, one), agent_text(path, other)
    assert said in await marked(agents, home, before, after, PLAIN)
    assert said in await marked(agents, home, after, before, PLAIN)


@pytest.mark.parametrize("field", WIDENS_IN_PROFILE)
async def test_a_profile_with_a_wider_value_is_marked_and_the_way_back_is_not(
    agents: Agents, home: Home, field: str
) -> None:
    narrow, wide, said = WIDENS_IN_PROFILE[field]
    rest = WITH.get(f"permissions.{field}", "")
    profiles = {"plain": "", "narrow": f"{field} = {narrow}", "wide": f"{field} = {wide}"}
    before, after = (f'agent.risk_profile = "{name}"\n{rest}' for name in ("narrow", "wide"))
    assert said in await marked(agents, home, before, after, profiles)
    assert said not in await marked(agents, home, after, before, profiles)
