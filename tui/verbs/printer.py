"""Where verbs print: text for people, tabs for pipes, JSON for programs."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

import msgspec

from tui.looks import Tone
from tui.text import safe
from tui.verbs.table import Cell, Column, aligned, tabbed, toned

_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")

_ENCODER = msgspec.json.Encoder()


class Printer:
    """Prints on standard output, fitted to what that is.

    Args:
        out: Where text goes.
        env: `NO_COLOR` and `TERM` are read from it.
    """

    def __init__(self, out: TextIO | None = None, env: Mapping[str, str] = os.environ) -> None:
        self._out = sys.stdout if out is None else out
        self.terminal = self._out.isatty()
        self.colours = self.terminal and wants_colours(env)
        self.width = shutil.get_terminal_size().columns if self.terminal else 0

    def line(self, text: str = "", tone: Tone = "") -> None:
        """Print one line; whatever is foreign in it is cleaned."""
        cleaned = safe(text)
        self._write(toned(cleaned, tone) if self.colours else cleaned)

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> None:
        """Print a table."""
        fitted = self.terminal
        lines = aligned(columns, rows, self.width, colours=self.colours) if fitted else tabbed(columns, rows)
        self._write("\n".join(lines))

    def fields(self, texts: Sequence[str], tone: Tone = "") -> None:
        """Print one row of a table that grows: those that say something on a terminal, all with tabs in a pipe."""
        if self.terminal:
            self.line("  ".join(text for text in texts if text), tone)
        else:
            self._write("\t".join(map(safe, texts)))

    def document(self, value: object) -> None:
        """Print one JSON document, indented."""
        self._write(json_text(value))

    def json_lines(self, values: Sequence[object]) -> None:
        """Print a JSON document a line."""
        self._out.write(json_lines(values))
        self._out.flush()

    def _write(self, text: str) -> None:
        self._out.write(f"{text}\n")
        self._out.flush()


def wants_colours(env: Mapping[str, str]) -> bool:
    """Whether a terminal is to be drawn on in colours."""
    return not env.get("NO_COLOR") and env.get("TERM") != "dumb"


def json_text(value: object) -> str:
    """Encode a value as JSON, indented; characters that could drive a terminal or hide in a name are escaped."""
    return _UNSAFE_IN_JSON.sub(_escaped, msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def json_lines(values: Sequence[object]) -> str:
    """Encode values as JSON, a line each, with the same escapes."""
    return _UNSAFE_IN_JSON.sub(_escaped, _ENCODER.encode_lines(values).decode())


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
