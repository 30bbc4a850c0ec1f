"""Theme files: a few named colours in TOML, read and checked."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from services.errors import ConfigError

COLORS = {
    "background": "behind everything",
    "surface": "behind lists and panes",
    "panel": "behind the bars and dialogs",
    "line": "lines between panes",
    "text": "text",
    "muted": "text that matters less",
    "accent": "what is chosen, and keys",
    "good": "running, done",
    "warn": "waiting, changing, unconfined",
    "bad": "failed",
    "cursor": "behind the row of the cursor",
    "mark": "behind marked rows",
}
"""Every colour a theme names, and what it is for."""

_STYLES = ("muted", "cursor", "mark")
_KEYS = {"name": str, "dark": bool, "terminal_colors": bool, "colors": dict, "styles": dict}


@dataclass(frozen=True)
class ThemeFile:
    """One theme as written.

    Attributes:
        terminal_colors: Colours are the terminal's own, named `ansi_red` and so on.
        colors: All of `COLORS`, as Textual writes colours.
        styles: Text styles such as `dim` or `reverse` that go with a colour where it alone would not tell.
    """

    name: str
    file: Path
    dark: bool
    terminal_colors: bool
    colors: dict[str, str]
    styles: dict[str, str]


def theme_files(folder: Path) -> list[Path]:
    """The theme files of a folder in order of name; none when there is no such folder."""
    return sorted(folder.glob("*.toml"))


def theme_named_in(config: Path) -> str:
    """The theme that `[interface]` of a `pinfold.toml` names, for the first frame; "" when that cannot be told."""
    try:
        name = tomllib.loads(config.read_text(encoding="utf-8-sig"))["interface"]["theme"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):  # whoever reads the file in earnest reports it
        return ""
    return name if isinstance(name, str) else ""


def read_theme(file: Path) -> ThemeFile:
    """Read one theme; whether its colours are colours shows when it is used.

    Raises:
        ConfigError: It cannot be read, is not TOML, lacks a colour or names one that does not exist.
    """
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", file=file) from error
    except ValueError as error:  # not UTF-8, not TOML, or a number beyond all limits
        raise ConfigError(f"not TOML: {error}", file=file) from error
    _refuse_unknown(file, "", table, _KEYS)
    for key, kind in _KEYS.items():
        if key in table and not isinstance(table[key], kind):
            raise ConfigError(f"must be a {kind.__name__}", file=file, key=key)
    colors = _texts(file, "colors", table.get("colors", {}), COLORS)
    if missing := [name for name in COLORS if name not in colors]:
        raise ConfigError(f"lacks {', '.join(missing)}", file=file, key="colors")
    return ThemeFile(
        name=table.get("name") or file.stem,
        file=file,
        dark=table.get("dark", True),
        terminal_colors=table.get("terminal_colors", False),
        colors=colors,
        styles=_texts(file, "styles", table.get("styles", {}), _STYLES),
    )


def _texts(file: Path, section: str, table: dict[str, object], known: Iterable[str]) -> dict[str, str]:
    _refuse_unknown(file, f"{section}.", table, known)
    texts: dict[str, str] = {}
    for key, value in table.items():
        if not isinstance(value, str):
            raise ConfigError("must be a text", file=file, key=f"{section}.{key}")
        texts[key] = value
    return texts


def _refuse_unknown(file: Path, prefix: str, table: dict[str, object], known: Iterable[str]) -> None:
    names = list(known)
    for key in table:
        if key not in names:
            near = difflib.get_close_matches(key, names, 1)
            fix = f"Did you mean {near[0]}?" if near else ""
            raise ConfigError("no such key", file=file, key=f"{prefix}{key}", fix=fix)
