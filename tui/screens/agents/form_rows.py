"""From an agent as it would be to the rows of its form: each value in force, where it is written, what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.agents import PRESETS, Agent, AgentConfig, RiskProfile, dotted, line_finder
from tui.figures import from_home, size
from tui.glyphs import glyphs
from tui.screens.agents.fields import ACCESS, ACCESS_LABELS, ACCESSES, FIELDS, FIXED, PROFILE, SECTIONS, Field, Path
from tui.text import safe
from tui.widgets.form import FormRow, Note

if TYPE_CHECKING:
    from services.agents import Problem
    from services.policy import Finding

LONGEST = 400
"""Characters of one entry that are shown."""

_INDEX = re.compile(r"\[(\d+)\].*$")
_NOT_SAVED = "not saved"

Lines = Callable[[tuple[str | int, ...]], int]


@dataclass(frozen=True)
class Subject:
    """What a form is about.

    Attributes:
        agent: As it would be; has a configuration.
        data: The text it would be read from; empty when only the last good configuration is known.
        changed: The paths of changes not saved yet.
        siblings: The aliases of all other agents.
        shared_lines: Lines of `pinfold.toml`.
        shared_keys: Tells whether a key is written in `pinfold.toml`.
        findings: Rules that cannot do what they seem to say.
    """

    agent: Agent
    data: bytes
    changed: Collection[Path]
    siblings: Sequence[str]
    shared_lines: Lines
    shared_keys: Callable[[tuple[str | int, ...]], bool]
    findings: Sequence[Finding] = ()

    @property
    def config(self) -> AgentConfig:
        """The agent's configuration."""
        assert self.agent.config is not None
        return self.agent.config


def form_rows(subject: Subject) -> tuple[FormRow, ...]:
    """Make the rows; blocks for some milliseconds, since lines have to be found."""
    writer = _Writer(subject)
    return tuple(writer.rows())


def values_of(agent: Agent, field: Field) -> tuple[str, ...]:
    """The entries in force of a list, uncleaned; of another field its one value as it would be typed."""
    assert agent.config is not None
    value = own_value(agent.config, field.path)
    if value is None:
        value = _inherited(agent, field)[0]
    if value is None or value == "":
        return ()
    if isinstance(value, tuple | list):
        return tuple(str(entry) for entry in value)
    return (_typed(value),)


def own_value(config: AgentConfig, path: Path) -> object:
    """What the agent's own file says; None when it says nothing."""
    value: object = getattr(getattr(config, path[0]), path[1])
    if path in (("workspace", "path"), PROFILE):
        return value or None
    if path == ("workspace", "unrestricted_filesystem"):
        return True if value else None
    return value


def _inherited(agent: Agent, field: Field) -> tuple[object, str]:
    """What holds without the agent's own word, and whose it is."""
    section, key = field.path
    if section == "permissions":
        return (getattr(agent.profile, key) if agent.profile else None), "profile"
    if section == "sandbox" and agent.settings is not None:
        return getattr(agent.settings, key), agent.settings.origins[key]
    if field.path == ("workspace", "path"):
        return str(agent.workspace), "default"
    return (False if section == "workspace" else None), "default"


def _typed(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class _Writer:
    subject: Subject

    def rows(self) -> Iterator[FormRow]:
        notes = notes_by_field(self.subject.agent.problems, self.subject.findings, self.subject.config)
        lines = line_finder(self.subject.data)
        for heading, fields in SECTIONS:
            if heading:
                yield FormRow(f"#{heading}", heading, "heading")
            for one in fields:
                yield self._field(one, lines, notes)
        yield from self._siblings(lines, notes)
        if self.subject.agent.profile is not None:
            yield from self._fixed(self.subject.agent.profile)

    def _field(self, one: Field, lines: Lines, notes: Mapping[str, tuple[Note, ...]]) -> FormRow:
        key = dotted(one.path)
        own = own_value(self.subject.config, one.path) is not None
        changed = one.path in self.subject.changed
        origin, full = self._origin(one, own, lines)
        return FormRow(
            key=key,
            label=one.label,
            kind=one.kind,
            entries=self._entries(one, own=own),
            empty=one.empty,
            origin=_NOT_SAVED if changed else origin,
            own=own,
            inherits=one.path != PROFILE,
            changed=changed,
            notes=notes.get(key, ()),
            help=f"{one.help} {glyphs().dash} {full}",
        )

    def _entries(self, one: Field, *, own: bool) -> tuple[str, ...]:
        if one.path == ("sandbox", "memory") and not own:
            settings = self.subject.agent.settings
            return (size(settings.memory),) if settings and settings.memory is not None else ()
        return tuple(safe(from_home(value[:LONGEST])) for value in values_of(self.subject.agent, one))

    def _origin(self, one: Field, own: bool, lines: Lines) -> tuple[str, str]:
        """Where a field's value is written, short, and with the file and line."""
        key = dotted(one.path)
        if own:
            line = lines(one.path) if self.subject.data else 0
            place = f"agent.toml:{line}" if line else "agent.toml"
            return place, f"{place}, {key}"
        _, origin = _inherited(self.subject.agent, one)
        if origin == "profile":
            return self._origin_in_profile(one.path[1])
        if origin == "pinfold.toml":
            place = self._in_shared(("defaults", "sandbox", one.path[1]))
            return place, f"{place}, defaults.sandbox.{one.path[1]}"
        return "default", f"built in; agent.toml says {key}"

    def _origin_in_profile(self, key: str) -> tuple[str, str]:
        profile, name = self.subject.agent.profile, self.subject.config.agent.risk_profile
        table = ("risk_profiles", name)
        if profile is not None and self.subject.shared_keys((*table, key)):
            return "profile", f"{self._in_shared((*table, key))}, profile {safe(name)}"
        if profile is not None and key in PRESETS.get(profile.preset, ()):
            place = self._in_shared((*table, "preset"))
            return f"preset {profile.preset}", f"{place}, preset {profile.preset} of the profile {safe(name)}"
        own = ("permissions", key)
        settable = f"agent.toml says {dotted(own)}" if own in FIELDS else f"pinfold.toml says {dotted((*table, key))}"
        return "default", f"not set in the profile {safe(name)}; {safe(settable)}"

    def _in_shared(self, path: Path) -> str:
        line = self.subject.shared_lines(path)
        return f"pinfold.toml:{line}" if line else "pinfold.toml"

    def _siblings(self, lines: Lines, notes: Mapping[str, tuple[Note, ...]]) -> Iterator[FormRow]:
        access = self.subject.config.workspace.access
        aliases = sorted({*self.subject.siblings, *access, *(p[2] for p in self.subject.changed if p[:2] == ACCESS)})
        if not aliases:
            return
        yield FormRow("#siblings", "Siblings", "columns", ACCESS_LABELS)
        for alias in aliases:
            path = (*ACCESS, alias)
            changed, given = path in self.subject.changed, access.get(alias)
            line = lines(path) if given and self.subject.data else 0
            yield FormRow(
                key=dotted(path),
                label=f"  {safe(alias)}",
                kind="matrix",
                entries=ACCESS_LABELS,
                chosen=ACCESSES.index(given) if given else len(ACCESSES),
                origin=_NOT_SAVED if changed else (f"agent.toml:{line}" if line else ""),
                own=given is not None,
                changed=changed,
                notes=notes.get(dotted(path), ()),
                help=f"What it may do in the workspace of {safe(alias)}",
            )

    def _fixed(self, profile: RiskProfile) -> Iterator[FormRow]:
        name = safe(self.subject.config.agent.risk_profile)
        yield FormRow("#fixed", f"Set by the profile {name}", "heading")
        for key, label, help in FIXED:
            origin, full = self._origin_in_profile(key)
            value = getattr(profile, key)
            shown = () if value is None else (safe(_typed(value)),)
            yield FormRow(
                f"profile.{key}",
                label,
                "fixed",
                shown,
                empty="unlimited",
                origin=origin,
                help=f"{help} {glyphs().dash} {full}",
            )


def notes_by_field(
    problems: Sequence[Problem], findings: Sequence[Finding], config: AgentConfig
) -> dict[str, tuple[Note, ...]]:
    """Sort problems and findings to the fields they are about, by dotted key.

    Args:
        problems: Of the agent as it would be.
        findings: Of its policy.
        config: Tells a profile's rule that holds from one the agent overrides.
    """
    found: dict[str, list[Note]] = {}
    for problem in problems:
        text = f"{problem.message}. {problem.fix}" if problem.fix else problem.message
        _add(found, problem.key, text, error=problem.severity == "error")
    for finding in findings:
        path = finding.origin.path
        if path[:1] == ("risk_profiles",) and len(path) > 2:
            if getattr(config.permissions, str(path[2]), None) is not None:
                continue
            path = ("permissions", *path[2:])
        _add(found, dotted(path), finding.message, error=False)
    return {key: tuple(notes) for key, notes in found.items()}


def _add(found: dict[str, list[Note]], key: str, text: str, *, error: bool) -> None:
    index = _INDEX.search(key)
    note = Note(safe(text[:LONGEST]), error, int(index[1]) if index else -1)
    found.setdefault(_INDEX.sub("", key), []).append(note)
