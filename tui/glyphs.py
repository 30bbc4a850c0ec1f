"""The signs that stand beside words, and the one place that decides whether this terminal can draw them."""

from __future__ import annotations

import locale
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Glyphs:
    """One set of signs, each one column wide.

    Attributes:
        ascii: Whether the set is for terminals without Unicode.
        bars: From the lowest to the highest, for sparklines.
    """

    ascii: bool
    running: str
    idle: str
    busy: str
    stopping: str
    stopped: str
    done: str
    failed: str
    waiting: str
    warning: str
    unknown: str
    mark: str
    pointer: str
    up: str
    down: str
    ellipsis: str
    line: str
    dash: str
    paused: str
    chosen: str
    unchosen: str
    bars: str


UNICODE = Glyphs(
    ascii=False,
    running="●",
    idle="○",
    busy="◌",
    stopping="◐",
    stopped="■",
    done="✓",
    failed="✗",
    waiting="⚑",
    warning="⚠",
    unknown="?",
    mark="✓",
    pointer="▶",
    up="▴",
    down="▾",
    ellipsis="…",
    line="─",
    dash="–",
    paused="⏸",
    chosen="◉",
    unchosen="○",
    bars="▁▂▃▄▅▆▇█",
)

ASCII = Glyphs(
    ascii=True,
    running="*",
    idle="o",
    busy="~",
    stopping="-",
    stopped="#",
    done="+",
    failed="x",
    waiting="!",
    warning="!",
    unknown="?",
    mark="+",
    pointer=">",
    up="^",
    down="v",
    ellipsis="~",
    line="-",
    dash="-",
    paused="=",
    chosen="*",
    unchosen=".",
    bars="_.:-=+*#",
)


def choose_glyphs(env: Mapping[str, str], encoding: str) -> Glyphs:
    """Choose a set for a terminal; `PINFOLD_ASCII=1` asks for plain signs on one that could do better.

    Args:
        env: The environment.
        encoding: What the terminal's text is encoded in.
    """
    plain = env.get("PINFOLD_ASCII", "") not in ("", "0") or env.get("TERM") in ("dumb", "linux", "vt100")
    return ASCII if plain or "utf" not in encoding.lower() else UNICODE


@cache
def glyphs() -> Glyphs:
    """The signs for this terminal."""
    return choose_glyphs(os.environ, locale_encoding(os.environ))


def locale_encoding(env: Mapping[str, str]) -> str:
    """What the environment says text is encoded in; Python's own mode would hide a plain `LANG=C`."""
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        value = env.get(name, "")
        if value:
            return "ascii" if value in ("C", "POSIX") else value
    return locale.getpreferredencoding(False) if "LANG" in env else "ascii"
