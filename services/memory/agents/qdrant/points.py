"""Rows as points of a collection, which have a payload and no vector."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from services.errors import MemoryUnavailable
from services.memory.agents.model import Row

_OURS = frozenset({"home", "key_digest"})


def digest(key: str) -> str:
    """What a key is found by, since a key may be longer than the server indexes."""
    return hashlib.sha256(key.encode()).hexdigest()


def payload_of(row: Row, home: str) -> dict[str, Any]:
    """Write a row as a payload."""
    return {**msgspec.to_builtins(row), "home": home, "key_digest": digest(row.key)}


def row_of(payload: Mapping[str, Any] | None) -> Row:
    """Read a row from a payload.

    Raises:
        MemoryUnavailable: It is none of ours, or was changed by somebody.
    """
    try:
        own = {name: value for name, value in (payload or {}).items() if name not in _OURS}
        return msgspec.convert(own, Row).checked()
    except (msgspec.ValidationError, ValueError) as error:
        raise _damaged(str(error)) from error


def _damaged(why: str) -> MemoryUnavailable:
    return MemoryUnavailable(
        "cannot read the memory in qdrant", why=f"a point of the collection is none of Pinfold's: {why}"
    )
