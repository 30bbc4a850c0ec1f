"""A refusal as the proxy prints it and Pinfold reads it; on its way it may have been tampered with."""

from __future__ import annotations

import json
from dataclasses import dataclass

_TEXT_LIMIT = 300
_TIMES_LIMIT = 10**12


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a sandbox was kept from reaching.

    Attributes:
        target: `host:port` or a URL as asked for, printable ASCII; "" when it stands for several.
        reason: One clause.
        times: How often, at least 1.
    """

    target: str
    reason: str
    times: int = 1

    def __str__(self) -> str:
        told = f"{self.target}: {self.reason}" if self.target else self.reason
        return told if self.times == 1 else f"{told} ({self.times:,} times)"

    def line(self) -> str:
        """Write it as one line of JSON."""
        return json.dumps({"target": clean(self.target), "reason": clean(self.reason), "times": self.times})


def read_refusal(line: bytes) -> Refusal | None:
    """Read a line; None when it is something else."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    target, reason, times = found.get("target"), found.get("reason"), found.get("times")
    if not isinstance(target, str) or not isinstance(reason, str) or type(times) is not int:
        return None
    return Refusal(clean(target), clean(reason), min(max(times, 1), _TIMES_LIMIT))


def clean(text: str) -> str:
    """Printable ASCII of bounded length."""
    shown = "".join(character if " " <= character <= "~" else "?" for character in text[: _TEXT_LIMIT + 1])
    return shown if len(shown) <= _TEXT_LIMIT else f"{shown[: _TEXT_LIMIT - 3]}..."
