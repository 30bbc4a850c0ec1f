"""What a change of policy means, in words, and whether it lets the agent do more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from services.agents import written_size
from services.policy.paths import PathPolicy
from services.policy.places import covers
from services.policy.policy import Policy

_LEVELS = ("readonly", "supervised", "full")
_TOOLS = {
    "none": "calls none of Pinfold's tools",
    "socket": "calls Pinfold's tools over a socket",
    "http": "calls Pinfold's tools over a socket and HTTP",
}
"""Each more than the one before."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two policies.

    Attributes:
        text: What the agent may do now, or no longer: "may now write ../researcher".
        widens: It permits more than before; such changes are confirmed.
    """

    text: str
    widens: bool


def changes(before: Policy, after: Policy) -> tuple[Change, ...]:
    """Say everything that `after` permits and `before` did not, and the other way round; what widens comes first."""
    found = [change for compare in _COMPARISONS for change in compare(before, after)]
    return tuple(sorted(found, key=lambda change: not change.widens))


def _level(before: Policy, after: Policy) -> Iterator[Change]:
    if before.level != after.level:
        wider = _LEVELS.index(after.level) > _LEVELS.index(before.level)
        yield Change(f"works at level {after.level}, was {before.level}", wider)
    if before.profile != after.profile:
        yield Change(f"follows the risk profile {after.profile}, was {before.profile}", widens=False)


def _paths(before: Policy, after: Policy) -> Iterator[Change]:
    """Access changes only at places a rule speaks of, so the places of both policies show every difference."""
    if before.paths.workspace_only != after.paths.workspace_only:
        everything = "everything nothing forbids" if not after.paths.workspace_only else "only what is granted"
        yield Change(f"reaches {everything}", widens=not after.paths.workspace_only)
    for place in sorted({*before.paths.places, *after.paths.places}):
        yield from _at_place(place, before.paths, after.paths)


def _at_place(place: str, before: PathPolicy, after: PathPolicy) -> Iterator[Change]:
    was, now = _access(before, place), _access(after, place)
    name = _shown(place, after, before)
    for position, verb in enumerate(("read", "write")):
        if now[position] and not was[position]:
            yield Change(f"may now {verb} {name}", widens=True)
        elif was[position] and not now[position]:
            yield Change(f"may no longer {verb} {name}", widens=False)


def _access(paths: PathPolicy, place: str) -> tuple[bool, bool]:
    rule = paths.rule_at(place)
    return (not paths.workspace_only,) * 2 if rule is None else (rule.readable, rule.writable)


def _shown(place: str, paths: PathPolicy, before: PathPolicy) -> str:
    """A place by the name its rule has or had, else as seen from the workspace when it lies there, else from home."""
    for rule in (paths.rule_at(place), before.rule_at(place)):
        if rule is not None and rule.name:
            return rule.name
    start, home = paths.start, str(paths.home)
    if place == start:
        return "its workspace"
    if covers(start, place):
        return place[len(start) + 1 :]
    return f"~{place[len(home) :]}" if place.startswith(f"{home}/") else place


def _commands(before: Policy, after: Policy) -> Iterator[Change]:
    old, new = _names(before.commands.allowed), _names(after.commands.allowed)
    yield from _lists("run {}", old, new)
    if "*" in old and before.commands.block_high_risk_commands:
        for entry in _only(new, old):
            yield Change(f"may now run {entry} also where it is high risk", widens=True)
    if "*" in old and "*" in new and after.commands.block_high_risk_commands:
        for entry in _only(old, new):
            yield Change(f"may no longer run {entry} where it is high risk", widens=False)
    if before.commands.block_high_risk_commands != after.commands.block_high_risk_commands:
        off = not after.commands.block_high_risk_commands
        yield Change("high-risk commands are " + ("no longer blocked" if off else "now blocked"), widens=off)
    if before.commands.require_approval_for_medium_risk != after.commands.require_approval_for_medium_risk:
        off = not after.commands.require_approval_for_medium_risk
        yield Change("medium-risk commands are " + ("no longer asked about" if off else "now asked about"), widens=off)


def _tools(before: Policy, after: Policy) -> Iterator[Change]:
    was, now = _names(before.tools.allowed), _names(after.tools.allowed)
    if was and not now:
        yield Change("may now use every tool not excluded", widens=True)
    elif now and not was:
        yield Change(f"may use only the tools {', '.join(now)}", widens=False)
    else:
        yield from _lists("use the tool {}", was, now)
    for entry in _only(_names(before.tools.excluded), _names(after.tools.excluded)):
        yield Change(f"is no longer kept from the tool {entry}", widens=True)
    for entry in _only(_names(after.tools.excluded), _names(before.tools.excluded)):
        yield Change(f"is now kept from the tool {entry}", widens=False)
    yield from _lists("use {} without asking", _names(before.tools.auto_approve), _names(after.tools.auto_approve))
    for entry in _only(_names(before.tools.always_ask), _names(after.tools.always_ask)):
        yield Change(f"is no longer always asked about {entry}", widens=True)
    for entry in _only(_names(after.tools.always_ask), _names(before.tools.always_ask)):
        yield Change(f"is now always asked about {entry}", widens=False)


def _network(before: Policy, after: Policy) -> Iterator[Change]:
    was, now = before.domains.network, after.domains.network
    reach = {"none": "reaches no network", "allowlist": "reaches only listed hosts", "open": "reaches every host"}
    order = tuple(reach)
    if was != now:
        yield Change(f"{reach[now]}, {reach[was]} before", widens=order.index(now) > order.index(was))
    if now == "allowlist":
        old = {"none": [], "open": ["*"], "allowlist": [entry.entry for entry in before.domains.allowed]}[was]
        yield from _lists("reach {}", old, [entry.entry for entry in after.domains.allowed])


def _environment(before: Policy, after: Policy) -> Iterator[Change]:
    yield from _lists(
        "see the variable {}", _names(before.environment.passthrough), _names(after.environment.passthrough)
    )
    yield from _lists("have the secret {}", before.secrets, after.secrets)
    was, now = before.environment.given, after.environment.given
    yield from _lists("see the variable {} as its file sets it", was, now)
    for name in sorted(was.keys() & now.keys()):
        if was[name] != now[name]:
            yield Change(f"sees another value of the variable {name}", widens=True)


def _memory(before: Policy, after: Policy) -> Iterator[Change]:
    was, now = before.memory, after.memory
    order = tuple(_TOOLS)
    if was.tools != now.tools:
        wider = order.index(now.tools) > order.index(was.tools)
        yield Change(f"{_TOOLS[now.tools]}, {_TOOLS[was.tools]} before", wider)
    yield from _lists("read the memory of {}", _names(was.memories), _names(now.memories))
    yield from _lists("read and change the keys of {}", _names(was.scopes), _names(now.scopes))
    if was.told != now.told:
        yield Change(f"is {'now' if now.told else 'no longer'} told what was learned from its runs", now.told)
    if was.live_update != now.live_update:
        word = "may now" if now.live_update else "may no longer"
        yield Change(f"{word} change what was learned while it runs", now.live_update)


def _allowances(before: Policy, after: Policy) -> Iterator[Change]:
    was, now = before.allowances, after.allowances
    for text, old, new in (
        ("{} actions an hour", was.max_actions_per_hour, now.max_actions_per_hour),
        ("{} cents a day", was.max_cost_per_day, now.max_cost_per_day),
        ("{} seconds for a shell command", was.shell_timeout, now.shell_timeout),
        ("{} seconds for an approval", was.approval_timeout, now.approval_timeout),
        ("{} processor cores", was.cpus, now.cpus),
        ("{} processes", was.pids, now.pids),
    ):
        if old != new:
            yield Change(f"has {text.format(_number(new))}, {_number(old)} before", _more(old, new))
    for what, had, has in (("memory", was.memory, now.memory), ("output kept", was.output, now.output)):
        if had != has:
            shown = f"unlimited {what}" if has is None else f"{written_size(has)} of {what}"
            once = "unlimited" if had is None else written_size(had)
            yield Change(f"has {shown}, {once} before", _more(had, has))


def _others(before: Policy, after: Policy) -> Iterator[Change]:
    """What it may do with other agents, and to the machine it runs on."""
    if before.delegation != after.delegation:
        allowed = after.delegation == "allow"
        yield Change("may now delegate" if allowed else "may no longer delegate", widens=allowed)
    yield from _lists("hand work to {}", before.delegates, after.delegates)
    yield from _lists("hand {} work outside its own limits", before.independent, after.independent)
    if before.enabled != after.enabled:
        yield Change("may now be started" if after.enabled else "may no longer be started", after.enabled)
    if before.unconfined != after.unconfined:
        word = "may now" if after.unconfined else "may no longer"
        yield Change(f"{word} run without a sandbox", widens=after.unconfined)


def _number(number: float | None) -> str:
    return "unlimited" if number is None else f"{number:,.15g}"


def _more(old: float | None, new: float | None) -> bool:
    return old is not None and (new is None or new > old)


def _lists(what: str, before: Iterable[str], after: Iterable[str]) -> Iterator[Change]:
    old, new = list(before), list(after)
    if "*" in new:
        if "*" not in old:
            yield Change(f"may now {what.format('*')}", widens=True)
        return
    if "*" in old:
        rest = f", only {', '.join(new)}" if new else ""
        yield Change(f"may no longer {what.format('*')}{rest}", widens=False)
        return
    for entry in _only(new, old):
        yield Change(f"may now {what.format(entry)}", widens=True)
    for entry in _only(old, new):
        yield Change(f"may no longer {what.format(entry)}", widens=False)


def _only(these: Iterable[str], those: Iterable[str]) -> list[str]:
    others = set(those)
    return [entry for entry in dict.fromkeys(these) if entry not in others]


def _names(entries: Iterable[object]) -> list[str]:
    return [str(getattr(entry, "entry", "")) for entry in entries]


_COMPARISONS = (_level, _paths, _commands, _tools, _network, _environment, _memory, _allowances, _others)
