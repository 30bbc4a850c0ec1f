"""Every place in a TOML file that names an agent, or a path that may lie in an agent's directory.

The check of a file, a plan to rename or delete, and the screen all ask this, so that none knows less than another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from services.agents.problems import KeyPath

MentionKind = Literal["delegate", "access", "read_memory_from", "path", "workspace"]

DELEGATES: KeyPath = ("agent", "delegates")
ACCESS: KeyPath = ("workspace", "access")
READ_MEMORY_FROM: KeyPath = ("memory", "read_memory_from")

_WORKSPACE: KeyPath = ("workspace", "path")
_PATH_LISTS = ("allowed_roots", "forbidden_paths")


class Mention(msgspec.Struct, frozen=True):
    """One place that names an agent or a path.

    Attributes:
        path: The way to the text, or to the key that is the alias.
        text: The alias, or the path as written.
        value: What is said of it: the mode of a delegate or an access; "" otherwise.
    """

    kind: MentionKind
    path: KeyPath
    text: str
    value: str = ""

    @property
    def is_alias(self) -> bool:
        """Whether it names an agent, not a path."""
        return self.kind not in ("path", "workspace")


def mentions_in_agent(table: Mapping[str, Any]) -> Iterator[Mention]:
    """Find every mention in an `agent.toml`; values of a wrong kind are passed over.

    Args:
        table: What the file says, as plain values.
    """
    for number, delegate in enumerate(_items(table, DELEGATES)):
        if isinstance(delegate, Mapping) and isinstance(delegate.get("agent"), str):
            mode = str(delegate.get("mode", "bounded"))
            yield Mention("delegate", (*DELEGATES, number, "agent"), delegate["agent"], mode)
    for alias, mode in _table(table, ACCESS).items():
        yield Mention("access", (*ACCESS, alias), alias, str(mode))
    yield from _texts(table, READ_MEMORY_FROM, "read_memory_from")
    workspace = _table(table, _WORKSPACE[:-1]).get("path")
    if isinstance(workspace, str) and workspace:
        yield Mention("workspace", _WORKSPACE, workspace)
    for name in _PATH_LISTS:
        yield from _texts(table, ("permissions", name), "path")


def mentions_in_shared(table: Mapping[str, Any]) -> Iterator[Mention]:
    """Find every mention in `pinfold.toml`; values of a wrong kind are passed over.

    Args:
        table: What the file says, as plain values.
    """
    yield from _texts(table, ("defaults", *READ_MEMORY_FROM), "read_memory_from")
    for profile in _table(table, ("risk_profiles",)):
        for name in _PATH_LISTS:
            yield from _texts(table, ("risk_profiles", profile, name), "path")


def _texts(table: Mapping[str, Any], path: KeyPath, kind: MentionKind) -> Iterator[Mention]:
    for number, text in enumerate(_items(table, path)):
        if isinstance(text, str):
            yield Mention(kind, (*path, number), text)


def _items(table: Mapping[str, Any], path: KeyPath) -> Sequence[Any]:
    found = _table(table, path[:-1]).get(str(path[-1]))
    return found if isinstance(found, list | tuple) else ()


def _table(table: Mapping[str, Any], path: KeyPath) -> Mapping[str, Any]:
    found: Any = table
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}
