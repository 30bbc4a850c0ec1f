"""From the bytes of a TOML file to a typed config, or to every problem with its line and key."""

from __future__ import annotations

import codecs
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from services.agents.model import AgentConfig, PinfoldConfig
from services.agents.presets import with_presets
from services.agents.problems import Fault, Problem, dotted
from services.errors import ConfigError, PinfoldError
from services.home import read_file

ConfigT = TypeVar("ConfigT", AgentConfig, PinfoldConfig)

LIMIT = 1024 * 1024
"""The largest TOML file taken, bytes."""

_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_ENDLESS = re.compile(r"[+-]?[0-9][0-9_]{4000}")
_WORDS = {
    "Cannot overwrite a value": "this key is there already",
    "Cannot mutate immutable namespace": "this table is closed; its keys must be inside it",
    "Invalid statement": "this is neither a key, a [table] nor a comment",
    "Invalid value": "this is not a value; text needs quotes",
    "Unclosed array": "a list is not closed",
    "Expected newline or end of document after a statement": "something follows that does not belong on this line",
    "Expected '=' after a key in a key/value pair": "a key needs an = and a value",
    "Unescaped '\\' in a string": "this escape is unknown; a backslash is written \\\\",
}


class Reading(msgspec.Struct, Generic[ConfigT], frozen=True):
    """What a file turned out to be.

    Attributes:
        config: None when there are problems.
        problems: Errors only, by line.
    """

    config: ConfigT | None
    problems: tuple[Problem, ...] = ()


def read_config(data: bytes, file: Path, kind: type[ConfigT]) -> Reading[ConfigT]:
    """Turn the bytes of a file into its typed config.

    Args:
        data: As read from disk; a BOM and CRLF line ends are welcome.
        file: Named in the problems.
        kind: What the file should hold.
    """
    text = decoded(data, file)
    if isinstance(text, Problem):
        return Reading(None, (text,))
    table = parsed(text, file)
    if isinstance(table, Problem):
        return Reading(None, (table,))
    try:
        return Reading(msgspec.convert(with_presets(table) if kind is PinfoldConfig else table, kind))
    except msgspec.ValidationError as error:
        from services.agents.checking import find_faults

        faults = find_faults(table, kind) or [Fault((), str(error))]
        return Reading(None, located(faults, data, file))


def usable_data(file: Path) -> bytes:
    """Read an `agent.toml` that can be built on; empty when it is missing. Blocks on the disk.

    Raises:
        ConfigError: It cannot be read, or has errors; names the first.
    """
    try:
        data = read_file(file, LIMIT).data
    except FileNotFoundError:
        return b""
    except PinfoldError as error:
        raise ConfigError(error.why or error.what, file=file, fix=error.fix) from error
    for problem in read_config(data, file, AgentConfig).problems:
        raise problem.as_error()
    return data


def decoded(data: bytes, file: Path) -> str | Problem:
    """Turn bytes into text without its BOM."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Problem("the file is UTF-16", file, fix="Save it as UTF-8.")
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Problem(f"the byte 0x{data[error.start]:02x} is not UTF-8", file, line, fix="Save the file as UTF-8.")


def parsed(text: str, file: Path) -> dict[str, Any] | Problem:
    """Turn text into a table; a file with nothing in it is a problem, since editors leave one for a moment."""
    if not text.strip():
        return Problem("the file is empty", file)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return _not_toml(error, text, file)
    except RecursionError:
        return Problem("lists or tables are nested too deeply", file)
    except ValueError:  # Python refuses to convert numbers of thousands of digits
        return _endless_number(text, file)


def _not_toml(error: tomllib.TOMLDecodeError, text: str, file: Path) -> Problem:
    message = str(error)
    place = _PLACE.search(message)
    reason = message[: place.start()] if place else message
    reason = _WORDS.get(reason, reason[:1].lower() + reason[1:])
    if place and place[1]:
        return Problem(f"not TOML: {reason} (column {place[2]})", file, int(place[1]))
    line = text.rstrip().count("\n") + 1
    return Problem(f"not TOML: {reason}, at the end of the file", file, line)


def _endless_number(text: str, file: Path) -> Problem:
    from services.agents.positions import find_places

    for path, place in find_places(text).items():
        if _ENDLESS.match(text, place.start, place.end):
            return Problem("the number is far too long", file, place.line, dotted(path))
    return Problem("a number is far too long", file)


def located(faults: Iterable[Fault], data: bytes, file: Path) -> tuple[Problem, ...]:
    """Say on which lines of a file faults stand, and order them so.

    Args:
        faults: What is wrong.
        data: The file's bytes; without any fault they are not looked at.
        file: Named in the problems.
    """
    faults = tuple(faults)
    if not faults:
        return ()
    from services.agents.positions import find_places, line_of  # only files with faults pay for it

    text = decoded(data, file)
    places = find_places(text) if isinstance(text, str) else {}
    found = [
        Problem(fault.message, file, line_of(fault.path, places), dotted(fault.path), fault.severity, fault.fix)
        for fault in faults
    ]
    return tuple(sorted(found, key=lambda problem: problem.line))
