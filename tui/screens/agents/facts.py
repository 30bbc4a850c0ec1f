"""A policy and what a sandbox would get of it, as rows people read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.policy import Held, held
from tui.figures import from_home, middle, size
from tui.glyphs import glyphs
from tui.looks import Tone
from tui.text import safe
from tui.widgets.table import Cell, Column, cell

if TYPE_CHECKING:
    from services.policy import Confinement, Origin, Policy, Rule

_SECTIONS = {
    "level": "level",
    "allowed command": "commands",
    "network": "network",
    "allowed domain": "network",
    "allowed_tools": "tools",
    "allowed tool": "tools",
    "excluded tool": "tools",
    "auto_approve": "tools",
    "always_ask": "tools",
    "env_passthrough": "variables",
    "agent memory": "memory",
    "scope": "memory",
}
"""By the kind of a rule; every other kind is about files."""

_NAMELESS = {"allowed command", "allowed domain", "allowed tool", "env_passthrough", "level", "network"}
"""Kinds of rules whose section says already what they are."""

_UNNAMED = {"allowed_tools": "tools not named"}
"""What a rule is about that names no subject."""

_LEVELS = {"readonly": "only reads", "supervised": "asks first", "full": "asks nothing"}
"""What each level means, short."""

_LIMITS = {
    "max_actions_per_hour": "actions an hour",
    "max_cost_per_day": "models a day",
    "shell_timeout": "a shell command",
    "approval_timeout": "an approval",
    "delegation": "delegation",
}
"""By the kind of a rule; every other limit is the sandbox's."""

_NOT_HELD = {
    Held.SERVED_TOOLS: ("enforced", "for Pinfold's tools"),
    Held.NOT_YET: ("not yet enforced", "the runner's own"),
}
"""The remark on what is not enforced everywhere."""

_TONES: dict[str, Tone] = {"forbidden": "bad", "never": "bad", "nothing is reached": "bad", "every host": "warn"}
_LONGEST = 2000


@dataclass(frozen=True)
class Fact:
    """One row, in clean text.

    Attributes:
        key: Unique among the facts shown.
        what: What it is about.
        effect: What holds for that.
        origin: Where it is written; of a mount, what is mounted.
        first: The first of its section.
    """

    key: str
    section: str
    what: str
    effect: str
    origin: str
    tone: Tone = ""
    what_tone: Tone = ""
    first: bool = False


def facts_of(policy: Policy, confinement: Confinement | None) -> tuple[Fact, ...]:
    """List every rule of a policy, then what a sandbox would get; blocks for some milliseconds."""
    found = [_of_rule(rule) for rule in policy.rules() if _SECTIONS.get(rule.kind)]
    found += _files(policy)
    found += _limits(policy)
    found += _not_yet(policy)
    if confinement is not None:
        found += _of_sandbox(confinement, policy)
    order = ("level", "files", "commands", "tools", "memory", "network", "variables", "limits", "sandbox")
    found.sort(key=lambda fact: order.index(fact.section))
    numbered = [replace(fact, key=str(number)) for number, fact in enumerate(found)]
    return tuple(
        replace(fact, first=number == 0 or numbered[number - 1].section != fact.section)
        for number, fact in enumerate(numbered)
    )


def _not_yet(policy: Policy) -> Iterator[Fact]:
    """A remark at the end of each section that is not enforced everywhere."""
    found: dict[str, Held] = {}
    for section, rule in (
        *((_SECTIONS.get(rule.kind), rule) for rule in policy.rules()),
        *(("limits", rule) for rule in policy.limits() if rule.kind in _LIMITS),
    ):
        holding = held(rule)
        if section and holding is not Held.EVERYWHERE and found.get(section) is not Held.NOT_YET:
            found[section] = holding
    for section, holding in found.items():
        what, effect = _NOT_HELD[holding]
        yield Fact("", section, what, effect, "", "muted", what_tone="muted")


def _of_rule(rule: Rule) -> Fact:
    subject = safe(rule.subject[:_LONGEST])
    what = (
        _UNNAMED.get(rule.kind, "") if not subject else subject if rule.kind in _NAMELESS else f"{rule.kind} {subject}"
    )
    effect = _LEVELS[rule.subject] if rule.kind == "level" else safe(rule.effect)
    return Fact("", _SECTIONS[rule.kind], what, effect, place_of(rule.origin), _TONES.get(rule.effect, ""))


def _files(policy: Policy) -> Iterator[Fact]:
    own = next((rule.place for rule in policy.paths.rules if rule.kind == "Pinfold's own files"), None)
    for rule in policy.paths.rules:
        named = rule.name or (rule.kind if rule.place == own else from_home(rule.place))
        what = safe(named[:_LONGEST])
        yield Fact("", "files", what, rule.effect, place_of(rule.origin), _TONES.get(rule.effect, ""))
    elsewhere = "forbidden" if policy.paths.workspace_only else "read and write"
    tone: Tone = "muted" if policy.paths.workspace_only else "warn"
    yield Fact("", "files", "everything else", elsewhere, place_of(policy.paths.elsewhere), tone)


def place_of(origin: Origin) -> str:
    """The file and line of a rule; the profile's name would only repeat."""
    if origin.file is None:
        return "built in"
    line = origin.line
    return f"{origin.file.name}:{line}" if line else origin.file.name


def _limits(policy: Policy) -> Iterator[Fact]:
    for rule in policy.limits():
        if rule.kind in _LIMITS:
            yield Fact("", "limits", _LIMITS[rule.kind], safe(rule.effect), safe(str(rule.origin)))


def _of_sandbox(confinement: Confinement, policy: Policy) -> Iterator[Fact]:
    warning = glyphs().warning
    for refusal in (confinement.workspace_problem, *confinement.refusals):
        if refusal:
            yield Fact("", "sandbox", f"{warning} {safe(refusal)}", "cannot be made", "", "bad")
    for mount in confinement.mounts:
        effect = "read and write" if mount.writable else "read only"
        yield Fact("", "sandbox", safe(from_home(mount.target)), effect, safe(from_home(mount.source)))
    for mask in confinement.masks:
        yield Fact("", "sandbox", safe(mask.target), "hidden: empty inside", "", "bad")
    yield Fact("", "sandbox", "network", confinement.network, place_of(policy.domains.chosen))
    limits = confinement.limits
    for what, key, value in (
        ("memory", "memory", size(limits.memory) if limits.memory is not None else "unlimited"),
        ("cores", "cpus", f"{limits.cpus:g}" if limits.cpus is not None else "unlimited"),
        ("processes", "pids", f"{limits.pids:,}" if limits.pids is not None else "unlimited"),
    ):
        yield Fact("", "sandbox", what, value, safe(str(policy.allowances.origin_of(key))))
    for kind, names in (
        ("variables taken along", confinement.passthrough),
        ("variables set", confinement.environment),
        ("secrets", policy.secrets),
    ):
        if names:
            yield Fact("", "sandbox", kind, safe("  ".join(names)[:_LONGEST]), "")


def fact_columns() -> list[Column[Fact]]:
    """The columns from left to right."""
    return [
        Column("section", "", lambda fact, _: cell(fact.section if fact.first else "", "muted"), None, 9),
        Column("what", "WHAT", lambda fact, width: _middle(fact.what, width, fact.what_tone), None, 18, grow=5),
        Column("effect", "HOLDS", lambda fact, _: cell(fact.effect, fact.tone), None, 18, grow=2),
        Column("origin", "FROM", lambda fact, width: _from(fact.origin, width), None, 15, grow=2, drop=1),
    ]


def _from(origin: str, width: int) -> Cell:
    """Where a fact is written; without the name of the profile where that does not fit."""
    place = origin.partition(" (profile ")[0]
    return _middle(origin if len(origin) <= width else place, width, "muted")


def _middle(text: str, width: int, tone: Tone = "") -> Cell:
    return cell(middle(text, width, glyphs().ellipsis), tone)
