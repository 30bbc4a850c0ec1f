"""May this agent run this shell line? Every program the line would run is judged; the strictest answer counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from services.policy.commands.grammar import Line, Redirect, SimpleCommand, Word, parse
from services.policy.commands.programs import SHELLS, refusal, spoofing
from services.policy.commands.risk import Risk, risk_of
from services.policy.commands.wrappers import WRAPPERS, unwrap
from services.policy.decision import BUILT_IN, Decision, Origin, Rule, Verdict
from services.policy.paths import PathPolicy

Level = Literal["readonly", "supervised", "full"]

_SYSTEM_FOLDERS = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/usr/local/sbin/")
_SAFE_TARGETS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/zero"})
_SAFE_SOURCES = frozenset({"/dev/null", "/dev/zero", "/dev/stdin"})
_PATHS_WITHOUT_SLASH = frozenset({".", "..", "~"})
_MAX_NESTING = 8


@dataclass(frozen=True, slots=True)
class AllowedCommand:
    """One entry of `allowed_commands`.

    An entry with a slash, or one of `.`, `..`, `~`, is an exact path; `*` is every program; else it is a bare name,
    compared without case.
    """

    entry: str
    origin: Origin = BUILT_IN

    @property
    def is_path(self) -> bool:
        """Whether it names one file."""
        return "/" in self.entry or self.entry in _PATHS_WITHOUT_SLASH

    def as_rule(self) -> Rule:
        """The entry as a decision shows it."""
        return Rule("allowed command", self.entry, "may run", self.origin)


@dataclass(frozen=True)
class CommandPolicy:
    """The rules about shell lines of one agent.

    Attributes:
        allowed: In the order written; empty: nothing may run.
        paths: Judges arguments and redirections that are paths.
        origins: Where `level`, `block_high_risk_commands`, `require_approval_for_medium_risk` and `allowed_commands`
            were set, by that name.
    """

    level: Level
    allowed: tuple[AllowedCommand, ...]
    paths: PathPolicy
    block_high_risk_commands: bool = True
    require_approval_for_medium_risk: bool = True
    origins: dict[str, Origin] = field(default_factory=dict)
    _by_name: dict[str, AllowedCommand] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", _by_name(self.allowed))

    def decide(self, line: str) -> Decision:
        """Judge a shell line."""
        question = f"run {line}"
        if self.level == "readonly":
            rule = self.own_rule("level", "readonly", "no command may run")
            return Decision(question, Verdict.DENY, "the level is readonly", rule)
        parsed = parse(line)
        if self._unchecked:
            return self._decide_unchecked(question, parsed)
        if parsed.problem:
            return Decision(question, Verdict.DENY, parsed.problem, _SYNTAX)
        judged = _Judged(self, [])
        for command in parsed.commands:
            denied = judged.command(command, depth=0)
            if denied is not None:
                return Decision(question, Verdict.DENY, _told(denied), denied.rule, denied.considered)
        if not judged.programs:
            return Decision(question, Verdict.DENY, "it runs no program", _SYNTAX)
        return self._by_risk(question, judged.programs)

    @property
    def _unchecked(self) -> bool:
        return not self.block_high_risk_commands and any(entry.entry == "*" for entry in self.allowed)

    def _decide_unchecked(self, question: str, parsed: Line) -> Decision:
        """`*` with the high-risk block off permits every line; what is plainly a path is still judged."""
        star = next(entry for entry in self.allowed if entry.entry == "*")
        for command in parsed.commands:
            for decision in self.path_decisions(command, command.words):
                if decision.verdict is Verdict.DENY:
                    return Decision(question, Verdict.DENY, _told(decision), decision.rule, (star.as_rule(),))
        reason = "`*` is allowed and block_high_risk_commands is off, so no command is checked"
        return Decision(question, Verdict.ALLOW, reason, star.as_rule())

    def _by_risk(self, question: str, programs: list[_Program]) -> Decision:
        worst = max(programs, key=lambda program: program.risk)
        listed = tuple(program.entry.as_rule() for program in programs if program.entry is not None)
        allowing = worst.entry.as_rule() if worst.entry is not None else (listed[0] if listed else _TRANSPARENT)
        others = tuple(dict.fromkeys(rule for rule in listed if rule != allowing))
        if worst.risk is Risk.HIGH and self.block_high_risk_commands:
            unlisted = next((program for program in programs if not program.named), None)
            if unlisted is not None:
                rule = self.own_rule("block_high_risk_commands", "", "high-risk commands need their own entry")
                reason = f"{worst.name} is high risk and {unlisted.name} has no entry of its own"
                return Decision(question, Verdict.DENY, reason, rule, (allowing, *others))
        if self.level == "supervised" and worst.risk is Risk.HIGH:
            rule = self.own_rule("level", "supervised", "high-risk commands are asked about")
            return Decision(question, Verdict.ASK, f"{worst.name} is high risk", rule, (allowing, *others))
        if self.level == "supervised" and worst.risk is Risk.MEDIUM and self.require_approval_for_medium_risk:
            rule = self.own_rule("require_approval_for_medium_risk", "", "medium-risk commands are asked about")
            return Decision(question, Verdict.ASK, f"{worst.name} is medium risk", rule, (allowing, *others))
        names = ", ".join(dict.fromkeys(program.name for program in programs))
        reason = f"{names} may run, {worst.risk} risk"
        return Decision(question, Verdict.ALLOW, reason, allowing, others)

    def risk(self, line: str) -> Risk:
        """The risk of a line, whatever its verdict; high when it cannot be told."""
        parsed = parse(line)
        if parsed.problem:
            return Risk.HIGH
        judged = _Judged(self, [])
        for command in parsed.commands:
            judged.command(command, depth=0)
        return max((program.risk for program in judged.programs), default=Risk.LOW)

    def match(self, executable: str) -> AllowedCommand | None:
        """The entry that lets a program run: an exact one before `*`."""
        if "/" in executable or executable in _PATHS_WITHOUT_SLASH:
            for entry in self.allowed:
                if entry.is_path and self.paths.expand_home(entry.entry) == executable:
                    return entry
        bare = _trusted_name(executable)
        return (self._by_name.get(bare) if bare and bare != "*" else None) or self._by_name.get("*")

    def path_decisions(self, command: SimpleCommand, words: tuple[Word, ...]) -> Iterator[Decision]:
        """Judge every part of a command that may be taken for a path: its redirections and arguments."""
        for redirect in command.redirects:
            if redirect.target and redirect.target not in _SAFE_TARGETS | _SAFE_SOURCES:
                yield self.paths.decide("write" if redirect.writes else "read", redirect.target)
        for word in words[1:]:
            for path in _paths_in(word.text):
                yield self.paths.decide_argument(path, pattern=word.pattern)

    def own_rule(self, key: str, subject: str, effect: str) -> Rule:
        """A rule that is one of the profile's switches, with the place it was set."""
        return Rule(key, subject, effect, self.origins.get(key, BUILT_IN))


@dataclass(frozen=True, slots=True)
class _Program:
    name: str
    risk: Risk
    entry: AllowedCommand | None

    @property
    def named(self) -> bool:
        """Whether an entry other than `*` lists it; a transparent wrapper needs none."""
        return self.entry is None or self.entry.entry != "*"


@dataclass(slots=True)
class _Judged:
    """Walks the programs of a line; collects what may run and returns the first refusal."""

    policy: CommandPolicy
    programs: list[_Program]

    def command(self, command: SimpleCommand, depth: int) -> Decision | None:
        spoofed = spoofing(command.assignments)
        if spoofed:
            return _denied(f"setting {spoofed} can change which code runs", _SPOOFING)
        for redirect in command.redirects:
            denied = self.redirect(redirect)
            if denied is not None:
                return denied
        if not command.words:
            return None
        return self.program(command, command.words, depth)

    def redirect(self, redirect: Redirect) -> Decision | None:
        safe = _SAFE_TARGETS if redirect.writes else _SAFE_SOURCES
        if not redirect.target or redirect.target in safe:
            return None
        decision = self.policy.paths.decide("write" if redirect.writes else "read", redirect.target)
        if decision.verdict is Verdict.DENY:
            return decision
        return _denied(
            f"it redirects {redirect.operator} {redirect.target}, and only safe devices are taken", _REDIRECT
        )

    def program(self, command: SimpleCommand, words: tuple[Word, ...], depth: int) -> Decision | None:
        executable = words[0]
        name = executable.text.rsplit("/", 1)[-1].lower()
        if executable.pattern or not name:
            return _denied("the program is named by a pattern", _SYNTAX)
        if depth > _MAX_NESTING:
            return _denied(f"it nests more than {_MAX_NESTING} programs", _SYNTAX)
        wrapped = unwrap(name, words[1:]) if name in WRAPPERS else None
        if wrapped is not None and wrapped.problem:
            return _denied(wrapped.problem, _WRAPPER)
        transparent = wrapped is not None and bool(wrapped.words) and WRAPPERS[name].transparent
        entry = self.policy.match(executable.text)
        self.programs.append(_Program(name, risk_of(name, [word.text for word in words[1:]]), entry))
        if entry is None and not (transparent and _trusted_name(executable.text)):
            return self.not_allowed(executable.text)
        refused = refusal(name, words[1:], piped=command.piped)
        if refused:
            return _denied(refused, Rule("program rule", name, "refused with these arguments"))
        denied = self.paths(words, entry)
        if denied is not None:
            return denied
        if wrapped is not None and wrapped.words:
            spoofed = spoofing(wrapped.assignments)
            if spoofed:
                return _denied(f"{name} sets {spoofed}, which can change which code runs", _SPOOFING)
            return self.program(command, wrapped.words, depth + 1)
        if name in SHELLS:
            return self.shell(command, name, words[1:], depth)
        return None

    def shell(self, command: SimpleCommand, name: str, arguments: tuple[Word, ...], depth: int) -> Decision | None:
        """Judge what a shell is told to run: a line given by `-c`, or a script; never its standard input."""
        texts = [argument.text for argument in arguments]
        for position, text in enumerate(texts):
            if re.fullmatch(r"-[a-z]*c[a-z]*", text):
                if position + 1 >= len(texts):
                    return _denied(f"{name} -c is given no line", _SYNTAX)
                return self.line(texts[position + 1], depth + 1)
            if text.startswith(("-", "+")):
                if text in ("--version", "--help"):
                    return None
                if re.fullmatch(r"-[eux]+", text):
                    continue
                return _denied(f"{name} has an option that is not judged, {text}", _WRAPPER)
            return None
        return _denied(f"{name} would read its commands from standard input", _WRAPPER)

    def line(self, line: str, depth: int) -> Decision | None:
        parsed = parse(line)
        if parsed.problem:
            return _denied(parsed.problem, _SYNTAX)
        for command in parsed.commands:
            denied = self.command(command, depth)
            if denied is not None:
                return denied
        return None

    def paths(self, words: tuple[Word, ...], entry: AllowedCommand | None) -> Decision | None:
        executable = words[0].text
        if "/" in executable and not _trusted_name(executable) and not (entry is not None and entry.is_path):
            decision = self.policy.paths.decide("read", executable)
            if decision.verdict is Verdict.DENY:
                return decision
        for word in words[1:]:
            for path in _paths_in(word.text):
                denied = self.policy.paths.refused_argument(path, pattern=word.pattern)
                if denied is not None:
                    return denied
        return None

    def not_allowed(self, executable: str) -> Decision:
        bare = executable.rsplit("/", 1)[-1].lower()
        namesake = next((e for e in self.policy.allowed if not e.is_path and e.entry.lower() == bare), None)
        rule = self.policy.own_rule("allowed_commands", "", "only what is listed may run")
        if namesake is not None and "/" in executable:
            reason = (
                f"{executable} only shares its name with the allowed {namesake.entry}, outside the system's folders"
            )
            return Decision("", Verdict.DENY, reason, rule, (namesake.as_rule(),))
        reason = f"{executable} is not in allowed_commands"
        return Decision("", Verdict.DENY, reason, rule)


_SYNTAX = Rule("shell grammar", "", "what cannot be judged with certainty is denied")
_SPOOFING = Rule("variable spoofing", "", "variables that choose code are not set for a command")
_REDIRECT = Rule("redirections", "", "only /dev/null, /dev/stdout, /dev/stderr and /dev/zero")
_WRAPPER = Rule("wrapped command", "", "what a program runs must be plain to see")
_TRANSPARENT = Rule("wrapped command", "", "a wrapper that changes nothing needs no entry")


def _told(denied: Decision) -> str:
    """Why a line is denied: for what it would do, where that is a question of its own."""
    return f"it may not {denied.question}: {denied.reason}" if denied.question else denied.reason


def _denied(reason: str, rule: Rule) -> Decision:
    return Decision("", Verdict.DENY, reason, rule)


def _by_name(allowed: tuple[AllowedCommand, ...]) -> dict[str, AllowedCommand]:
    """The first entry for each bare name, in lower case."""
    found: dict[str, AllowedCommand] = {}
    for entry in allowed:
        if not entry.is_path:
            found.setdefault(entry.entry.lower(), entry)
    return found


def _trusted_name(executable: str) -> str:
    """The bare name, in lower case, of a program given by name or by its path in a system folder; else ""."""
    if "/" not in executable:
        return executable.lower()
    for folder in _SYSTEM_FOLDERS:
        if executable.startswith(folder) and "/" not in executable[len(folder) :]:
            return executable[len(folder) :].lower()
    return ""


def _paths_in(text: str) -> Iterator[str]:
    """The parts of an argument that a program may take for a path."""
    if not text or "://" in text:
        return
    if text.startswith("-") and text != "-":
        _, equals, value = text.partition("=")
        if equals and value:
            yield value
        if not text.startswith("--") and len(text) > 2 and _looks_like_path(text[2:]):
            yield text[2:]
        return
    yield text
    if "=" in text:
        value = text.split("=", 1)[1]
        if _looks_like_path(value):
            yield value


def _looks_like_path(text: str) -> bool:
    return text in ("~", ".", "..") or "/" in text or text.startswith("~")
