"""The columns of the table, for each kind of place."""

from __future__ import annotations

from collections.abc import Callable

from tui.figures import SECOND, ago, duration, moment, size
from tui.glyphs import glyphs
from tui.looks import Tone
from tui.screens.memory.items import Item
from tui.screens.memory.places import (
    AgentRows,
    ArchiveOf,
    CoreBlocksOf,
    FoundRows,
    OpenContexts,
    Place,
    ScopesOf,
    StepsOf,
)
from tui.widgets.table import Cell, Column, Span, cell

_SOON_SECONDS = 60
_STATES: dict[str, Tone] = {"open": "good", "running": "good", "failed": "bad", "interrupted": "warn"}

Now = Callable[[], int]


def columns_of(place: Place, now: Now) -> list[Column[Item]]:
    """The columns for the rows of a place.

    Args:
        place: What is shown.
        now: The clock, nanoseconds since 1970.
    """
    updated: Column[Item] = Column(
        "updated", "UPDATED", lambda item, width: _updated(item, width, now()), None, 7, 1, 19, right=True, drop=2
    )
    preview: Column[Item] = Column("preview", "VALUE", lambda item, _: preview_cell(item), None, 24, grow=5)
    length: Column[Item] = Column(
        "size", "SIZE", lambda item, _: cell(size(item.size), "muted"), None, 4, right=True, drop=3
    )
    match place:
        case ScopesOf():
            return []
        case AgentRows():
            return [
                _name("KEY"),
                Column("category", "CATEGORY", lambda item, _: cell(item.category), None, 8, grow=1, most=12, drop=4),
                Column("importance", "IMP", _importance, None, 4, right=True, drop=2),
                Column("standing", "", lambda item, _: standing_cell(item), None, 10),
                Column(
                    "session", "SESSION", lambda item, _: cell(item.session, "muted"), None, 8, most=16, grow=1, drop=1
                ),
                Column(
                    "age",
                    "AGE",
                    lambda item, _: cell(ago(item.updated_at, now()), "muted"),
                    None,
                    4,
                    right=True,
                    drop=3,
                ),
                Column("preview", "CONTENT", lambda item, _: preview_cell(item), None, 24, grow=7),
            ]
        case CoreBlocksOf():
            return [
                Column("name", "BLOCK", lambda item, _: cell(item.name, "strong"), None, 16),
                Column("room", "CHARACTERS", lambda item, _: _room(item), None, 14, right=True),
                updated,
                preview,
            ]
        case ArchiveOf():
            return [
                Column("age", "AGE", lambda item, _: cell(ago(item.updated_at, now()), "muted"), None, 4, right=True),
                length,
                Column("preview", "CONTENT", lambda item, _: preview_cell(item), None, 20, grow=5),
            ]
        case OpenContexts() | StepsOf():
            name = "CONTEXT" if isinstance(place, OpenContexts) else "STEP"
            return [
                _name(name),
                Column("state", "STATE", lambda item, _: cell(item.state, _STATES.get(item.state, "muted")), None, 11),
                updated,
                Column("preview", "ABOUT", lambda item, _: cell(item.preview, "muted"), None, 8, grow=4, drop=1),
            ]
        case FoundRows():
            return [
                Column("where", "WHERE", lambda item, _: cell(item.place.title, "accent"), None, 12, grow=2),
                _name("KEY"),
                Column("type", "TYPE", lambda item, _: cell(item.type, "muted"), None, 8, grow=1, most=13, drop=1),
                preview,
            ]
    return [
        _name("KEY"),
        Column("type", "TYPE", lambda item, _: cell(item.type, "muted"), None, 8, grow=1, most=14, drop=4),
        length,
        Column("left", "LEFT", lambda item, _: left_cell(item, now()), None, 6, right=True),
        updated,
        preview,
    ]


def _name(label: str) -> Column[Item]:
    return Column("name", label, lambda item, _: _named(item), None, 12, grow=3, most=60)


def _named(item: Item) -> Cell:
    return cell(item.name, "muted" if item.superseded else "strong")


def preview_cell(item: Item) -> Cell:
    """The beginning of the content, behind a sign where the scan found something."""
    if item.findings:
        return (Span(f"{glyphs().warning} ", "warn"), Span(item.preview, "muted"))
    return cell(item.preview, "muted")


def left_cell(item: Item, now: int) -> Cell:
    """How long a key has to live."""
    if item.expires_at is None:
        return cell("never", "muted")
    seconds = (item.expires_at - now) / SECOND
    return cell("gone" if seconds <= 0 else duration(seconds), "warn" if seconds < _SOON_SECONDS else "")


def standing_cell(item: Item) -> Cell:
    """Whether a row of an agent is recalled, and kept."""
    signs = glyphs()
    if item.withheld:
        return cell(f"{signs.warning} withheld", "bad")
    if item.superseded:
        return cell("superseded", "muted")
    if item.findings:
        return cell(f"{signs.warning} secret", "warn")
    return cell(f"{signs.chosen} pinned", "accent") if item.pinned else ()


def _importance(item: Item, _: int) -> Cell:
    return cell("" if item.importance is None else f"{item.importance:.2f}", "muted")


def _room(item: Item) -> Cell:
    limit = item.of.block.limit
    return cell(f"{item.size:,} of {limit:,}", "warn" if item.size > limit * 0.9 else "")


def _updated(item: Item, width: int, now: int) -> Cell:
    if width >= 19:
        return cell(moment(item.updated_at), "muted")
    return cell(ago(item.updated_at, now), "muted")
