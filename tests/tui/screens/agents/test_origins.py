"""Where a value is written, in the form and among the facts: stated, from a preset, or built in."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.activity import Events
from services.agents import Agents
from services.home import BlockingCalls, Home
from services.policy import Policies
from tui.screens.agents.facts import facts_of
from tui.screens.agents.form_rows import Subject, form_rows

SHARED = """\
[risk_profiles.net]
preset = "balanced"
max_actions_per_hour = 20
require_approval_for_medium_risk = true
"""


@pytest.fixture
async def agents(tmp_path) -> AsyncIterator[Agents]:
    home = Home(tmp_path / "home")
    calls = BlockingCalls()
    home.agent_dir("worker").mkdir(parents=True)
    home.agent_file("worker").write_text('[agent]\nrisk_profile = "net"\n')
    home.config_file.write_text(SHARED)
    agents = Agents(home, Events(), calls)
    await agents.load()
    yield agents
    calls.close()


ROWS = [
    ("permissions.level", "preset balanced", "pinfold.toml:2, preset balanced of the profile net"),
    ("permissions.forbidden_paths", "preset balanced", "pinfold.toml:2, preset balanced of the profile net"),
    ("permissions.allowed_roots", "default", "not set in the profile net; agent.toml says permissions.allowed_roots"),
    ("profile.delegation", "preset balanced", "pinfold.toml:2, preset balanced of the profile net"),
    ("profile.require_approval_for_medium_risk", "profile", "pinfold.toml:4, profile net"),
    ("profile.max_actions_per_hour", "profile", "pinfold.toml:3, profile net"),
    ("profile.max_pids", "default", "not set in the profile net; pinfold.toml says risk_profiles.net.max_pids"),
]


@pytest.mark.parametrize(("key", "origin", "full"), ROWS, ids=[row[0] for row in ROWS])
async def test_the_form_names_the_preset_the_profile_or_the_default(agents, key, origin, full) -> None:
    agent = agents.get("worker")
    subject = Subject(agent, b"", (), (), agents.shared_lines(), agents.shared_keys())
    (row,) = [row for row in form_rows(subject) if row.key == key]
    assert row.origin == origin
    assert row.help.endswith(full)


NOT_HELD = {
    "level": "enforced", "commands": "not yet enforced", "tools": "not yet enforced", "limits": "not yet enforced",
}  # fmt: skip


async def test_what_is_not_enforced_everywhere_is_remarked_once_in_its_section(agents, tmp_path) -> None:
    facts = facts_of(Policies(Home(tmp_path / "home"), agents).of("worker"), None)
    remarks = [(fact.section, fact.what) for fact in facts if fact.what.endswith("enforced")]
    assert remarks == list(NOT_HELD.items())
    limits = {fact.what: fact.origin for fact in facts if fact.section == "limits"}
    assert limits["actions an hour"] == "pinfold.toml:3 (profile net)"
    assert limits["a shell command"] == "built in"
