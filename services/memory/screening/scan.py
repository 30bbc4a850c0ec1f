"""Scanning text, and hiding what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from services.memory.screening.patterns import PATTERNS, PERSONAL, Family, Pattern

_BETWEEN = " \n\t\"',[]{}"
_LONGEST = 8000
"""Of secrets that stand in one line."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One place of a text that the scan marks; it never holds the text itself.

    Attributes:
        name: What was found, such as `api_key`.
        family: Whether it is a threat or a secret.
        start: The first character, counted from 0.
        end: The one behind the last.
    """

    name: str
    family: Family
    start: int
    end: int


def scan(text: str, *, strict: bool = False, personal: bool = False) -> tuple[Finding, ...]:
    """Find threats and secrets, by where they begin.

    Args:
        text: Any text.
        strict: Also look for what is often harmless.
        personal: Also look for e-mail addresses and telephone numbers.
    """
    patterns = [pattern for pattern in PATTERNS if strict or not pattern.strict]
    if personal:
        patterns.extend(PERSONAL)
    found = [finding for pattern in patterns for finding in _hits(pattern, text)]
    return tuple(sorted(found, key=lambda finding: (finding.start, finding.end, finding.name)))


def _hits(pattern: Pattern, text: str) -> Iterable[Finding]:
    group: int | str = "hit" if "hit" in pattern.expression.groupindex else 0
    for match in pattern.expression.finditer(text):
        yield Finding(pattern.name, pattern.family, match.start(group), match.end(group))


def redacted(text: str, findings: Iterable[Finding]) -> str:
    """Replace every secret by `[REDACTED:<name>]`; secrets that overlap become one."""
    return _replaced(text, findings, lambda name: f"[REDACTED:{name}]")


def masked(text: str, *, cut: bool = False) -> str:
    """Text as it may be shown before anybody asked for what is hidden: each secret is a row of dots and its name.

    Args:
        text: Any text.
        cut: It is only a beginning. What the cut went through is left out if it is no plain word: it may be a secret
            that the scan does not know by its beginning.
    """
    shown = _replaced(text, scan(text), lambda name: f"••••[{name}]")
    return _without_end(shown) if cut else shown


def _without_end(text: str) -> str:
    start = max(max(text.rfind(sign) for sign in _BETWEEN) + 1, len(text) - _LONGEST)
    return f"{text[:start]}…" if any(sign.isdigit() for sign in text[start:]) else text


def _replaced(text: str, findings: Iterable[Finding], written: Callable[[str], str]) -> str:
    parts: list[str] = []
    behind = 0
    secrets = (finding for finding in findings if finding.family == "secret")
    for finding in sorted(secrets, key=lambda finding: (finding.start, -finding.end)):
        if finding.start >= behind:
            parts += text[behind : finding.start], written(finding.name)
        behind = max(behind, finding.end)
    return "".join((*parts, text[behind:]))
