"""May this agent read or write this path?

The most specific rule that covers the resolved path decides; of two rules for one place the stricter does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import InitVar, dataclass, field
from pathlib import Path
from typing import Literal

from services.policy.decision import BUILT_IN, Decision, Origin, Rule, Verdict
from services.policy.places import covers
from services.policy.resolving import Resolved, resolve

Access = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class PathRule:
    """What one rule says about a place and everything below it.

    Attributes:
        place: Absolute, as configured; it is resolved when the policy is built.
        readable, writable: What the rule grants; neither means forbidden.
        name: What people call the place, such as `../researcher`; "" leaves its path.
    """

    kind: str
    place: str
    readable: bool
    writable: bool
    origin: Origin = BUILT_IN
    name: str = ""

    def permits(self, access: Access) -> bool:
        """Whether the rule grants this access."""
        return self.readable if access == "read" else self.writable

    @property
    def effect(self) -> str:
        """What it says, for people."""
        return _EFFECTS[self.readable, self.writable]

    @property
    def in_words(self) -> str:
        """Where a path is that it covers, and what it says: "in ../researcher, which may only be read"."""
        match self.kind:
            case "workspace" | "sibling":
                place = f"in {self.name or self.place}"
            case "rules of the runner":
                place = f"{self.name}, the runner's own rules"
            case "device":
                place = f"the device {self.place}"
            case "forbidden path":
                return f"in the forbidden path {self.place}"
            case "allowed root":
                place = f"in the allowed root {self.place}"
            case _:
                place = f"among {self.kind}"
        return f"{place}, which {_MAY[self.readable, self.writable]}"

    def as_rule(self) -> Rule:
        """The rule as a decision shows it."""
        return Rule(self.kind, self.place, self.effect, self.origin)


_EFFECTS = {
    (True, True): "read and write",
    (True, False): "read only",
    (False, True): "write only",
    (False, False): "forbidden",
}

_MAY = {
    (True, True): "may be read and written",
    (True, False): "may only be read",
    (False, True): "may only be written",
    (False, False): "no agent touches",
}

_DEVICES = {
    "/dev/null": PathRule("device", "/dev/null", readable=True, writable=True),
    "/dev/zero": PathRule("device", "/dev/zero", readable=True, writable=False),
    "/dev/random": PathRule("device", "/dev/random", readable=True, writable=False),
    "/dev/urandom": PathRule("device", "/dev/urandom", readable=True, writable=False),
}


@dataclass(frozen=True)
class PathPolicy:
    """The rules about paths of one agent.

    Attributes:
        workspace: Relative paths start here.
        home: What `~` stands for.
        rules: In the order they were written.
        workspace_only: What no rule covers is denied; else allowed.
        elsewhere: Where `workspace_only` was set.
        resolved: Where absolute places lead, known already or filled in; policies built together share it.
    """

    workspace: Path
    home: Path
    rules: tuple[PathRule, ...]
    workspace_only: bool = True
    elsewhere: Origin = BUILT_IN
    resolved: InitVar[dict[str, Resolved] | None] = None
    _start: str = field(init=False, repr=False, compare=False)
    _by_place: dict[str, tuple[PathRule, ...]] = field(init=False, repr=False, compare=False)
    _unresolved: tuple[PathRule, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self, resolved: dict[str, Resolved] | None) -> None:
        object.__setattr__(self, "_start", resolve(str(self.workspace)).path or str(self.workspace))
        by_place: dict[str, tuple[PathRule, ...]] = {}
        unresolved: list[PathRule] = []
        for rule in self.rules:
            found = self._followed_once(rule.place, resolved)
            if found.problem:
                unresolved.append(rule)
                continue
            by_place[found.path] = (*by_place.get(found.path, ()), rule)
        strictest_first = {
            place: tuple(sorted(rules, key=lambda rule: rule.readable + rule.writable))
            for place, rules in by_place.items()
        }
        object.__setattr__(self, "_by_place", strictest_first)
        object.__setattr__(self, "_unresolved", tuple(unresolved))

    def _followed_once(self, place: str, known: dict[str, Resolved] | None) -> Resolved:
        if known is None or not place.startswith(("/", "~")):
            return self.follow(place)
        found = known.get(place)
        if found is None:
            found = known[place] = self.follow(place)
        return found

    @property
    def unresolved(self) -> tuple[PathRule, ...]:
        """Rules whose place cannot be followed and that therefore cover nothing."""
        return self._unresolved

    def follow(self, path: str) -> Resolved:
        """Where a path leads: `~` is the operator's home, a relative path starts in the workspace."""
        return resolve(self.expand_home(path), start=self._start)

    @property
    def start(self) -> str:
        """The workspace, resolved: where relative paths start."""
        return self._start

    @property
    def places(self) -> tuple[str, ...]:
        """Every resolved place some rule speaks of."""
        return tuple(self._by_place)

    def rule_at(self, real: str) -> PathRule | None:
        """The rule that decides about a resolved path; None when none covers it."""
        return next(iter(self._covering(real)), None)

    def decide_write(self, path: str, level: str) -> Decision:
        """Judge writing one path; under the level `readonly` only `/dev/null` is written."""
        decision = self.decide("write", path)
        if level != "readonly" or decision.verdict is Verdict.DENY or decision.rule.kind == "device":
            return decision
        rule = Rule("level readonly", "", "nothing is written", self.elsewhere)
        return Decision(decision.question, Verdict.DENY, "the level is readonly", rule, (decision.rule,))

    def expand_home(self, path: str) -> str:
        """Put the operator's home for a leading `~`."""
        return f"{self.home}{path[1:]}" if path == "~" or path.startswith("~/") else path

    def refused_argument(self, path: str, *, pattern: bool) -> Decision | None:
        """The decision that refuses a word a program may take for a path; None when nothing does.

        Args:
            path: The word.
            pattern: As for `decide_argument`.
        """
        if not pattern and self._is_readable(path):
            return None
        decision = self.decide_argument(path, pattern=pattern)
        return decision if decision.verdict is Verdict.DENY else None

    def _is_readable(self, path: str) -> bool:
        """What `decide` would answer about reading, without the words."""
        if _misspelling(path):
            return False
        found = self.follow(path)
        if found.problem:
            return False
        rule = _DEVICES.get(found.path) or self.rule_at(found.path)
        return rule.readable if rule is not None else not self.workspace_only

    def decide_argument(self, path: str, *, pattern: bool) -> Decision:
        """Judge a word a program may take for a path, to read or to write.

        Args:
            path: The word.
            pattern: It holds unquoted `*`, `?` or `[`: then it is judged as the folder it starts in, and denied where
                something forbidden lies below that folder.
        """
        if not pattern:
            read = self.decide("read", path)
            return read if read.verdict is Verdict.ALLOW else self._writable_instead(read, path)
        folder = re.split(r"[*?\[]", path, maxsplit=1)[0].rpartition("/")[0]
        folder = folder or ("/" if path.startswith("/") else ".")
        decision = self.decide_argument(folder, pattern=False)
        if decision.verdict is Verdict.DENY:
            return decision
        real = self.follow(folder).path
        for place, rules in self._by_place.items():
            hidden = next((rule for rule in rules if not rule.readable and not rule.writable), None)
            if hidden is not None and place != real and covers(real, place):
                reason = f"the pattern {path} may reach {hidden.place}, which is forbidden"
                return Decision(f"read {path}", Verdict.DENY, reason, hidden.as_rule(), (decision.rule,))
        return decision

    def _writable_instead(self, read: Decision, path: str) -> Decision:
        write = self.decide("write", path)
        return write if write.verdict is Verdict.ALLOW else read

    def decide(self, access: Access, path: str) -> Decision:
        """Judge one access to one path, spelled in any way."""
        question = f"{access} {path}"
        misspelled = _misspelling(path)
        if misspelled:
            return Decision(question, Verdict.DENY, misspelled, _SPELLING)
        found = self.follow(path)
        if found.problem:
            return Decision(question, Verdict.DENY, found.problem, _SPELLING)
        return self._decide_resolved(question, access, found)

    def _decide_resolved(self, question: str, access: Access, found: Resolved) -> Decision:
        device = _DEVICES.get(found.path)
        if device is not None:
            return self._by_rule(question, access, device, found, ())
        covering = list(self._covering(found.path))
        if not covering:
            return self._by_fallback(question, access, found)
        return self._by_rule(question, access, covering[0], found, tuple(rule.as_rule() for rule in covering[1:]))

    def _covering(self, real: str) -> Iterable[PathRule]:
        """Rules that cover a resolved path: the most specific first, of one place the strictest first."""
        place = real
        while True:
            yield from self._by_place.get(place, ())
            if place == "/":
                return
            place = place[: place.rfind("/")] or "/"

    def _by_rule(
        self, question: str, access: Access, rule: PathRule, found: Resolved, considered: tuple[Rule, ...]
    ) -> Decision:
        verdict = Verdict.ALLOW if rule.permits(access) else Verdict.DENY
        leads = f"it leads to {found.path}, " if found.hops else "it is "
        reason = f"{leads}{rule.in_words}"
        if access == "write" and found.links > 1 and verdict is Verdict.ALLOW:
            reason += f"; the file has {found.links} names, so another place changes with it"
        return Decision(question, verdict, reason, rule.as_rule(), considered)

    def _by_fallback(self, question: str, access: Access, found: Resolved) -> Decision:
        uncovered = f"it leads to {found.path}, which no rule covers" if found.hops else f"no rule covers {found.path}"
        if self.workspace_only:
            rule = Rule("workspace_only", "", "everything outside the grants is denied", self.elsewhere)
            return Decision(question, Verdict.DENY, f"{uncovered}, and workspace_only is on", rule)
        rule = Rule("workspace_only", "", "off: everything not forbidden is allowed", self.elsewhere)
        return Decision(question, Verdict.ALLOW, f"{uncovered}, and workspace_only is off", rule)


_SPELLING = Rule("path spelling", "", "a path must say plainly where it leads")


def _misspelling(path: str) -> str:
    """Why a spelling is refused before it is followed; "" when it is not."""
    if "\0" in path:
        return "it holds a NUL byte"
    if ".." in path:
        if ".." in path.split("/"):
            return "it climbs with `..`"
        lowered = path.lower()
        if "..%2f" in lowered or "%2f.." in lowered:
            return "it climbs with an encoded `..`"
    if path.startswith("~") and path != "~" and not path.startswith("~/"):
        return "it names another user's home"
    return ""


def device_rules() -> tuple[PathRule, ...]:
    """The device files every agent may use, whatever its rules say."""
    return tuple(_DEVICES.values())
