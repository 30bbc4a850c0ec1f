"""What is wrong with a TOML file, and where."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from services.errors import ConfigError

Severity = Literal["error", "warning"]
KeyPath: TypeAlias = tuple[str | int, ...]
"""The way to a value: keys of tables and, counted from 0, places in lists."""

_LONGEST_QUOTED = 40
_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


class Fault(msgspec.Struct, frozen=True):
    """One value or key that is wrong, wherever it stands.

    Attributes:
        path: Of the key; () is the file as a whole.
        message: A short clause; quotes what was written only where that cannot be a secret.
        fix: What the operator can do, "" when the message says it.
    """

    path: KeyPath
    message: str
    fix: str = ""
    severity: Severity = "error"


class Problem(msgspec.Struct, frozen=True):
    """One thing wrong with a file.

    Attributes:
        message: A short clause; may quote the file, so it is foreign text on a screen.
        line: Counted from 1; 0 when unknown or when the file as a whole is meant.
        key: The dotted path of the key; "" when there is none.
        severity: An error keeps the file, or the agent, from being used; a warning does not.
        fix: What the operator can do, "" when the message says it.
    """

    message: str
    file: Path
    line: int = 0
    key: str = ""
    severity: Severity = "error"
    fix: str = ""

    def __str__(self) -> str:
        return str(self.as_error())

    def as_error(self) -> ConfigError:
        """The same as something to raise."""
        return ConfigError(self.message, file=self.file, line=self.line, key=self.key, fix=self.fix)


def dotted(path: Sequence[str | int]) -> str:
    """Write a path as TOML and people do: `sandbox.prepare[0].cmd`, `environment."a b"`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            word = part if part and _BARE.issuperset(part) else '"' + part.replace('"', '\\"') + '"'
            text += f".{word}" if text else word
    return text


def quoted(text: str) -> str:
    """Quote foreign text in a message, cut when it is long."""
    return f'"{text[:_LONGEST_QUOTED]}…"' if len(text) > _LONGEST_QUOTED else f'"{text}"'
