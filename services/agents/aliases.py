"""Which names an agent may have."""

from __future__ import annotations

import re
from collections.abc import Iterable

from services.agents.forms import NAME

LONGEST = 63
RESERVED = frozenset({"default"})

_NAME = re.compile(NAME)


def alias_fault(alias: str) -> str:
    """Say what is wrong with an alias, "" when nothing is.

    An alias becomes a directory's name, a label and a part of container names, so its letters are few.
    """
    if not alias:
        return "an alias has at least one character"
    if len(alias) > LONGEST:
        return f"an alias has at most {LONGEST} characters"
    if alias in RESERVED:
        return f'"{alias}" is reserved'
    if _NAME.fullmatch(alias):
        return ""
    if not re.fullmatch(r"[a-z0-9_]*", alias):
        return "an alias has only lower-case letters, digits and _"
    if "__" in alias:
        return "an alias has no __"
    return "an alias begins and ends with a letter or digit"


def nearest(name: str, known: Iterable[str]) -> str:
    """Find the known name a mistyped one was probably meant to be; "" when none is near."""
    from difflib import get_close_matches  # takes milliseconds to import, and mistakes are rare

    found = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return found[0] if found else ""
