"""A home with files put there as an editor would, and the agents read from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from services.activity import Events
from services.agents import Agents
from services.home import BlockingCalls, Home

SHARED = """
[risk_profiles.hardened]
[risk_profiles.observer]
level = "readonly"
[connectors.local]
kind = "openai"
"""
AGENT = """
[agent]
risk_profile = "hardened"
description = "first"
"""

Put = Callable[[str, str | bytes], Path]


@pytest.fixture
def put(home: Home) -> Put:
    """Writes a file of the home: `pinfold.toml`, or an alias for its `agent.toml`."""

    def write(name: str, text: str | bytes) -> Path:
        file = home.config_file if name == "pinfold.toml" else home.agent_file(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    return write


@pytest.fixture
def calls() -> Iterator[BlockingCalls]:
    calls = BlockingCalls()
    yield calls
    calls.close()


@pytest.fixture
def events() -> Events:
    return Events()


@pytest.fixture
def agents(home: Home, events: Events, calls: BlockingCalls) -> Agents:
    return Agents(home, events, calls)
