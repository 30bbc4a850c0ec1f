"""Mentions of an agent changed, dropped and put back in TOML that people wrote, with everything else left as it is."""

from __future__ import annotations

import codecs
import copy
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from services.agents.editing import Change, with_changes
from services.agents.mentions import ACCESS, DELEGATES, READ_MEMORY_FROM, Mention
from services.agents.positions import find_layout
from services.agents.problems import KeyPath, Problem, dotted
from services.agents.reading import decoded, parsed
from services.agents.rendering import rendered, rendered_key
from services.agents.values import MISSING, same, value_at
from services.errors import ConfigError

_KEY = re.compile(r'[ \t]*(?:"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|[A-Za-z0-9_-]+)[ \t]*')


_PLACE_IN_LIST = re.compile(r"(?P<list>.+)\[(?P<place>[0-9]{1,9})\]")


class Dropped(msgspec.Struct, frozen=True):
    """A mention that was taken out, with all it takes to put it back.

    Attributes:
        path: The key, or the entry of a list, that went.
        entry: Its value in TOML.
    """

    path: KeyPath
    entry: str

    @classmethod
    def read(cls, key: str, entry: str) -> Dropped:
        """Make one of its dotted key, such as `agent.delegates[0]`, and its value in TOML.

        Raises:
            ConfigError: The key is none.
        """
        from services.agents.assigning import read_key

        found = _PLACE_IN_LIST.fullmatch(key)
        path: KeyPath = read_key(found["list"] if found else key)
        return cls((*path, int(found["place"])) if found else path, entry)

    @property
    def key(self) -> str:
        """The path as people write it."""
        return dotted(self.path)


def mention_renamed(data: bytes, mention: Mention, text: str, file: Path) -> bytes:
    """Write another alias or path where a mention stands.

    Args:
        data: The whole file.
        mention: As found in it.
        text: What is to stand there.
        file: Named in errors.

    Raises:
        ConfigError: The file is not TOML, or this cannot be done without touching something else.
    """
    source, table = _read(data, file)
    wanted = copy.deepcopy(table)
    layout = find_layout(source)
    around: Any = value_at(wanted, mention.path[:-1])
    last = mention.path[-1]
    if mention.kind == "access":
        entry = next((entry for entry in layout.entries if entry.path == mention.path and not entry.header), None)
        if entry is None or text in around:
            raise _refused(mention, file)
        start = _last_key(source, entry.start, len(entry.path) - len(entry.table))
        spaced = _KEY.match(source, start)
        assert spaced is not None
        key = spaced[0].strip()
        at = source.index(key, start)
        changed = source[:at] + rendered_key(text) + source[at + len(key) :]
        around[text] = around.pop(str(last))
    else:
        place = layout.places.get(mention.path)
        if place is None or place.end <= place.start:
            raise _refused(mention, file)
        literal = source.startswith("'", place.start) and not source.startswith("'''", place.start)
        changed = source[: place.start] + rendered(text, literal=literal) + source[place.end :]
        around[last] = text
    found = parsed(changed, file)
    if isinstance(found, Problem) or not same(found, wanted):
        raise _refused(mention, file)
    return _encoded(changed, data)


def mention_dropped(data: bytes, mention: Mention, file: Path) -> tuple[bytes, Dropped]:
    """Take a mention out, and return what puts it back.

    Args:
        data: The whole file.
        mention: As found in it.
        file: Named in errors.

    Raises:
        ConfigError: The file is not TOML, or this cannot be done without touching something else.
    """
    _, table = _read(data, file)
    path = _entry_path(mention)
    value: Any = value_at(table, path)
    if value is MISSING:
        raise _refused(mention, file)
    dropped = Dropped(path, rendered(value))
    if not isinstance(path[-1], int):
        return with_changes(data, (Change(_keys(path), None),), file), dropped
    items: Any = list(_items(table, path[:-1]))
    del items[path[-1]]
    blocks = find_layout(_read(data, file)[0]).places.get(path[:-1])
    as_blocks = blocks is not None and blocks.end <= blocks.start
    change = Change(_keys(path[:-1]), None if as_blocks and not items else items)
    return with_changes(data, (change,), file), dropped


def mention_restored(data: bytes, dropped: Dropped, alias: str, file: Path) -> bytes:
    """Put a mention back that was dropped; a file that names the agent there already stays as it is.

    Args:
        data: The whole file.
        dropped: What was dropped.
        alias: What the agent is called now.
        file: Named in errors.

    Raises:
        ConfigError: The file is not TOML, or this cannot be done without touching something else.
    """
    _, table = _read(data, file)
    if not _names_an_agent(dropped.path):
        raise ConfigError("is no place that names an agent", file=file, key=dropped.key)
    entry = parsed(f"entry = {dropped.entry}", file)
    if isinstance(entry, Problem) or entry.keys() != {"entry"}:
        raise ConfigError("is not the value of a key", file=file, key=dropped.key)
    value, path = entry["entry"], dropped.path
    if not isinstance(path[-1], int):
        return with_changes(data, (Change((*_keys(path[:-1]), alias), value),), file)
    value = {**value, "agent": alias} if isinstance(value, Mapping) else alias
    items: Any = list(_items(table, path[:-1]))
    if any(_alias_of(item) == _alias_of(value) for item in items):
        return data
    items.insert(min(path[-1], len(items)), value)
    return with_changes(data, (Change(_keys(path[:-1]), items),), file)


def table_in(data: bytes, file: Path) -> dict[str, Any]:
    """Read a TOML file as plain values.

    Raises:
        ConfigError: It is none.
    """
    return _read(data, file)[1]


def _read(data: bytes, file: Path) -> tuple[str, dict[str, Any]]:
    text = decoded(data, file)
    if isinstance(text, Problem):
        raise text.as_error()
    table = parsed(text, file)
    if isinstance(table, Problem):
        raise table.as_error()
    return text, table


def _entry_path(mention: Mention) -> KeyPath:
    """The key, or the entry of a list, that goes when the mention goes."""
    size = len(DELEGATES)
    return mention.path[: size + 1] if mention.path[:size] == DELEGATES else mention.path


def _names_an_agent(path: KeyPath) -> bool:
    """Whether a key, or an entry of a list, is one that names an agent: what is put back may come from an archive."""
    if isinstance(path[-1], int):
        return path[:-1] in (DELEGATES, READ_MEMORY_FROM, ("defaults", *READ_MEMORY_FROM))
    return path[:-1] == ACCESS


def _keys(path: KeyPath) -> tuple[str, ...]:
    return tuple(str(key) for key in path)


def _items(table: Mapping[str, Any], path: KeyPath) -> Sequence[Any]:
    found = value_at(table, path)
    return found if isinstance(found, list) else ()


def _alias_of(item: object) -> object:
    return item.get("agent") if isinstance(item, Mapping) else item


def _last_key(source: str, at: int, count: int) -> int:
    """Where the last of some dotted keys begins."""
    for _ in range(count - 1):
        found = _KEY.match(source, at)
        assert found is not None  # the text was read by the same rules
        at = found.end() + 1
    return at


def _encoded(text: str, before: bytes) -> bytes:
    bom = codecs.BOM_UTF8 if before.startswith(codecs.BOM_UTF8) else b""
    return bom + text.encode("utf-8")


def _refused(mention: Mention, file: Path) -> ConfigError:
    return ConfigError(
        "cannot be changed without touching other lines",
        file=file,
        key=dotted(mention.path),
        fix="Change it in an editor.",
    )
