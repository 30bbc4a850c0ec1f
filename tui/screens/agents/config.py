"""What is in force for an agent, field by field, and which file says so."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.figures import duration, middle, size
from tui.glyphs import glyphs
from tui.text import safe
from tui.widgets.table import Cell, Column, Span, cell

if TYPE_CHECKING:
    from services.agents import Agent

OWN = "agent.toml"
_BUILT_IN = "built in"


@dataclass(frozen=True)
class Setting:
    """One field in force.

    Attributes:
        origin: The file or profile that says so.
    """

    section: str
    field: str
    value: str
    origin: str

    @property
    def key(self) -> str:
        """Section and field."""
        return f"{self.section}.{self.field}"


def setting_columns() -> list[Column[Setting]]:
    """The columns from left to right."""
    return [
        Column("field", "FIELD", _field, None, 24, grow=1, most=34),
        Column("value", "VALUE", _value, None, 14, grow=4),
        Column("origin", "FROM", lambda row, _: _origin(row), None, 12, grow=1, most=22, drop=1),
    ]


def _field(row: Setting, _: int) -> Cell:
    return (Span(f"{row.section}.", "muted"), Span(row.field))


def _value(row: Setting, width: int) -> Cell:
    if not row.value:
        return cell(glyphs().dash, "muted")
    return cell(middle(row.value, width, glyphs().ellipsis), "strong" if row.origin == OWN else "")


def _origin(row: Setting) -> Cell:
    return cell(row.origin, "accent" if row.origin == OWN else "muted")


def settings_in_force(agent: Agent) -> list[Setting]:
    """List every field of an agent that has a configuration; none for one that never had a good one."""
    if agent.config is None:
        return []
    return [*_agent(agent), *_permissions(agent), *_workspace(agent), *_memory(agent), *_sandbox(agent)]


def _agent(agent: Agent) -> Iterator[Setting]:
    assert agent.config is not None
    section = agent.config.agent
    for field, value in (
        ("enabled", section.enabled),
        ("description", section.description),
        ("risk_profile", section.risk_profile),
        ("roles", section.roles),
        ("delegates", [f"{delegate.agent} ({delegate.mode})" for delegate in section.delegates]),
    ):
        yield Setting("agent", field, written(value), OWN if value not in ("", {}, []) else "")


def _permissions(agent: Agent) -> Iterator[Setting]:
    assert agent.config is not None
    own, profile = agent.config.permissions, agent.profile
    from_profile = f"profile {safe(agent.config.agent.risk_profile)}"
    for field in own.__struct_fields__:
        value = getattr(own, field)
        if value is not None:
            yield Setting("permissions", field, written(value), OWN)
        elif profile is not None:
            yield Setting("permissions", field, written(getattr(profile, field)), from_profile)
    if profile is not None:
        yield Setting("permissions", "allow_unconfined", written(profile.allow_unconfined), from_profile)


def _workspace(agent: Agent) -> Iterator[Setting]:
    assert agent.config is not None
    section = agent.config.workspace
    yield Setting("workspace", "path", safe(str(agent.workspace)), OWN if section.path else _BUILT_IN)
    for sibling, access in section.access.items():
        yield Setting("workspace", f"access.{safe(sibling)}", written(access), OWN)


def _memory(agent: Agent) -> Iterator[Setting]:
    assert agent.config is not None
    section = agent.config.memory
    for field in ("backend", "read_memory_from", "read", "generate", "live_update"):
        yield Setting("memory", field, written(getattr(section, field)), "")


def _sandbox(agent: Agent) -> Iterator[Setting]:
    settings = agent.settings
    if settings is None:
        return
    for field, value in (
        ("runner", settings.runner),
        ("command", shlex.join(settings.command)),
        ("engine", settings.engine or "the first that answers"),
        ("image", settings.image),
        ("lifecycle", settings.lifecycle),
        ("idle_timeout", "never" if settings.idle_timeout is None else duration(settings.idle_timeout)),
        ("stop_timeout", duration(settings.stop_timeout)),
        ("memory", "unlimited" if settings.memory is None else size(settings.memory)),
        ("cpus", "unlimited" if settings.cpus is None else f"{settings.cpus:g}"),
        ("pids", "unlimited" if settings.pids is None else str(settings.pids)),
        ("network", settings.network),
        ("output_limit", size(settings.output_limit)),
        ("secrets", list(settings.secrets)),
        ("environment", [f"{name}={value}" for name, value in settings.environment.items()]),
        ("prepare", [shlex.join(step.cmd) for step in settings.prepare]),
    ):
        yield Setting("sandbox", field, written(value), settings.origins.get(field, ""))


def written(value: object) -> str:
    """Write a value of a configuration on one line of clean text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return safe(", ".join(f"{key} = {item}" for key, item in value.items()))
    if isinstance(value, list | tuple):
        return safe("  ".join(str(item) for item in value))
    return safe(str(value))
