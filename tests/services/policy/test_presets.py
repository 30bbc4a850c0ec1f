"""What a preset decides names the preset, and what the profile overrides names its own line."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.activity import Events
from services.agents import PRESETS, Agents
from services.home import BlockingCalls, Home
from services.policy import Policies, Verdict, confinement

SHARED = """\
[risk_profiles.mine]
preset = "{}"
forbidden_paths = ["~/.ssh"]
"""


@pytest.fixture
async def agents(home: Home) -> AsyncIterator[Agents]:
    calls = BlockingCalls()
    home.default_workspace("reviewer").mkdir(parents=True)
    home.agent_file("reviewer").write_text('[agent]\nrisk_profile = "mine"\n')
    yield Agents(home, Events(), calls)
    calls.close()


async def policies(agents: Agents, home: Home, text: str) -> Policies:
    home.config_file.write_text(text)
    await agents.load()
    return Policies(home, agents)


@pytest.mark.parametrize(
    ("preset", "line", "verdict"),
    [
        ("locked_down", "ls", Verdict.ALLOW),
        ("locked_down", "touch x", Verdict.DENY),
        ("locked_down", "git commit -m x", Verdict.ASK),
        ("balanced", "touch x", Verdict.ALLOW),
        ("balanced", "sudo reboot", Verdict.DENY),
        ("yolo", "touch x", Verdict.ALLOW),
    ],
)
async def test_a_preset_decides_commands(agents: Agents, home: Home, preset: str, line: str, verdict: Verdict) -> None:
    found = await policies(agents, home, SHARED.format(preset))
    assert found.of("reviewer").command(line).verdict is verdict


async def test_every_rule_names_the_preset_or_the_line_that_overrides_it(agents: Agents, home: Home) -> None:
    policy = (await policies(agents, home, SHARED.format("balanced"))).of("reviewer")
    shown = {rule.kind: str(rule.origin) for rule in policy.rules()}
    assert shown["level"] == shown["allowed command"] == shown["elsewhere"]
    assert shown["level"] == "pinfold.toml:2 (profile mine, preset balanced)"
    assert shown["forbidden path"] == "pinfold.toml:3 (profile mine)"
    origin = policy.commands.allowed[0].origin
    assert (origin.key, origin.profile, origin.preset) == ("risk_profiles.mine.preset", "mine", "balanced")


async def test_a_finding_names_the_preset(agents: Agents, home: Home) -> None:
    (finding,) = (await policies(agents, home, SHARED.format("yolo"))).findings("reviewer")
    assert "lets every command run unchecked" in finding.message
    assert str(finding.origin) == "pinfold.toml:2 (profile mine, preset yolo)"


async def test_a_file_that_broke_keeps_the_rules_but_not_their_lines(agents: Agents, home: Home) -> None:
    await policies(agents, home, SHARED.format("balanced"))
    policy = (await policies(agents, home, "[risk_profiles")).of("reviewer")
    assert policy.commands.decide("touch x").verdict is Verdict.ALLOW
    assert str(policy.commands.allowed[0].origin) == "pinfold.toml (profile mine)"


@pytest.mark.parametrize("preset", PRESETS)
async def test_an_agent_of_any_preset_can_be_confined(agents: Agents, home: Home, preset: str) -> None:
    await policies(agents, home, f'[risk_profiles.mine]\npreset = "{preset}"\n')
    agent = agents.get("reviewer")
    assert agent.settings is not None
    found = confinement(agent, {}, agent.settings)
    assert found.refusals == ()
    assert [mount.target for mount in found.mounts] == ["/workspace"]


async def test_from_locked_down_to_yolo_everything_widens(agents: Agents, home: Home) -> None:
    home.agent_file("reviewer").write_text('[agent]\nrisk_profile = "one"\n')
    text = '[risk_profiles.one]\npreset = "locked_down"\n[risk_profiles.two]\npreset = "yolo"\n'
    found = await policies(agents, home, text)
    there = found.changes("reviewer", b'[agent]\nrisk_profile = "two"\n')
    assert {
        "works at level full, was supervised",
        "may now run *",
        "may now delegate",
        "may now run without a sandbox",
    } <= {change.text for change in there if change.widens}
    home.agent_file("reviewer").write_text('[agent]\nrisk_profile = "two"\n')
    await agents.load()
    back = found.changes("reviewer", b'[agent]\nrisk_profile = "one"\n')
    assert not any(change.widens for change in back)
