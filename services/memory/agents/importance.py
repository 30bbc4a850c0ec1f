"""How important a row is when nobody said."""

from __future__ import annotations

import re

from services.memory.agents.model import CONVERSATION, CORE, DAILY

_BASE = {CORE: 0.7, DAILY: 0.3, CONVERSATION: 0.2}
_OTHER = 0.4
_SIGNALS = (
    "decision",
    "always",
    "never",
    "important",
    "critical",
    "must",
    "requirement",
    "policy",
    "rule",
    "principle",
)
_WORD = re.compile(r"[^\W_]+")


def estimated(category: str, content: str) -> float:
    """Estimate importance from 0 to 1: by category, and 0.1 more for each of two words that signal a rule."""
    words = {word.lower() for word in _WORD.findall(content)}
    boost = min(0.1 * sum(signal in words for signal in _SIGNALS), 0.2)
    return round(min(_BASE.get(category, _OTHER) + boost, 1.0), 3)
