"""What every change made on this screen has in common: it is logged, and can be taken back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tui.memory_log import log
from tui.screens.memory.hiding import key_name
from tui.screens.memory.items import Item
from tui.screens.memory.places import Place

if TYPE_CHECKING:
    from services.memory import Change, Recorded, Scope
    from services.pinfold import Pinfold

Back = Callable[["Pinfold", bool], Awaitable[None]]
"""Takes a change back; with True also over what somebody changed since. Raises ChangedMeanwhile with False."""


@dataclass(frozen=True)
class Undo:
    """How the last change is taken back.

    Attributes:
        label: What was done, clean.
    """

    label: str
    back: Back


@dataclass(frozen=True)
class Outcome:
    """What an operation did.

    Attributes:
        said: A clause for the operator, not clean.
        lines: What it read, not clean.
        undo: None when nothing changed, or it cannot be taken back.
        item: The id of the row to go to; "" stays.
        place: Where that row is; None is the place that is shown.
    """

    said: str
    lines: Sequence[str] = ()
    undo: Undo | None = None
    item: str = ""
    place: Place | None = None


@dataclass(frozen=True)
class Subject:
    """What an operation is done to.

    Attributes:
        item: The row under the cursor; None when there is none.
    """

    pinfold: Pinfold
    place: Place
    item: Item | None

    @property
    def key(self) -> str:
        """The key of the row; "" without one."""
        return self.item.id if self.item is not None else ""


Values = Mapping[str, Any]
"""What was typed for each parameter, read."""


async def change_keys(
    pinfold: Pinfold,
    scope: Scope,
    watched: Sequence[str] | str,
    verb: str,
    call: Callable[[Recorded], Awaitable[Any]],
) -> tuple[Any, Undo | None]:
    """Change keys of a scope and log it; returns what the call returned, and how to take it back.

    Args:
        pinfold: The services.
        scope: Whose keys.
        watched: The keys it changes, or a pattern of them.
        verb: What is done, as the command line calls it.
        call: Does it.
    """
    recorded = pinfold.memory.scopes.recorded(scope, watched)
    result = await call(recorded)
    what = names_of([watched] if isinstance(watched, str) else watched)
    await log(pinfold, verb, f"{scope} {what}".rstrip())
    change = recorded.change
    return result, taking_back(f"{verb} {what}".rstrip(), change) if change is not None and change.keys else None


def names_of(keys: Sequence[str]) -> str:
    """The first of some keys as they may be drawn and logged."""
    return " ".join(key_name(key, reveal=False) for key in keys[:3])


def taking_back(label: str, *changes: Change) -> Undo:
    """How changes of keys are taken back, the last one first."""

    async def back(pinfold: Pinfold, anyway: bool) -> None:
        for change in reversed(changes):
            await pinfold.memory.scopes.take_back(change, anyway=anyway)
            await log(pinfold, "undo", f"{change.scope} {label}")

    return Undo(label, back)
