"""The JSON that `pinfold memory` prints; see `tui.verbs.documents`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tui.verbs.documents import rfc3339

if TYPE_CHECKING:
    from services.memory import Entry, Json, Scope, Step


class ValueDocument(msgspec.Struct, frozen=True):
    """A key's value, or one item of a list; `found` is false where nothing is, and `value` null then."""

    scope: str
    key: str
    found: bool
    value: object


class CountDocument(msgspec.Struct, frozen=True):
    """How many: keys, items of a list that were added or taken, or the items of a list that was pushed to."""

    scope: str
    count: int
    key: str | None = None


class ItemsDocument(msgspec.Struct, frozen=True):
    """Items of a list."""

    scope: str
    key: str
    items: list[object]


class FilledDocument(msgspec.Struct, frozen=True):
    """Many values by key; null where nothing is, and then the key is in `missing`."""

    scope: str
    values: dict[str, object]
    missing: tuple[str, ...]


class KeyDocument(msgspec.Struct, frozen=True):
    """A key; `preview` is the beginning of its JSON, `length` that of a list, `expires_at` null for never.

    Secrets in `preview` are masked unless they were asked for.
    """

    key: str
    kind: str
    preview: str
    size: int
    length: int
    expires_at: str | None
    updated_at: str | None

    @classmethod
    def of(cls, entry: Entry, *, reveal: bool) -> KeyDocument:
        """Describe a key."""
        times = rfc3339(entry.expires_at), rfc3339(entry.updated_at)
        return cls(entry.key, entry.kind, previewed(entry, reveal=reveal), entry.size, entry.length, *times)


class StatsDocument(msgspec.Struct, frozen=True):
    """What one scope holds, and in which file."""

    scope: str
    kind: str
    id: str
    keys: int
    store: str


class StepDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the work in a context; `resumable` tells whether `resume` takes it."""

    id: str
    context: str
    number: int
    type: str
    state: str
    resumable: bool
    parent: str
    stack: str
    depth: int
    chat: str
    request: str
    input: object
    output: object
    error: str
    started_at: str | None
    ended_at: str | None
    used_at: str | None

    @classmethod
    def of(cls, step: Step) -> StepDocument:
        """Describe a step."""
        return cls(
            id=step.id,
            context=step.context,
            number=step.number,
            type=step.type.value,
            state=step.state,
            resumable=step.resumable,
            parent=step.parent,
            stack=step.stack,
            depth=step.depth,
            chat=step.chat,
            request=step.request,
            input=step.input,
            output=step.output,
            error=step.error,
            started_at=rfc3339(step.started_at),
            ended_at=rfc3339(step.ended_at),
            used_at=rfc3339(step.used_at),
        )


def previewed(entry: Entry, *, reveal: bool) -> str:
    """The beginning of a key's JSON, secrets masked unless they were asked for."""
    from services.memory import masked

    return entry.preview if reveal else masked(entry.preview, cut=len(entry.preview) < entry.size)


def value_document(scope: Scope, key: str, value: Json) -> ValueDocument:
    """Describe a value or what is given where there is none."""
    from services.memory import MISSING

    found = value is not MISSING
    return ValueDocument(str(scope), key, found, value if found else None)
