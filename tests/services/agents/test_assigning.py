"""What people type after `pinfold agents set`: keys, values as loose as typing is, and faults with the nearest key."""

from __future__ import annotations

from typing import Any

import pytest

from services.agents import Agents, Value
from services.errors import ConfigError
from tests.services.agents.conftest import AGENT, SHARED, Put

PROFILE = '[risk_profiles.hardened]\nallowed_commands = ["cat", "git"]\n'
DEFAULTS = '[defaults.sandbox]\nsecrets = ["TOKEN"]\n'
TEXT = AGENT + '[permissions]\nallowed_roots = ["/srv"]\nallowed_domains = ["a.org"]\n'


@pytest.fixture
async def reviewer(agents: Agents, put: Put) -> Agents:
    put("pinfold.toml", PROFILE + SHARED.replace("[risk_profiles.hardened]\n", "") + DEFAULTS)
    put("reviewer", TEXT)
    await agents.load()
    return agents


async def made(agents: Agents, *assignments: str, unset: tuple[str, ...] = ()) -> dict[str, Value | None]:
    draft = await agents.assign(await agents.draft("reviewer"), assignments, unset)
    return {".".join(change.path): change.value for change in draft.changes}


@pytest.mark.parametrize(
    ("assignment", "key", "value"),
    [
        ("agent.risk_profile=observer", "agent.risk_profile", "observer"),
        ('agent.risk_profile="observer"', "agent.risk_profile", "observer"),
        ("agent.risk_profile = 'observer'", "agent.risk_profile", "observer"),
        ("agent.enabled=false", "agent.enabled", False),
        ("agent.description=", "agent.description", ""),
        ("agent.description=true", "agent.description", "true"),
        ("agent.description=2024-01-01", "agent.description", "2024-01-01"),
        ("agent.description=a = b # c", "agent.description", "a = b # c"),
        ("agent.description=one\ntwo = 3", "agent.description", "one\ntwo = 3"),
        ("permissions.level=full", "permissions.level", "full"),
        ('permissions.allowed_commands=["git", "ls"]', "permissions.allowed_commands", ["git", "ls"]),
        ("permissions.allowed_commands=[]", "permissions.allowed_commands", []),
        ("sandbox.network=none", "sandbox.network", "none"),
        ("sandbox.memory=512m", "sandbox.memory", "512m"),
        ("sandbox.pids=64", "sandbox.pids", 64),
        ("sandbox.cpus=1.5", "sandbox.cpus", 1.5),
        ("sandbox.environment.PORT=80", "sandbox.environment.PORT", "80"),
        ('"sandbox".\'environment\'.A=x', "sandbox.environment.A", "x"),
        ('sandbox.prepare=[{ cmd = ["make"] }]', "sandbox.prepare", [{"cmd": ["make"]}]),
        ("agent.roles={ default = 'local' }", "agent.roles", {"default": "local"}),
        ("workspace.access.writer=read", "workspace.access.writer", "read"),
    ],
)  # fmt: skip
async def test_a_value_is_toml_or_just_text(reviewer: Agents, assignment: str, key: str, value: Value) -> None:
    assert await made(reviewer, assignment) == {key: value}


@pytest.mark.parametrize(
    ("assignments", "key", "value"),
    [
        (["permissions.allowed_roots+=/var/x"], "permissions.allowed_roots", ["/srv", "/var/x"]),
        (["permissions.allowed_roots+=['a', '/srv']"], "permissions.allowed_roots", ["/srv", "a"]),
        (["permissions.allowed_roots-=/srv"], "permissions.allowed_roots", []),
        (["permissions.allowed_roots+=a", "permissions.allowed_roots-=/srv"], "permissions.allowed_roots", ["a"]),
        (["permissions.allowed_commands+=jj"], "permissions.allowed_commands", ["cat", "git", "jj"]),
        (["permissions.allowed_commands-=git"], "permissions.allowed_commands", ["cat"]),
        (["sandbox.secrets+=OTHER"], "sandbox.secrets", ["TOKEN", "OTHER"]),
        (["memory.read_memory_from+=writer"], "memory.read_memory_from", ["writer"]),
        (["agent.delegates+={ agent = 'writer' }"], "agent.delegates", [{"agent": "writer"}]),
    ],
)
async def test_entries_are_added_to_and_taken_from_the_list_in_force(
    reviewer: Agents, assignments: list[str], key: str, value: Value
) -> None:
    assert await made(reviewer, *assignments) == {key: value}


async def test_a_key_that_is_removed_leaves_the_profile_in_force(reviewer: Agents) -> None:
    assert await made(reviewer, unset=("permissions.allowed_roots", "workspace.path")) == {
        "permissions.allowed_roots": None
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"set": "permisions.level=full"}, 'permisions: unknown key "permisions". Did you mean "permissions"?'),
        ({"set": "permissions.lvel=full"}, 'permissions.lvel: unknown key "lvel". Did you mean "level"?'),
        ({"set": "sandbox.level=full"}, 'sandbox.level: unknown key "level". It belongs in [permissions].'),
        ({"set": "agent.enabled.x=1"}, "agent.enabled: must be true or false, not a table"),
        ({"set": "agent.enabled=yes"}, "agent.enabled: must be true or false, not text"),
        ({"set": "permissions.level=fulll"}, 'must be one of "readonly", "supervised", "full", not "fulll". Did you'),
        ({"set": "permissions.allowed_commands=git"}, 'permissions.allowed_commands: must be a list. Write ["one"'),
        ({"set": "permissions.allowed_commands=[1]"}, "permissions.allowed_commands[0]: must be text without NUL"),
        ({"set": "sandbox.pids=many"}, "sandbox.pids: must be a whole number from 1 up to 4194304, not text"),
        ({"set": "sandbox.pids=" + "9" * 5000}, "sandbox.pids: must be a whole number"),
        ({"set": "sandbox.cpus=0"}, "sandbox.cpus: must be a number above 0"),
        ({"set": "sandbox.idle_timeout=soon"}, 'sandbox.idle_timeout: must be a duration, such as "30m"'),
        ({"set": "sandbox.environment.1A=x"}, 'sandbox.environment.1A: the key must be the name of an environment'),
        ({"set": "workspace.access.writer=rad"}, 'workspace.access.writer: must be one of'),
        ({"set": "agent.enabled+=1"}, "agent.enabled: is not a list. Set it with agent.enabled=VALUE."),
        ({"set": "permissions.allowed_commands-=gti"}, 'has no entry "gti". Did you mean "git"?'),
        ({"set": "permissions.level"}, '"permissions.level" is no assignment. Write KEY=VALUE'),
        ({"set": "a b=c"}, '"a b" is no key'),
        ({"set": "a..b=c"}, '"a..b" is no key'),
        ({"set": "a\nb=c"}, "is no key"),
        ({"unset": "permissions.lvel"}, 'permissions.lvel: unknown key "lvel"'),
        ({"unset": "=x"}, "is no key"),
    ],
)  # fmt: skip
async def test_what_cannot_be_is_refused_in_the_words_of_its_key(
    reviewer: Agents, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        await made(reviewer, *filter(None, [arguments.get("set")]), unset=tuple(filter(None, [arguments.get("unset")])))
    assert said in str(raised.value)


async def test_a_refusal_never_tells_a_value_that_may_be_secret(reviewer: Agents) -> None:
    for text in ("sandbox.environment.TOKEN=hunter2\0", "sandbox.environment=hunter2", "sandbox.enviroment.A=hunter2"):
        with pytest.raises(ConfigError) as raised:
            await made(reviewer, text)
        assert "hunter2" not in str(raised.value)
