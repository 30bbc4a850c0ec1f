"""From an agent's files to its policy: profile first, then what its own file says otherwise, then its siblings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from services.agents import PRESETS, Agent, AgentConfig, RiskProfile, SandboxSettings, parse_duration, parse_size
from services.errors import PinfoldError
from services.policy.commands import AllowedCommand, CommandPolicy
from services.policy.decision import BUILT_IN, Key, Lines, Origin, no_lines
from services.policy.domains import AllowedDomain, DomainPolicy
from services.policy.memory import MemoryPolicy
from services.policy.paths import PathPolicy, PathRule
from services.policy.policy import Allowances, Policy, least
from services.policy.resolving import Resolved
from services.policy.runner_rules import RUNNER_RULES
from services.policy.tools import EnvironmentPolicy, Listed, ToolPolicy


def every_key(key: Key) -> bool:
    """Keys where the text is not at hand: as if all were written."""
    return True


@dataclass(frozen=True)
class Memo:
    """What policies built in the same moment from the same `pinfold.toml` have in common.

    Attributes:
        origins: Where keys of profiles stand.
        resolved: Where places lead.
    """

    origins: dict[Key, Origin] = field(default_factory=dict)
    resolved: dict[str, Resolved] = field(default_factory=dict)


@dataclass(frozen=True)
class Sources:
    """Where the parts of a policy are written.

    Attributes:
        home: The directory of Pinfold's own files, which no agent touches.
        shared_file: `pinfold.toml`.
        operator: What `~` stands for.
        agent_lines: Lines of the agent's own file.
        shared_lines: Lines of `pinfold.toml`.
        shared_keys: Tells whether a key is written in `pinfold.toml`; what is not may come from a preset.
        memo: Shared by policies built together.
    """

    home: Path
    shared_file: Path
    operator: Path
    agent_lines: Lines = no_lines
    shared_lines: Lines = no_lines
    shared_keys: Callable[[Key], bool] = every_key
    memo: Memo = field(default_factory=Memo)


def build_policy(agent: Agent, siblings: Mapping[str, Agent], sources: Sources) -> Policy:
    """Compute what an agent may do.

    Args:
        agent: Must have a usable configuration.
        siblings: All agents by alias, for grants on their workspaces.
        sources: Where its rules are written.

    Raises:
        PinfoldError: Its configuration was never usable, or its profile does not exist.
    """
    if agent.config is None or agent.settings is None:
        raise PinfoldError(f"cannot tell what {agent.alias} may do", why="its agent.toml is not usable")
    if agent.profile is None:
        why = f"the risk profile {agent.config.agent.risk_profile or '(none named)'} does not exist"
        raise PinfoldError(f"cannot tell what {agent.alias} may do", why=why, fix="Name one of pinfold.toml.")
    return _Builder(agent, agent.config, agent.profile, agent.settings, siblings, sources).policy()


@dataclass(frozen=True)
class _Builder:
    agent: Agent
    config: AgentConfig
    profile: RiskProfile
    settings: SandboxSettings
    siblings: Mapping[str, Agent]
    sources: Sources

    def policy(self) -> Policy:
        level = self.config.permissions.level or self.profile.level
        paths = self._paths(level)
        return Policy(
            alias=self.agent.alias,
            profile=self.config.agent.risk_profile,
            level=level,
            paths=paths,
            commands=self._commands(level, paths),
            domains=self._domains(),
            tools=ToolPolicy(
                level,
                self._listed("allowed_tools"),
                self._listed("excluded_tools"),
                self._listed("auto_approve"),
                self._listed("always_ask"),
                self._origin_of("level"),
            ),
            environment=EnvironmentPolicy(self._listed("env_passthrough"), self.settings.environment),
            allowances=self._allowances(),
            secrets=self.settings.secrets,
            delegation=self.profile.delegation,
            delegation_origin=self._of_profile("delegation"),
            delegates=tuple(delegate.agent for delegate in self.config.agent.delegates),
            independent=tuple(each.agent for each in self.config.agent.delegates if each.mode == "independent"),
            memory=self._memory(),
            unconfined=self.profile.allow_unconfined,
            enabled=self.config.agent.enabled,
        )

    # --- where things are written

    def _own(self, *key: str | int) -> Origin:
        return Origin(self.agent.file, key, lines=self.sources.agent_lines)

    def _of_profile(self, *key: str | int) -> Origin:
        """Where the profile or its preset states a key; built in when neither does."""
        name = self.config.agent.risk_profile
        path: Key = ("risk_profiles", name, *key)
        known = self.sources.memo.origins
        origin = known.get(path)
        if origin is None:
            origin = known[path] = self._stated_at(path, name)
        return origin

    def _stated_at(self, path: Key, name: str) -> Origin:
        if self.sources.shared_keys(path[:3]):
            return Origin(self.sources.shared_file, path, name, self.sources.shared_lines)
        preset = self.profile.preset
        if str(path[2]) in PRESETS.get(preset, {}):
            return Origin(self.sources.shared_file, (*path[:2], "preset"), name, self.sources.shared_lines, preset)
        return BUILT_IN

    def _of_sandbox(self, key: str) -> Origin:
        match self.settings.origins.get(key):
            case "agent.toml":
                return self._own("sandbox", key)
            case "pinfold.toml":
                written: Key = ("defaults", "sandbox", key)
                return Origin(self.sources.shared_file, written, lines=self.sources.shared_lines)
            case _:
                return BUILT_IN

    def _origin_of(self, key: str) -> Origin:
        if getattr(self.config.permissions, key, None) is not None:
            return self._own("permissions", key)
        return self._of_profile(key)

    def _entries(self, key: str) -> Iterator[tuple[str, Origin]]:
        own: Sequence[str] | None = getattr(self.config.permissions, key)
        entries: Sequence[str] = getattr(self.profile, key) if own is None else own
        for number, entry in enumerate(entries):
            origin = self._of_profile(key, number) if own is None else self._own("permissions", key, number)
            yield entry, origin

    def _listed(self, key: str) -> tuple[Listed, ...]:
        return tuple(Listed(entry, origin) for entry, origin in self._entries(key))

    # --- the parts

    def _paths(self, level: str) -> PathPolicy:
        unrestricted = self.config.workspace.unrestricted_filesystem
        if unrestricted:
            elsewhere = self._own("workspace", "unrestricted_filesystem")
        elif level == "full":
            elsewhere = self._origin_of("level")
        else:
            elsewhere = self._of_profile("workspace_only")
        return PathPolicy(
            workspace=self.agent.workspace,
            home=self.sources.operator,
            rules=tuple(self._path_rules()),
            workspace_only=self.profile.workspace_only and not unrestricted and level != "full",
            elsewhere=elsewhere,
            resolved=self.sources.memo.resolved,
        )

    def _path_rules(self) -> Iterator[PathRule]:
        named = self._own("workspace", "path") if self.config.workspace.path else BUILT_IN
        workspace = str(self.agent.workspace)
        yield PathRule("workspace", workspace, readable=True, writable=True, origin=named, name="its workspace")
        yield PathRule("Pinfold's own files", str(self.sources.home), readable=False, writable=False)
        for file in RUNNER_RULES.get(self.settings.runner, ()):
            place = f"{workspace}/{file}"
            yield PathRule("rules of the runner", place, readable=True, writable=False, name=file)
        for alias, access in self.config.workspace.access.items():
            sibling = self.siblings.get(alias)
            if sibling is not None:
                origin = self._own("workspace", "access", alias)
                readable, writable = access in ("read", "read_write", "write"), access != "read"
                place = str(sibling.workspace)
                yield PathRule("sibling", place, readable, writable, origin, f"../{alias}")
        for root, origin in self._entries("allowed_roots"):
            if root not in NO_ROOT:
                yield PathRule("allowed root", root, readable=True, writable=True, origin=origin)
        for path, origin in self._entries("forbidden_paths"):
            yield PathRule("forbidden path", path, readable=False, writable=False, origin=origin)

    def _commands(self, level: str, paths: PathPolicy) -> CommandPolicy:
        origins = {"level": self._origin_of("level"), "allowed_commands": self._origin_of("allowed_commands")}
        for key in ("block_high_risk_commands", "require_approval_for_medium_risk"):
            origins[key] = self._of_profile(key)
        return CommandPolicy(
            level,  # type: ignore[arg-type]  # both are the words of the level
            tuple(AllowedCommand(entry, origin) for entry, origin in self._entries("allowed_commands")),
            paths,
            self.profile.block_high_risk_commands,
            self.profile.require_approval_for_medium_risk,
            origins,
        )

    def _domains(self) -> DomainPolicy:
        entries = tuple(AllowedDomain(entry, origin) for entry, origin in self._entries("allowed_domains"))
        return DomainPolicy(self.settings.network, entries, self._of_sandbox("network"))

    def _memory(self) -> MemoryPolicy:
        section = self.config.memory
        memories = enumerate(section.read_memory_from)
        return MemoryPolicy(
            self.settings.tools,
            self._of_sandbox("tools"),
            tuple(Listed(alias, self._own("memory", "read_memory_from", number)) for number, alias in memories),
            tuple(Listed(f"{kind}:{id_}", self._own("memory", "scopes", kind)) for kind, id_ in section.scopes.items()),
            told=section.read,
            live_update=section.live_update,
        )

    def _allowances(self) -> Allowances:
        profile, settings = self.profile, self.settings
        most_memory = parse_size(profile.max_memory) if profile.max_memory else None
        return Allowances(
            profile.max_actions_per_hour,
            profile.max_cost_per_day_cents,
            parse_duration(profile.shell_timeout) or 0.0,
            parse_duration(profile.approval_timeout) or 0.0,
            least(settings.memory, most_memory),
            least(settings.cpus, profile.max_cpus),
            least(settings.pids, profile.max_pids),
            settings.output_limit,
            origins={
                "max_actions_per_hour": self._of_profile("max_actions_per_hour"),
                "max_cost_per_day": self._of_profile("max_cost_per_day_cents"),
                "shell_timeout": self._of_profile("shell_timeout"),
                "approval_timeout": self._of_profile("approval_timeout"),
                "memory": self._of_smaller("memory", settings.memory, most_memory),
                "cpus": self._of_smaller("cpus", settings.cpus, profile.max_cpus),
                "pids": self._of_smaller("pids", settings.pids, profile.max_pids),
                "output": self._of_sandbox("output_limit"),
            },
        )

    def _of_smaller(self, key: str, own: float | None, most: float | None) -> Origin:
        """Where the limit of a sandbox that holds is written: its own, unless the profile's `max_` is smaller."""
        profile_decides = most is not None and (own is None or most < own)
        return self._of_profile(f"max_{key}") if profile_decides else self._of_sandbox(key)


NO_ROOT = frozenset({"", "*", "<unset>"})
"""Entries of `allowed_roots` that grant nothing; ZeroClaw drops the same ones."""
