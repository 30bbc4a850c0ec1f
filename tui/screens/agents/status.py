"""How editing an agent stands, on one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from services.errors import ConfigError
from tui.figures import counted
from tui.glyphs import glyphs
from tui.screens.agents.standing import Standing
from tui.text import safe
from tui.widgets.status_rule import Part


def status_parts(standing: Standing, key_of: Callable[[str], str]) -> tuple[Part, ...]:
    """Say what is not saved, what it means, and which keys settle it.

    Args:
        standing: How editing stands.
        key_of: The key of an action, by its id, as people read it.
    """
    return tuple(_parts(standing, key_of))


def _parts(standing: Standing, key_of: Callable[[str], str]) -> Iterator[Part]:
    def key(action: str, label: str) -> Part:
        return Part(f"{key_of(action)} {label}", "accent", action)

    warning = glyphs().warning
    count = counted(standing.count, "change")
    if standing.refusal is not None:
        yield Part(f"{warning} read only", "bad")
        if standing.count:
            yield Part(f"{count} kept", "strong")
        yield Part(_said(standing.refusal), "bad", gives_way=True)
        yield key("agent.problem", "show the line")
        return
    sheet = standing.sheet
    if standing.count and sheet is not None:
        yield Part(count, "strong")
        if sheet.differences:
            first, *others = sheet.differences
            more = f", and {len(others)} more" if others else ""
            yield Part(f"{safe(first.text)}{more}", "warn" if first.widens else "muted", gives_way=True)
        elif sheet.trouble:
            yield Part(safe(sheet.trouble), "bad", gives_way=True)
        if sheet.widens:
            yield Part(f"{warning} widens", "warn")
    if standing.diverged:
        yield Part(f"{warning} changed on disk", "warn")
        yield key("agent.compare", "compare")
    elif standing.count:
        yield key("agent.save", "save")
    elif standing.undo is not None:
        yield Part("saved", "good")
        yield key("agent.undo", "undo")
    elif sheet is not None and sheet.trouble:
        yield Part(f"{warning} {safe(sheet.trouble)}", "bad", gives_way=True)


def _said(error: ConfigError) -> str:
    place = f"line {error.line}: " if error.line else ""
    return safe(f"{place}{error.what}")
