"""Tells how severe a line of output is, from the forms that programs commonly print."""

from __future__ import annotations

import re
from enum import IntEnum


class Level(IntEnum):
    """How severe a line is; a higher value is worse."""

    DEBUG = 10
    INFO = 20
    WARNING = 30
    ERROR = 40


_READ = 2000
_HEAD = 200

_WORDS = {
    "info": Level.INFO,
    "error": Level.ERROR,
    "warn": Level.WARNING,
    "debug": Level.DEBUG,
    "warning": Level.WARNING,
    "wrn": Level.WARNING,
    "err": Level.ERROR,
    "fatal": Level.ERROR,
    "critical": Level.ERROR,
    "crit": Level.ERROR,
    "severe": Level.ERROR,
    "alert": Level.ERROR,
    "emerg": Level.ERROR,
    "panic": Level.ERROR,
    "notice": Level.INFO,
    "dbg": Level.DEBUG,
    "trace": Level.DEBUG,
}
_LETTERS = {"E": Level.ERROR, "F": Level.ERROR, "W": Level.WARNING, "I": Level.INFO, "D": Level.DEBUG}

SEQUENCE = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")
"""Colours and cursor moves, which may stand between the letters of what a person reads."""

_LETTER = re.compile(r"[EFWID](?:\d{4} \d\d:\d\d:\d\d|/[\w.]+ *\()")
_FIELD = re.compile(
    r'(?:"(?:level|lvl|severity|levelname|log\.level|loglevel)"\s*:\s*"?|\b(?:level|lvl|severity)="?)'
    r"([a-z]+|[1-6]0(?=\s*[,}]))"
)
_NAME_GOES_ON = re.compile(r"[\w./=-]*\w")
_NAMED = re.compile(r"(?:\[\w+\])?(?::(?=\s+(?!0\b)|$)|! )")
_COUNT = r"(?<![\d.,])[1-9]\d*(?:,\d{3})* (?:\w+ )?"

_SIGNS = tuple(
    (level, mark, re.compile(sign, re.ASCII))
    for level, mark, sign in (
        (Level.ERROR, "traceback", r"^traceback \(most recent call last\)"),
        (Level.ERROR, "error", r"^(?:caused by: |unhandled |uncaught |e? +)?[\w.$]*error(?::(?! *0\b)|\s*$)"),
        (Level.ERROR, "error", r"\*\*\* \[.*\] error \d|\berror ts\d"),
        (Level.ERROR, "error", _COUNT + r"errors?\b(?!-)|\berrors?[:=] ?[1-9]"),
        (Level.ERROR, "exception", r"^(?:caused by: |unhandled |uncaught |e? +)?[\w.$]*exception(?::|\s*$)"),
        (Level.ERROR, "exception", r"^exception in thread "),
        (Level.ERROR, "panicked", r"\bpanicked at\b"),
        (Level.ERROR, "fail", r"^(?:-+ ?)?fail(?:ed|ure)?\b(?![:=\s(]*0\b)(?=[:\s(]\s*\S)"),
        (Level.ERROR, "fail", _COUNT + r"fail(?:ed|ures?|ing)\b|\bfail(?:ed|ures?)[:=] ?[1-9]"),
        (Level.ERROR, "fail", r"\bfailed (?:to|with|at|because|after)\b|(?<!\b0 )\bfailed[.!]?\s*$|\bfailed: (?!0\b)"),
        (Level.ERROR, "exit", r"\bexit(?:ed)?(?: with)?(?: exit)? (?:code|status)[:=]? ?[1-9]|non-?zero exit"),
        (Level.ERROR, "segmentation fault", r""),
        (Level.ERROR, "core dumped", r""),
        (Level.ERROR, "out of memory", r""),
        (Level.ERROR, "oomkill", r""),
        (Level.ERROR, "oom-kill", r""),
        (Level.ERROR, "command not found", r""),
        (Level.ERROR, "no such file or directory", r""),
        (Level.ERROR, "permission denied", r""),
        (Level.ERROR, "connection refused", r""),
        (Level.ERROR, "cannot allocate memory", r""),
        (Level.ERROR, "killed", r"^killed\s*$"),
        (Level.WARNING, "warning", r"(?<=\w)warning:|" + _COUNT + r"warnings?\b"),
        (Level.WARNING, "deprecated", r"\bdeprecated\b"),
    )
)

_FIELD_MARKS = ("level", "lvl", "severity")


def _marks(least: Level) -> tuple[str, ...]:
    found = dict.fromkeys(word for word, level in _WORDS.items() if level >= least)
    found.update(dict.fromkeys(_FIELD_MARKS))
    found.update(dict.fromkeys(mark for level, mark, _ in _SIGNS if level >= least))
    return tuple(mark for mark in found if not any(other in mark and other != mark for other in found))


_HINTS = _marks(Level.DEBUG)


def level_of(line: bytes) -> Level | None:
    """How severe a line says it is; None when it does not say. Takes a few microseconds."""
    text = line[:_READ]
    if b"\x1b" in text:
        text = SEQUENCE.sub(b"", text)
    shown = text.decode("latin-1")
    if shown[:1] in _LETTERS and _LETTER.match(shown) is not None:
        return _LETTERS[shown[0]]
    low = shown.lower()
    for hint in _HINTS:
        if hint in low:
            break
    else:
        return None
    if (level := _level_in_field(low)) is not None:
        return level
    if (level := _level_in_head(shown[:_HEAD], low[:_HEAD])) is not None:
        return level
    for level, mark, sign in _SIGNS:
        if mark in low and sign.search(low) is not None:
            return level
    return None


def marks(least: Level) -> tuple[bytes, ...]:
    """What lines in lower case, each behind a line end, must hold one of for a line to be so severe."""
    letters = [letter.lower() for letter, level in _LETTERS.items() if level >= least]
    return tuple(mark.encode() for mark in (*_marks(least), *(f"\n{letter}" for letter in letters)))


def _level_in_field(low: str) -> Level | None:
    """The level of a JSON or logfmt line, as a word or as the number pino and bunyan use."""
    if not any(mark in low for mark in _FIELD_MARKS):
        return None
    found = _FIELD.search(low)
    if found is None:
        return None
    word = found[1]
    if word.isdigit():
        return Level(min(max(int(word), Level.DEBUG), Level.ERROR))
    return Level.INFO if word == "information" else _WORDS.get(word)


def _level_in_head(head: str, low: str) -> Level | None:
    """The level whose word comes first, if that stands as one: in capitals, in brackets or before a colon."""
    nearest, level = len(low), None
    for word, its in _WORDS.items():
        at = low.find(word, 0, nearest)
        while at >= 0:
            if _stands_as_level(head, at, at + len(word)):
                nearest, level = at, its
                break
            at = low.find(word, at + 1, nearest)
    return level


def _stands_as_level(head: str, start: int, end: int) -> bool:
    before, after = head[start - 1 : start], head[end : end + 1]
    if before and before in "[<(" and after and after in "]>)":
        return True
    if before and (before.isalnum() or before in "_./=-"):
        return False
    if head[start:end].isupper() and _NAME_GOES_ON.match(head, end) is None:
        return True
    return _NAMED.match(head, end) is not None or (after == " " and head[:start].endswith("npm "))
