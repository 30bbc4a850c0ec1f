"""Text of memory as it is drawn before anybody asks for secrets: each is a row of dots and its name."""

from __future__ import annotations

from functools import lru_cache

from services.memory import masked, scan
from tui.text import safe

LABEL = 300
"""The most characters that are drawn of an id or a key."""


def hidden(text: str, *, reveal: bool, cut: bool = False) -> tuple[str, tuple[str, ...]]:
    """A text as it may be drawn, not clean yet, and the names of what the scan found in it.

    Args:
        text: Any text.
        reveal: Hide nothing.
        cut: It is only a beginning.
    """
    names = tuple(sorted({finding.name.replace("_", " ") for finding in scan(text)}))
    return (text if reveal else masked(text, cut=cut)), names


def beginning(text: str, most: int, *, reveal: bool, cut: bool = False) -> tuple[str, tuple[str, ...]]:
    """The first characters of a text as they are drawn, clean, and the names of what the scan found in them.

    Args:
        text: Any text.
        most: How many characters.
        reveal: Hide nothing.
        cut: The text is itself only a beginning.
    """
    shown, names = hidden(text[:most], reveal=reveal, cut=cut or len(text) > most)
    return safe(shown), names


def key_name(key: str, *, reveal: bool) -> str:
    """A key as it is drawn: the beginning of one that is very long, with its length."""
    shown, _ = beginning(key, LABEL, reveal=reveal)
    return shown if len(key) <= LABEL else f"{shown}({len(key):,} characters)"


@lru_cache(maxsize=4096)
def shown_name(name: str) -> str:
    """An id as it is drawn; the tree has thousands, again and again."""
    return key_name(name, reveal=False)
