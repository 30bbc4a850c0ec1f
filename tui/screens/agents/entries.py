"""From what an operator did in a form to the change it makes in agent.toml."""

from __future__ import annotations

from services.agents import Agent, Change, dotted
from tui.screens.agents.fields import ACCESS, ACCESSES, FIELDS, Field, Path
from tui.screens.agents.form_rows import values_of

_BY_KEY = {dotted(path): field for path, field in FIELDS.items()}


def field_of(key: str) -> Field | None:
    """The field with a dotted key; None for a sibling's row and for what cannot be changed."""
    return _BY_KEY.get(key)


def path_of(key: str, siblings: tuple[str, ...]) -> Path | None:
    """The way to a row's key in agent.toml.

    Args:
        key: The row's.
        siblings: Aliases that have a row.
    """
    field = _BY_KEY.get(key)
    if field is not None:
        return field.path
    return next(((*ACCESS, alias) for alias in siblings if dotted((*ACCESS, alias)) == key), None)


def held_at(agent: Agent, field: Field, slot: int) -> str | None:
    """The entry at a place of a field, as it would be typed; None at the place for a new one."""
    values = values_of(agent, field)
    return values[slot] if slot < len(values) else None


def with_entry(agent: Agent, field: Field, slot: int, text: str) -> Change:
    """What typing a text at a place of a field changes; an empty text takes the entry, or the own value, away.

    Raises:
        ValueError: The text is no value of this field; says what is wanted.
    """
    if field.kind != "list":
        return Change(field.path, field.read(text) if text else None)
    values = list(values_of(agent, field))
    values[slot : slot + 1] = [text] if text else []
    return Change(field.path, tuple(values))


def slot_of(agent: Agent, field: Field, slot: int, entry: str | None) -> int:
    """Where an entry of a list is now that was at a place before; the place for a new one when it is gone."""
    if field.kind != "list" or (entry is not None and held_at(agent, field, slot) == entry):
        return slot
    values = values_of(agent, field)
    return values.index(entry) if entry is not None and entry in values else len(values)


def without_entry(agent: Agent, field: Field, slot: int, entry: str | None) -> list[Change]:
    """What taking an entry out of a list changes; nothing when it is gone already.

    Args:
        agent: The agent.
        field: The list.
        slot: Where the entry was when the operator saw it.
        entry: The entry.
    """
    slot = slot_of(agent, field, slot, entry)
    return [with_entry(agent, field, slot, "")] if slot < len(values_of(agent, field)) else []


def with_access(alias: str, column: int) -> Change:
    """What choosing a column of the matrix of siblings changes."""
    return Change((*ACCESS, alias), ACCESSES[column] if column < len(ACCESSES) else None)
