"""Rules that cannot do what they seem to say: never matching, dead behind another, or opening more than they look."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from services.policy.decision import Origin
from services.policy.domains import host_of
from services.policy.paths import PathRule
from services.policy.places import covers
from services.policy.policy import Policy
from services.policy.tools import Listed

_PATTERN = re.compile(r"[*?\[\]{}]")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a policy an operator should know; never an error.

    Attributes:
        message: What is odd about the rule, for people.
        origin: Where the rule is written.
    """

    message: str
    origin: Origin


def findings(policy: Policy) -> tuple[Finding, ...]:
    """List what is odd about a policy, in the order its rules are written."""
    found = [finding for look in _LOOKS for finding in look(policy)]
    return tuple(sorted(found, key=lambda finding: (str(finding.origin.file or ""), finding.origin.line)))


def _commands(policy: Policy) -> Iterator[Finding]:
    entries = policy.commands.allowed
    star = next((entry for entry in entries if entry.entry == "*"), None)
    if star is not None and not policy.commands.block_high_risk_commands:
        yield Finding("`*` with block_high_risk_commands off lets every command run unchecked", star.origin)
    if policy.level == "readonly" and entries:
        yield Finding("no command runs at level readonly, whatever is listed", entries[0].origin)
    for entry in entries:
        if entry.entry != "*" and _PATTERN.search(entry.entry):
            yield Finding(f"{entry.entry} never matches: only `*` alone is a pattern", entry.origin)
        elif not entry.is_path and re.search(r"\s", entry.entry):
            program = entry.entry.split()[0] if entry.entry.split() else ""
            yield Finding(f"{entry.entry!r} never matches: list the program alone, {program!r}", entry.origin)
        elif not entry.entry:
            yield Finding("an empty entry never matches", entry.origin)
    yield from _doubled((entry.entry.lower() if not entry.is_path else entry.entry, entry.origin) for entry in entries)


def _domains(policy: Policy) -> Iterator[Finding]:
    entries = policy.domains.allowed
    if entries and policy.domains.network != "allowlist":
        yield Finding(f"allowed_domains has no effect while network is {policy.domains.network}", entries[0].origin)
    stars = [entry for entry in entries if entry.entry == "*"]
    for entry in entries:
        name = entry.host.removeprefix("*.")
        if entry.entry == "*":
            continue
        if "/" in name or "://" in name:
            yield Finding(f"{entry.entry} never matches: list the host alone", entry.origin)
        elif "*" in name and entry.host != "*":
            yield Finding(f"{entry.entry} never matches: `*` stands only alone or as the first label", entry.origin)
        elif entry.host != "*" and host_of(name)[0] != name:
            yield Finding(f"{entry.entry} never matches: {_why_no_host(name)}", entry.origin)
        elif not entry.opens_some_port:
            yield Finding(f"{entry.entry} never matches: ports go from 1 to 65535", entry.origin)
        elif any(other.admits(entry) for other in stars):
            yield Finding(f"{entry.entry} adds nothing to `*`", entry.origin)
    yield from _doubled((entry.entry.lower(), entry.origin) for entry in entries)


def _why_no_host(name: str) -> str:
    host, problem = host_of(name)
    return problem or f"the host is spelled {host}"


def _tools(policy: Policy) -> Iterator[Finding]:
    tools = policy.tools
    for entry in (*tools.allowed, *tools.auto_approve, *tools.always_ask):
        if _covered(tools.excluded, entry):
            yield Finding(f"{entry.entry} has no effect: excluded_tools names it too", entry.origin)
        elif entry.entry != "*" and _PATTERN.search(entry.entry):
            yield Finding(f"{entry.entry} never matches: only `*` alone is a pattern", entry.origin)
    for entry in tools.auto_approve:
        if _covered(tools.always_ask, entry):
            yield Finding(f"{entry.entry} is asked about all the same: always_ask names it too", entry.origin)
        elif tools.allowed and entry.entry != "*" and not _covered(tools.allowed, entry) and "__" not in entry.entry:
            yield Finding(f"{entry.entry} has no effect: allowed_tools does not name it", entry.origin)
    for entries in (tools.allowed, tools.excluded, tools.auto_approve, tools.always_ask):
        yield from _doubled((entry.entry, entry.origin) for entry in entries)


def _paths(policy: Policy) -> Iterator[Finding]:
    paths = policy.paths
    for rule in paths.unresolved:
        yield Finding(f"{rule.place} cannot be followed, so the rule covers nothing", rule.origin)
    placed = [(paths.follow(rule.place).path, rule) for rule in paths.rules if rule not in paths.unresolved]
    for place, rule in placed:
        rivals = [other for at, other in placed if at == place and other is not rule]
        stricter = next((other for other in rivals if _grants(other) < _grants(rule)), None)
        if stricter is not None and rule.kind == "workspace":
            yield Finding(
                f"{stricter.place} is the workspace itself, which is then closed to the agent", stricter.origin
            )
        elif stricter is not None:
            yield Finding(f"{rule.place} has no effect: {stricter.kind} {stricter.place} is stricter", rule.origin)
        elif rule.kind == "allowed root":
            yield from _redundant(place, rule, placed)


def _redundant(place: str, rule: PathRule, placed: list[tuple[str, PathRule]]) -> Iterator[Finding]:
    around = [(at, other) for at, other in placed if other is not rule and at != place and covers(at, place)]
    nearest = max(around, key=lambda pair: len(pair[0]), default=None)
    if nearest is not None and _grants(nearest[1]) == _grants(rule):
        yield Finding(f"{rule.place} adds nothing: {nearest[1].kind} {nearest[1].place} covers it", rule.origin)


def _grants(rule: PathRule) -> int:
    return rule.readable + rule.writable


def _covered(entries: tuple[Listed, ...], entry: Listed) -> bool:
    return any(held.covers(entry.entry) for held in entries)


def _doubled(entries: Iterable[tuple[str, Origin]]) -> Iterator[Finding]:
    listed = list(entries)
    counts = Counter(name for name, _ in listed)
    seen: set[str] = set()
    for name, origin in listed:
        if counts[name] > 1 and name in seen:
            yield Finding(f"{name} is listed twice", origin)
        seen.add(name)


_LOOKS = (_commands, _domains, _tools, _paths)
