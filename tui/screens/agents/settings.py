"""What is in force for an agent beside its permissions, field by field, and which file says so."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.agents import NO_EMBEDDER
from tui.figures import middle, size, span
from tui.glyphs import glyphs
from tui.text import safe
from tui.widgets.table import Cell, Column, cell

if TYPE_CHECKING:
    from services.agents import Agent

OWN = "agent.toml"
_BUILT_IN = "built in"
_UNSET = {"risk_profile": "none named"}
"""What an empty value means where that is not `none`."""


@dataclass(frozen=True)
class Setting:
    """One field in force.

    Attributes:
        origin: The file or profile that says so.
        first: The first of its section.
    """

    section: str
    field: str
    value: str
    origin: str
    first: bool = False

    @property
    def key(self) -> str:
        """Section and field."""
        return f"{self.section}.{self.field}"


def setting_columns() -> list[Column[Setting]]:
    """The columns from left to right."""
    return [
        Column("section", "SECTION", lambda row, _: cell(row.section if row.first else "", "muted"), None, 11, drop=1),
        Column("field", "FIELD", lambda row, _: cell(row.field), None, 18, grow=1, most=22),
        Column("value", "VALUE", _value, None, 14, grow=6),
        Column("origin", "FROM", lambda row, _: _origin(row), None, 16, grow=1, most=24, drop=2),
    ]


def _value(row: Setting, width: int) -> Cell:
    if not row.value:
        return cell(_UNSET.get(row.field, "none"), "muted")
    return cell(middle(row.value, width, glyphs().ellipsis), "strong" if row.origin == OWN else "")


def _origin(row: Setting) -> Cell:
    return cell(row.origin, "accent" if row.origin == OWN else "muted")


def settings_in_force(agent: Agent) -> list[Setting]:
    """List every field of an agent that has a configuration; none for one that never had a good one."""
    if agent.config is None:
        return []
    sections = (_agent(agent), _sandbox(agent), _workspace(agent), _memory(agent))
    return [replace(row, first=index == 0) for section in sections for index, row in enumerate(section)]


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


def _workspace(agent: Agent) -> Iterator[Setting]:
    assert agent.config is not None
    section = agent.config.workspace
    yield Setting("workspace", "path", safe(str(agent.workspace)), OWN if section.path else _BUILT_IN)


def _memory(agent: Agent) -> Iterator[Setting]:
    assert agent.config is not None
    section = agent.config.memory
    for field in ("backend", "read_memory_from", "scopes", "read", "generate", "live_update"):
        yield Setting("memory", field, written(getattr(section, field)), "")
    if section.vectors.embedder != NO_EMBEDDER:
        yield Setting("memory", "vectors.embedder", written(section.vectors.embedder), OWN)
        yield Setting("memory", "vectors.search", written(section.vectors.search), "")


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
        ("idle_timeout", "never" if settings.idle_timeout is None else span(settings.idle_timeout)),
        ("stop_timeout", span(settings.stop_timeout)),
        ("memory", "unlimited" if settings.memory is None else size(settings.memory)),
        ("cpus", "unlimited" if settings.cpus is None else f"{settings.cpus:g}"),
        ("pids", "unlimited" if settings.pids is None else str(settings.pids)),
        ("network", settings.network),
        ("tools", settings.tools),
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
