"""The four scopes, and what a namespace tells of its keys."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Final, Literal, Self

import msgspec

from services.errors import ChangedMeanwhile, InputRefused
from services.memory.screening import masked

NAME_LIMIT = 65_536
"""The most bytes of an id or a key, in UTF-8."""

LONGEST = 100 * 366 * 86_400
"""The most seconds a key can be given to live, short of for ever."""

_QUOTED = 8192

Kind = Literal["null", "boolean", "integer", "number", "text", "list", "object"]
"""What kind of JSON a value is; a whole number is an `integer`, any other a `number`."""


class Missing(Enum):
    """The type of `MISSING`."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING
"""What reading gives where nothing is stored; a stored null is `None`."""

Json = Any
"""None, bool, int, float, str, or a list or dict of these."""


class ScopeKind(StrEnum):
    """Whose keys they are."""

    USER = "user"
    TEAM = "team"
    CHAT = "chat"
    CONTEXT = "context"

    @property
    def default_ttl(self) -> float | None:
        """Seconds a key lives unless told otherwise; None is for ever."""
        return _DEFAULT_TTL[self]


_DEFAULT_TTL: dict[ScopeKind, float | None] = {
    ScopeKind.USER: None,
    ScopeKind.TEAM: None,
    ScopeKind.CHAT: 24 * 3600.0,
    ScopeKind.CONTEXT: 30 * 60.0,
}


@dataclass(frozen=True, slots=True)
class Scope:
    """One of the four kinds with an id; two scopes never share a key.

    Attributes:
        id: Any text but the empty one; `:`, `*` and the like mean nothing in it.

    Raises:
        InputRefused: The id is empty, too long or no text.
    """

    kind: ScopeKind
    id: str

    def __post_init__(self) -> None:
        check_name(self.id, f"the id of a {self.kind} scope")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `user:42`; everything after the first colon is the id.

        Raises:
            InputRefused: There is no such kind, or no acceptable id.
        """
        kind, colon, scope_id = text.partition(":")
        kinds = ", ".join(ScopeKind)
        if not colon or kind not in set(ScopeKind):
            raise InputRefused(f"{shortened(text)} is no scope", fix=f"Write KIND:ID, such as user:42; kinds: {kinds}.")
        return cls(ScopeKind(kind), scope_id)

    @property
    def prefix(self) -> str:
        """How a screen marks its keys; nothing is ever looked up by it."""
        return f"{self}:"

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"


class ScopeCount(msgspec.Struct, frozen=True):
    """A scope with how many keys it has."""

    scope: Scope
    keys: int


class Entry(msgspec.Struct, frozen=True):
    """A key as a table shows it.

    Attributes:
        preview: The beginning of its JSON.
        size: Bytes of its JSON.
        length: Items of a list; 0 for other kinds.
        expires_at: Nanoseconds since 1970; None is never.
        updated_at: Nanoseconds since 1970.
    """

    key: str
    kind: Kind
    preview: str
    size: int
    length: int
    expires_at: int | None
    updated_at: int


class Kept(msgspec.Struct, frozen=True):
    """A key with its whole value, as snapshots and exports hold it.

    Attributes:
        value: JSON.
        remaining: Nanoseconds left to live; None is for ever.
    """

    key: str
    value: msgspec.Raw
    remaining: int | None = None


class Snapshot(msgspec.Struct, frozen=True):
    """Everything in one namespace at one moment; later changes do not reach it.

    Attributes:
        scope: The kind.
        taken_at: Nanoseconds since 1970.
        entries: Sorted by key.
    """

    scope: ScopeKind
    id: str
    taken_at: int
    entries: tuple[Kept, ...]

    def values(self) -> dict[str, Json]:
        """The values by key, each call a new copy."""
        return {entry.key: msgspec.json.decode(entry.value) for entry in self.entries}


class Stats(msgspec.Struct, frozen=True):
    """What there is in one namespace.

    Attributes:
        scope: The kind.
        keys: How many that have not expired.
        store: The database's file.
    """

    scope: ScopeKind
    id: str
    keys: int
    store: str


def check_name(name: str, what: str) -> str:
    """Return an id or key that can be stored.

    Args:
        name: The id or key.
        what: What it is, for the message.

    Raises:
        InputRefused: It is empty, too long or no text.
    """
    if not isinstance(name, str):
        raise InputRefused(f"{what} is not a text", why=f"it is of type {type(name).__name__}")
    if not name:
        raise InputRefused(f"{what} is empty")
    if len(name) > NAME_LIMIT:
        raise InputRefused(f"{what} is too long", why=f"at most {NAME_LIMIT:,} bytes are kept")
    if name.isascii():
        return name
    try:
        size = len(name.encode())
    except UnicodeEncodeError as error:
        raise InputRefused(f"{what} is not a text", why="it holds half a character (a lone surrogate)") from error
    if size > NAME_LIMIT:
        raise InputRefused(f"{what} is too long", why=f"it has {size:,} bytes, at most {NAME_LIMIT:,} are kept")
    return name


def check_key(key: str) -> str:
    """Return a key that can be stored.

    Raises:
        InputRefused: It is empty, too long or no text.
    """
    return check_name(key, "the key")


def check_kept(entry: Kept) -> Kept:
    """Return an entry whose key and time can be stored; its value is looked at when it is.

    Raises:
        InputRefused: The key is empty, too long or no text, or the time is not between now and a hundred years.
    """
    check_key(entry.key)
    if entry.remaining is not None and not 0 < entry.remaining <= LONGEST * 1_000_000_000:
        raise InputRefused(f"{shortened(entry.key)} cannot live {entry.remaining} nanoseconds from now")
    return entry


def changed_meanwhile(key: str) -> ChangedMeanwhile:
    """Say that a key does not hold what somebody saw there."""
    return ChangedMeanwhile(
        f"{shortened(key)} was not written", why="it was changed meanwhile", fix="Look at both and choose."
    )


def shortened(text: str) -> str:
    """Quote an id or key for a message, secrets hidden."""
    shown = masked(text[:_QUOTED])
    return repr(shown if len(shown) <= 60 else f"{shown[:59]}…")
