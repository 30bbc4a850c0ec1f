"""What a config names that lies elsewhere: risk profiles, connectors, other agents, directories."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from services.agents.aliases import nearest
from services.agents.mentions import mentions_in_agent
from services.agents.model import AgentConfig, PinfoldConfig, Role
from services.agents.problems import Fault, KeyPath, quoted
from services.agents.settings import SandboxSettings
from services.agents.vectors import faults_of_vectors
from services.home import Home


def faults_of_agent(
    alias: str, config: AgentConfig, siblings: Mapping[str, AgentConfig | None], shared: PinfoldConfig | None
) -> Iterator[Fault]:
    """List what an agent's config refers to that is not there or must not be referred to.

    Args:
        alias: The agent.
        config: What it says.
        siblings: All agents by alias, itself included; None for one whose file is not usable.
        shared: What `pinfold.toml` says; None when it is not usable.
    """
    yield from _faults_of_profile(config, shared)
    if shared is not None:
        yield from _faults_of_roles(config.agent.roles, ("agent", "roles"), shared)
    for mention in mentions_in_agent(msgspec.to_builtins(config)):
        if mention.is_alias:
            yield from _faults_of_sibling(alias, mention.text, siblings, mention.path)
    yield from _faults_of_delegates(config, siblings)
    yield from _faults_of_memory(config, siblings)
    connectors = shared.connectors if shared else None
    yield from faults_of_vectors(config.memory.vectors, config.memory.backend, connectors)


def faults_of_shared(shared: PinfoldConfig) -> Iterator[Fault]:
    """List what `pinfold.toml` refers to that is not in it."""
    yield from _faults_of_roles(shared.roles, ("roles",), shared)


def faults_of_settings(config: AgentConfig, settings: SandboxSettings) -> Iterator[Fault]:
    """List settings that cannot work together."""
    own = config.sandbox
    if own.idle_timeout is not None and settings.lifecycle in ("oneshot", "persistent"):
        yield Fault(
            ("sandbox", "idle_timeout"),
            f"has no effect with the lifecycle {settings.lifecycle}",
            severity="warning",
        )
    if settings.runner == "command" and settings.engine == "local" and not settings.command:
        yield Fault(
            ("sandbox",),
            "has no command to run unless a start names one",
            'Add command = ["…"], or choose an engine with images.',
            severity="warning",
        )
    if own.command is not None and settings.runner != "command":
        yield Fault(("sandbox", "command"), f"has no effect with the runner {settings.runner}", severity="warning")


def faults_of_workspace(alias: str, config: AgentConfig, workspace: Path, home: Home) -> Iterator[Fault]:
    """List what is wrong with where the workspace lies; resolves links, so it touches the disk.

    What an agent may write must not hold its own permissions, Pinfold's state or another agent's directory.
    """
    if not config.workspace.path:
        return
    path: KeyPath = ("workspace", "path")
    place = Path(os.path.realpath(workspace))
    root, agents = Path(os.path.realpath(home.root)), Path(os.path.realpath(home.agents_dir))
    if root.is_relative_to(place) or place in (agents, agents / alias):
        yield Fault(path, "the workspace must not hold Pinfold's own files")
    elif any(place.is_relative_to(os.path.realpath(kept)) for kept in (home.state_dir, home.archives_dir)):
        yield Fault(path, "the workspace must not lie in Pinfold's state or archives")
    elif place.parent == agents:
        yield Fault(path, "the workspace must not be another agent's directory")


def _faults_of_profile(config: AgentConfig, shared: PinfoldConfig | None) -> Iterator[Fault]:
    path: KeyPath = ("agent", "risk_profile")
    name = config.agent.risk_profile
    if not name:
        if config.agent.enabled:
            yield Fault(path, "no risk profile is named", _choices(shared.risk_profiles if shared else ()))
    elif shared is None:
        yield Fault(path, f"the risk profile {quoted(name)} is unknown while pinfold.toml cannot be used")
    elif name not in shared.risk_profiles:
        fix = _did_you_mean(name, shared.risk_profiles) or _choices(shared.risk_profiles)
        yield Fault(path, f"there is no risk profile {quoted(name)} in pinfold.toml", fix)


def _faults_of_roles(roles: Mapping[Role, str], path: KeyPath, shared: PinfoldConfig) -> Iterator[Fault]:
    for role, connector in roles.items():
        if connector not in shared.connectors:
            message = f"there is no connector {quoted(connector)} in pinfold.toml"
            yield Fault((*path, role), message, _did_you_mean(connector, shared.connectors), "warning")


def _faults_of_delegates(config: AgentConfig, siblings: Mapping[str, AgentConfig | None]) -> Iterator[Fault]:
    seen: set[str] = set()
    for number, delegate in enumerate(config.agent.delegates):
        path: KeyPath = ("agent", "delegates", number, "agent")
        if delegate.agent in seen:
            yield Fault(path, f"the delegate {quoted(delegate.agent)} is listed twice")
        seen.add(delegate.agent)
        other = siblings.get(delegate.agent)
        if other is not None and not other.agent.enabled:
            message = f"{delegate.agent} is disabled, so no work is handed to it"
            yield Fault(path, message, severity="warning")


def _faults_of_memory(config: AgentConfig, siblings: Mapping[str, AgentConfig | None]) -> Iterator[Fault]:
    for number, sibling in enumerate(config.memory.read_memory_from):
        path: KeyPath = ("memory", "read_memory_from", number)
        other = siblings.get(sibling)
        if other is not None and other.memory.backend != config.memory.backend:
            message = f"{sibling} keeps its memory in {other.memory.backend}, this agent in {config.memory.backend}"
            yield Fault(path, message)


def _faults_of_sibling(
    alias: str, sibling: str, siblings: Mapping[str, AgentConfig | None], path: KeyPath
) -> Iterator[Fault]:
    if not sibling.strip():
        yield Fault(path, "an agent is not named")
    elif sibling == alias:
        yield Fault(path, "an agent must not name itself here")
    elif sibling not in siblings:
        fix = _did_you_mean(sibling, siblings)
        yield Fault(path, f"there is no agent {quoted(sibling)}", fix, "warning")


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    near = nearest(name, known)
    return f"Did you mean {quoted(near)}?" if near else ""


def _choices(names: Iterable[str]) -> str:
    known = ", ".join(names)
    return f"There are: {known}." if known else "Add a [risk_profiles.<name>] to pinfold.toml, or run `pinfold init`."
