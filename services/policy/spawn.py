"""May one agent spawn another? A child never gets more than its parent, on any axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from services.policy.commands import Risk, risk_of
from services.policy.paths import PathRule
from services.policy.policy import Policy
from services.policy.tools import Listed

_LEVELS = ("readonly", "supervised", "full")
_NETWORKS = ("none", "allowlist", "open")
_TOOLS = ("none", "socket", "http")


class Axis(StrEnum):
    """What is compared; the value is the reason's name. The first thirteen are ZeroClaw's, in its order."""

    AUTONOMY = "AutonomyAboveParent"
    READ_WRITE_ROOT = "ReadWriteRootNotInParent"
    READ_ONLY_ROOT = "ReadOnlyRootNotInParent"
    WRITE_ONLY_ROOT = "WriteOnlyRootNotInParent"
    COMMAND = "CommandNotInParent"
    WORKSPACE_ONLY = "WorkspaceOnlyDisabledByChild"
    FORBIDDEN_PATH = "ForbiddenPathDroppedByChild"
    ENVIRONMENT = "EnvPassthroughExpanded"
    ACTIONS = "MaxActionsExceeded"
    COST = "MaxCostExceeded"
    SHELL_TIMEOUT = "ShellTimeoutExceeded"
    HIGH_RISK = "BlockHighRiskCommandsDisabledByChild"
    MEDIUM_RISK = "RequireApprovalDisabledByChild"
    ALLOWED_TOOLS = "ToolNotInParent"
    EXCLUDED_TOOLS = "ExcludedToolDroppedByChild"
    AUTO_APPROVE = "AutoApproveExpanded"
    ALWAYS_ASK = "AlwaysAskDroppedByChild"
    DELEGATION = "DelegationAboveParent"
    NETWORK = "NetworkAboveParent"
    DOMAINS = "DomainNotInParent"
    LIMITS = "SandboxLimitExceeded"
    SECRETS = "SecretNotInParent"
    UNCONFINED = "UnconfinedAboveParent"
    SERVED_TOOLS = "ServedToolsAboveParent"
    MEMORIES = "MemoryNotInParent"
    SCOPES = "ScopeNotInParent"


@dataclass(frozen=True)
class Violation:
    """One way in which a child would get more than its parent.

    Attributes:
        child, parent: What each has, for people.
    """

    axis: Axis
    subject: str
    child: str
    parent: str

    def __str__(self) -> str:
        subject = f" {self.subject}" if self.subject else ""
        return f"{self.axis}{subject}: child has {self.child}, parent has {self.parent}"


def violations(parent: Policy, child: Policy) -> tuple[Violation, ...]:
    """All ways in which `child` exceeds `parent`, in the order of `Axis`; empty: it may be spawned."""
    found = [violation for check in _CHECKS for violation in check(parent, child)]
    order = list(Axis)
    return tuple(sorted(found, key=lambda violation: order.index(violation.axis)))


Check = Callable[[Policy, Policy], Iterator[Violation]]


def _autonomy(parent: Policy, child: Policy) -> Iterator[Violation]:
    if _LEVELS.index(child.level) > _LEVELS.index(parent.level):
        yield Violation(Axis.AUTONOMY, "", child.level, parent.level)


def _paths(parent: Policy, child: Policy) -> Iterator[Violation]:
    """Compare access at every place either policy speaks of.

    Access changes only at such places, so what holds at each of them holds everywhere.
    """
    if parent.paths.workspace_only and not child.paths.workspace_only:
        yield Violation(Axis.WORKSPACE_ONLY, "", "off", "on")
    for place in sorted({*parent.paths.places, *child.paths.places}):
        mine, theirs = child.paths.rule_at(place), parent.paths.rule_at(place)
        if mine is None and not child.paths.workspace_only and theirs is not None and theirs.effect != "read and write":
            yield Violation(Axis.FORBIDDEN_PATH, place, "nothing", theirs.effect)
        elif mine is not None:
            yield from _compared(place, mine, theirs, parent.paths.workspace_only)


def _compared(place: str, mine: PathRule, theirs: PathRule | None, workspace_only: bool) -> Iterator[Violation]:
    readable = theirs.readable if theirs is not None else not workspace_only
    writable = theirs.writable if theirs is not None else not workspace_only
    if (readable or not mine.readable) and (writable or not mine.writable):
        return
    has = theirs.effect if theirs is not None else "no access"
    if theirs is not None and not readable and not writable and mine.place != place:
        yield Violation(Axis.FORBIDDEN_PATH, place, mine.effect, has)
    elif mine.readable and mine.writable:
        yield Violation(Axis.READ_WRITE_ROOT, place, mine.effect, has)
    elif mine.readable:
        yield Violation(Axis.READ_ONLY_ROOT, place, mine.effect, has)
    else:
        yield Violation(Axis.WRITE_ONLY_ROOT, place, mine.effect, has)


def _commands(parent: Policy, child: Policy) -> Iterator[Violation]:
    entries = parent.commands.allowed
    if not any(entry.entry == "*" for entry in entries):
        exact = {entry.entry for entry in entries if entry.is_path}
        bare = {entry.entry.lower() for entry in entries if not entry.is_path}
        for entry in child.commands.allowed:
            if entry.entry not in exact and (entry.is_path or entry.entry.lower() not in bare):
                yield Violation(Axis.COMMAND, entry.entry, "it", "no such entry")
    elif parent.commands.block_high_risk_commands:  # `*` admits every entry, but lets nothing run that is high risk
        own = {entry.entry for entry in entries}
        for entry in child.commands.allowed:
            if entry.entry not in own and risk_of(entry.entry.rsplit("/", 1)[-1].lower(), []) is Risk.HIGH:
                yield Violation(Axis.HIGH_RISK, entry.entry, "an entry of its own", "only `*`")
    if parent.commands.block_high_risk_commands and not child.commands.block_high_risk_commands:
        yield Violation(Axis.HIGH_RISK, "", "off", "on")
    if parent.commands.require_approval_for_medium_risk and not child.commands.require_approval_for_medium_risk:
        yield Violation(Axis.MEDIUM_RISK, "", "off", "on")


def _names(axis: Axis, parent: tuple[Listed, ...], child: tuple[Listed, ...]) -> Iterator[Violation]:
    """Each name of the child must be one of the parent's."""
    for entry in child:
        if not any(held.entry in ("*", entry.entry) for held in parent):
            yield Violation(axis, entry.entry, "it", "no such entry")


def _tools(parent: Policy, child: Policy) -> Iterator[Violation]:
    if parent.tools.allowed and not child.tools.allowed:
        yield Violation(Axis.ALLOWED_TOOLS, "", "every tool", f"{len(parent.tools.allowed)} tools")
    elif parent.tools.allowed:
        yield from _names(Axis.ALLOWED_TOOLS, parent.tools.allowed, child.tools.allowed)
    for violation in _names(Axis.EXCLUDED_TOOLS, child.tools.excluded, parent.tools.excluded):
        yield Violation(Axis.EXCLUDED_TOOLS, violation.subject, "no such entry", "it excluded")
    yield from _names(Axis.AUTO_APPROVE, parent.tools.auto_approve, child.tools.auto_approve)
    for violation in _names(Axis.ALWAYS_ASK, child.tools.always_ask, parent.tools.always_ask):
        yield Violation(Axis.ALWAYS_ASK, violation.subject, "no such entry", "it asked about")


def _environment(parent: Policy, child: Policy) -> Iterator[Violation]:
    yield from _names(Axis.ENVIRONMENT, parent.environment.passthrough, child.environment.passthrough)
    for secret in child.secrets:
        if secret not in parent.secrets:
            yield Violation(Axis.SECRETS, secret, "it", "no such secret")


def _allowances(parent: Policy, child: Policy) -> Iterator[Violation]:
    mine, theirs = child.allowances, parent.allowances
    for axis, name, child_value, parent_value in (
        (Axis.ACTIONS, "", mine.max_actions_per_hour, theirs.max_actions_per_hour),
        (Axis.COST, "", mine.max_cost_per_day, theirs.max_cost_per_day),
        (Axis.SHELL_TIMEOUT, "", mine.shell_timeout, theirs.shell_timeout),
        (Axis.LIMITS, "memory", mine.memory, theirs.memory),
        (Axis.LIMITS, "cpus", mine.cpus, theirs.cpus),
        (Axis.LIMITS, "pids", mine.pids, theirs.pids),
        (Axis.LIMITS, "output", mine.output, theirs.output),
    ):
        if parent_value is not None and (child_value is None or child_value > parent_value):
            has = "no limit" if child_value is None else f"{child_value:g}"
            yield Violation(axis, name, has, f"{parent_value:g}")


def _delegation(parent: Policy, child: Policy) -> Iterator[Violation]:
    if parent.delegation == "forbidden" and child.delegation == "allow":
        yield Violation(Axis.DELEGATION, "", "allow", "forbidden")


def _confinement(parent: Policy, child: Policy) -> Iterator[Violation]:
    if child.unconfined and not parent.unconfined:
        yield Violation(Axis.UNCONFINED, "", "no sandbox needed", "always one")


def _memory(parent: Policy, child: Policy) -> Iterator[Violation]:
    mine, theirs = child.memory, parent.memory
    if _TOOLS.index(mine.tools) > _TOOLS.index(theirs.tools):
        yield Violation(Axis.SERVED_TOOLS, "", mine.tools, theirs.tools)
    yield from _names(Axis.MEMORIES, (*theirs.memories, Listed(parent.alias)), mine.memories)
    yield from _names(Axis.SCOPES, theirs.scopes, mine.scopes)


def _network(parent: Policy, child: Policy) -> Iterator[Violation]:
    mine, theirs = child.domains, parent.domains
    if _NETWORKS.index(mine.network) > _NETWORKS.index(theirs.network):
        yield Violation(Axis.NETWORK, "", mine.network, theirs.network)
    elif mine.network == "allowlist" == theirs.network:
        for entry in mine.allowed:
            if not any(held.admits(entry) for held in theirs.allowed):
                yield Violation(Axis.DOMAINS, entry.entry, "it", "no entry that covers it")


_CHECKS: tuple[Check, ...] = (
    _autonomy, _paths, _commands, _environment, _allowances, _tools, _delegation, _network,
    _confinement, _memory,
)  # fmt: skip
