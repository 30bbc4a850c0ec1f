"""Which of three places decides a sandbox setting."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from services.agents.model import Lifecycle, SandboxSection
from services.agents.settings import SandboxSettings, resolve


def settings(own: dict[str, Any] | None = None, defaults: dict[str, Any] | None = None) -> SandboxSettings:
    return resolve(msgspec.convert(own or {}, SandboxSection), msgspec.convert(defaults or {}, SandboxSection))


def test_without_any_word_a_sandbox_is_strict_and_removed_at_its_end() -> None:
    built_in = settings()
    assert (built_in.lifecycle, built_in.network, built_in.secrets) == ("oneshot", "none", ())
    assert (built_in.runner, built_in.engine, built_in.command) == ("yaocode", "", ())
    assert (built_in.stop_timeout, built_in.idle_timeout) == (2.0, None)
    assert (built_in.memory, built_in.cpus, built_in.pids) == (None, None, 512)
    assert set(built_in.origins.values()) == {"built in"}
    assert set(built_in.origins) == set(SandboxSection.__struct_fields__)


def test_the_agent_comes_before_the_defaults_before_pinfold() -> None:
    found = settings({"memory": "1g", "secrets": []}, {"memory": "2g", "cpus": 2, "secrets": ["A"]})
    assert (found.memory, found.cpus, found.pids, found.secrets) == (1024**3, 2.0, 512, ())
    assert [found.origins[name] for name in ("memory", "cpus", "pids", "secrets")] == [
        "agent.toml",
        "pinfold.toml",
        "built in",
        "agent.toml",
    ]


def test_a_table_is_taken_whole() -> None:
    found = settings({"environment": {"A": "1"}}, {"environment": {"B": "2"}})
    assert found.environment == {"A": "1"}


def test_an_empty_engine_of_the_agent_still_decides() -> None:
    found = settings({"engine": ""}, {"engine": "docker"})
    assert (found.engine, found.origins["engine"]) == ("", "agent.toml")


@pytest.mark.parametrize(
    ("lifecycle", "stated", "seconds"),
    [
        ("oneshot", None, None),
        ("oneshot", "30m", None),
        ("persistent", None, None),
        ("persistent", "30m", None),
        ("session", None, 1800),
        ("session", "5m", 300),
        ("session", "never", None),
        ("longrunning", None, 7200),
        ("longrunning", "1h30m", 5400),
    ],
)
def test_idle_timeouts_follow_the_lifecycle(lifecycle: Lifecycle, stated: str | None, seconds: float | None) -> None:
    assert settings({"lifecycle": lifecycle}, {"idle_timeout": stated}).idle_timeout == seconds
    chosen_at_start = settings({}, {"idle_timeout": stated}).with_lifecycle(lifecycle)
    assert (chosen_at_start.lifecycle, chosen_at_start.idle_timeout) == (lifecycle, seconds)


def test_units_become_numbers() -> None:
    found = settings({"memory": "1.5g", "output_limit": "64m", "stop_timeout": "500ms"})
    assert (found.memory, found.output_limit, found.stop_timeout) == (3 * 1024**3 // 2, 64 * 1024**2, 0.5)
