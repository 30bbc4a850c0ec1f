"""A profile starts from its preset and overrides what it says."""

from __future__ import annotations

import typing
from typing import Any

import msgspec
import pytest

from services.agents import PRESETS, Agents, RiskProfile
from services.agents.model import PinfoldConfig, Preset
from services.agents.reading import read_config
from services.home import Home
from tests.services.agents.conftest import AGENT, Put


def profile(home: Home, text: str) -> RiskProfile:
    reading = read_config(f"[risk_profiles.mine]\n{text}".encode(), home.config_file, PinfoldConfig)
    assert reading.config is not None, reading.problems
    return reading.config.risk_profiles["mine"]


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        (
            "locked_down",
            {"level": "supervised", "workspace_only": True, "auto_approve": (), "delegation": "forbidden"}
            | {"require_approval_for_medium_risk": True, "block_high_risk_commands": True, "allow_unconfined": False},
        ),
        (
            "balanced",
            {"level": "supervised", "workspace_only": True, "allowed_commands": ("*",), "delegation": "allow"}
            | {"require_approval_for_medium_risk": False, "block_high_risk_commands": True, "allow_unconfined": False},
        ),
        (
            "yolo",
            {"level": "full", "workspace_only": False, "allowed_commands": ("*",), "forbidden_paths": ()}
            | {"require_approval_for_medium_risk": False, "block_high_risk_commands": False, "auto_approve": ("*",)}
            | {"allow_unconfined": True},
        ),
    ],
)
def test_a_preset_says_what_its_name_promises(home: Home, preset: str, expected: dict[str, Any]) -> None:
    found = profile(home, f'preset = "{preset}"\n')
    assert {key: getattr(found, key) for key in expected} == expected
    assert found.max_actions_per_hour == RiskProfile().max_actions_per_hour


def test_every_preset_of_the_model_is_there_and_makes_a_profile() -> None:
    assert set(typing.get_args(Preset)) == {"", *PRESETS}
    for name, values in PRESETS.items():
        assert msgspec.convert({"preset": name, **values}, RiskProfile).preset == name


def test_other_keys_override_it_even_with_what_is_usual(home: Home) -> None:
    found = profile(home, 'allowed_commands = []\nblock_high_risk_commands = true\npreset = "yolo"\n')
    assert (found.allowed_commands, found.block_high_risk_commands, found.level) == ((), True, "full")


@pytest.mark.parametrize("text", ["", 'preset = ""\n'], ids=["none", "empty"])
def test_without_one_nothing_is_filled_in(home: Home, text: str) -> None:
    assert profile(home, text) == RiskProfile()


@pytest.mark.parametrize(
    ("text", "line", "key", "fix"),
    [
        ('[risk_profiles.mine]\npreset = "balancd"\n', 2, "risk_profiles.mine.preset", 'Did you mean "balanced"?'),
        ("[risk_profiles.mine]\npreset = 1\n", 2, "risk_profiles.mine.preset", ""),
        (
            '[risk_profiles.mine]\npreset = "yolo"\nlevel = "ful"\n',
            3,
            "risk_profiles.mine.level",
            'Did you mean "full"?',
        ),
        ("[risk_profiles]\nmine = 3\n", 2, "risk_profiles.mine", ""),
        ("risk_profiles = 3\n", 1, "risk_profiles", ""),
    ],
    ids=["unknown", "no text", "a wrong key beside it", "no table", "no tables"],
)
async def test_what_is_wrong_is_told_at_its_line(
    agents: Agents, put: Put, text: str, line: int, key: str, fix: str
) -> None:
    put("pinfold.toml", text)
    await agents.load()
    (problem,) = agents.shared_problems
    assert (problem.line, problem.key, problem.fix) == (line, key, fix)


async def test_a_change_of_preset_reaches_agents_whose_files_did_not_change(agents: Agents, put: Put) -> None:
    put("pinfold.toml", '[risk_profiles.hardened]\npreset = "locked_down"\n')
    put("reviewer", AGENT)
    await agents.load()
    put("pinfold.toml", '[risk_profiles.hardened]\npreset = "yolo"\n')
    await agents.load()
    found = agents.get("reviewer").profile
    assert found is not None
    assert found.level == "full"
