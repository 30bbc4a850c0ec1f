"""What a back-end holds of an agent, small enough to be compared: a digest a row."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec

from services.memory.agents.model import Row


def key_digest(key: str) -> str:
    """What a key is compared by."""
    return hashlib.sha256(key.encode()).hexdigest()[:32]


class Contents:
    """The rows of one agent; some 250 bytes a row."""

    def __init__(self) -> None:
        self._digests: dict[str, bytes] = {}
        self._keys: dict[str, str] = {}
        self._replaced: dict[str, str] = {}

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows in."""
        for row in rows:
            key = key_digest(row.key)
            self._digests[key] = _digest(row)
            self._keys[row.id] = key
            if row.superseded_by:
                self._replaced[key] = row.superseded_by

    def __len__(self) -> int:
        return len(self._digests)

    def __contains__(self, key: str) -> bool:
        return key_digest(key) in self._digests

    @property
    def keys(self) -> frozenset[str]:
        """The digests of all keys."""
        return frozenset(self._digests)

    def holds(self, row: Row) -> bool:
        """Whether a row is among them just as it is."""
        return self._digests.get(key_digest(row.key)) == _digest(row)

    def differences(self, other: Contents) -> list[str]:
        """The digests of keys whose rows here are not the same there, or are replaced by another row there."""
        return [
            key
            for key, digest in self._digests.items()
            if other._digests.get(key) != digest or self._replacing(key) != other._replacing(key)
        ]

    def _replacing(self, key: str) -> str:
        """The row that replaced one, by its key; by its id where there is no such row any more."""
        by = self._replaced.get(key, "")
        return self._keys.get(by, by)


def _digest(row: Row) -> bytes:
    """Everything of a row but what belongs to where it is kept: its id and whose it is."""
    kept = msgspec.structs.replace(
        row,
        id="",
        agent="",
        agent_id="",
        superseded_by="yes" if row.superseded_by else "",
        findings=tuple(sorted(row.findings)),
    )
    return hashlib.sha256(msgspec.json.encode(kept)).digest()[:16]
