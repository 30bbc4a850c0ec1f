"""The effective permissions of one agent: an immutable value that answers every question about what it may do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from services.agents import written_size
from services.policy.commands import CommandPolicy
from services.policy.decision import BUILT_IN, Decision, Origin, Rule
from services.policy.domains import DomainPolicy
from services.policy.memory import MemoryPolicy
from services.policy.paths import PathPolicy
from services.policy.tools import EnvironmentPolicy, ToolPolicy

Level = Literal["readonly", "supervised", "full"]

_UNLIMITED = "unlimited"
_NETWORKS = {"none": "nothing is reached", "allowlist": "only listed hosts", "open": "every host"}


@dataclass(frozen=True)
class Allowances:
    """What an agent may use up.

    Attributes:
        max_actions_per_hour: 0 blocks every action.
        max_cost_per_day: US cents.
        shell_timeout, approval_timeout: Seconds.
        memory: Bytes; None is unlimited, as for the three below.
        cpus: Cores.
        pids: Processes and threads.
        output: Bytes of output kept of a session.
        origins: Where each of the above is written, by its name; what is not here is built in.
    """

    max_actions_per_hour: int = 20
    max_cost_per_day: int = 500
    shell_timeout: float = 60.0
    approval_timeout: float = 120.0
    memory: int | None = None
    cpus: float | None = None
    pids: int | None = None
    output: int | None = None
    origins: Mapping[str, Origin] = field(default_factory=dict, repr=False, compare=False)

    def rules(self) -> Iterator[Rule]:
        """Each limit, its kind as it is called here."""
        for name, effect in (
            ("max_actions_per_hour", f"{self.max_actions_per_hour:,}"),
            ("max_cost_per_day", f"{self.max_cost_per_day:,} cents"),
            ("shell_timeout", f"{self.shell_timeout:g} s"),
            ("approval_timeout", f"{self.approval_timeout:g} s"),
            ("memory", _UNLIMITED if self.memory is None else written_size(self.memory)),
            ("cpus", _UNLIMITED if self.cpus is None else f"{self.cpus:g}"),
            ("pids", _UNLIMITED if self.pids is None else f"{self.pids:,}"),
            ("output", _UNLIMITED if self.output is None else written_size(self.output)),
        ):
            yield Rule(name, "", effect, self.origin_of(name))

    def origin_of(self, name: str) -> Origin:
        """Where a limit is written, by its name here."""
        return self.origins.get(name, BUILT_IN)


@dataclass(frozen=True)
class Policy:
    """What one agent may do.

    Attributes:
        profile: The risk profile it was built from.
        secrets: Names of secrets handed to its sandbox.
        delegation: Whether it may hand work to other agents.
        delegation_origin: Where that is written.
        delegates: The agents it may hand work to.
        independent: Those of them that work within their own limits and budget instead of this one's.
        memory: What it reaches of what Pinfold remembers.
        unconfined: Whether it may run on an engine that keeps it from nothing on this machine.
        enabled: Whether it may be started.
        ceiling: The policy of the agent that spawned this one; every answer is the stricter of the two.
    """

    alias: str
    profile: str
    level: Level
    paths: PathPolicy
    commands: CommandPolicy
    domains: DomainPolicy
    tools: ToolPolicy
    environment: EnvironmentPolicy
    allowances: Allowances = Allowances()
    secrets: tuple[str, ...] = ()
    delegation: Literal["forbidden", "allow"] = "forbidden"
    delegation_origin: Origin = BUILT_IN
    delegates: tuple[str, ...] = ()
    independent: tuple[str, ...] = ()
    memory: MemoryPolicy = field(default_factory=MemoryPolicy)
    unconfined: bool = False
    enabled: bool = True
    ceiling: Policy | None = None

    def read(self, path: str) -> Decision:
        """May it read this path?"""
        own = self.paths.decide("read", path)
        return own if self.ceiling is None else stricter(own, self.ceiling.read(path), self.ceiling.alias)

    def write(self, path: str) -> Decision:
        """May it write this path?"""
        own = self.paths.decide_write(path, self.level)
        return own if self.ceiling is None else stricter(own, self.ceiling.write(path), self.ceiling.alias)

    def command(self, line: str) -> Decision:
        """May it run this shell line?"""
        own = self.commands.decide(line)
        return own if self.ceiling is None else stricter(own, self.ceiling.command(line), self.ceiling.alias)

    def domain(self, target: str) -> Decision:
        """May it reach this host or URL?"""
        own = self.domains.decide(target)
        return own if self.ceiling is None else stricter(own, self.ceiling.domain(target), self.ceiling.alias)

    def tool(self, name: str) -> Decision:
        """May it call this tool?"""
        own = self.tools.decide(name)
        return own if self.ceiling is None else stricter(own, self.ceiling.tool(name), self.ceiling.alias)

    def variable(self, name: str) -> Decision:
        """May it take this variable of Pinfold's own environment along?"""
        own = self.environment.decide(name)
        return own if self.ceiling is None else stricter(own, self.ceiling.variable(name), self.ceiling.alias)

    def rules(self) -> Iterator[Rule]:
        """Every rule that holds, group by group."""
        yield Rule("level", self.level, "how far it goes without asking", self.tools.level_origin)
        for path in self.paths.rules:
            yield path.as_rule()
        effect = "only what is granted" if self.paths.workspace_only else "everything not forbidden"
        yield Rule("elsewhere", "", effect, self.paths.elsewhere)
        for command in self.commands.allowed:
            yield command.as_rule()
        yield Rule("network", self.domains.network, _NETWORKS[self.domains.network], self.domains.chosen)
        for domain in self.domains.allowed:
            yield domain.as_rule()
        yield from self.tools.rules()
        for variable in self.environment.passthrough:
            yield Rule("env_passthrough", variable.entry, "taken along", variable.origin)
        yield from self.memory.rules(self.level)

    def limits(self) -> Iterator[Rule]:
        """What it may use up and pass on, limit by limit."""
        yield from self.allowances.rules()
        yield Rule("delegation", "", self.delegation, self.delegation_origin)

    def under(self, parent: Policy) -> Policy:
        """This policy as it holds for a run spawned by `parent`."""
        return replace(self, ceiling=parent)


def stricter(own: Decision, ceiling: Decision, parent: str) -> Decision:
    """The stricter of an agent's own answer and its spawner's; the own one when they agree."""
    if ceiling.verdict.strictness <= own.verdict.strictness:
        return own
    return replace(
        ceiling,
        reason=f"{parent}, which spawned it, may not: {ceiling.reason}",
        considered=(own.rule, *ceiling.considered),
    )


Number = TypeVar("Number", int, float)


def least(one: Number | None, other: Number | None) -> Number | None:
    """The smaller of two limits; None is unlimited."""
    return min((limit for limit in (one, other) if limit is not None), default=None)
