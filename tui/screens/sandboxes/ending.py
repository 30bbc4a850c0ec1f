"""Stopping, killing and removing: what is asked before, and what is done to each session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from services.errors import PinfoldError
from tui.figures import counted
from tui.screens.dialog import Confirm
from tui.states import state_word
from tui.store import SessionRow

if TYPE_CHECKING:
    from services.pinfold import Pinfold

Ending = Literal["stop", "kill", "remove"]


@dataclass(frozen=True)
class Outcome:
    """What became of a bulk action.

    Attributes:
        failed: What could not be done, and why.
    """

    done: int
    failed: tuple[PinfoldError, ...]


def concerned(ending: Ending, rows: Sequence[SessionRow]) -> list[SessionRow]:
    """The sessions an ending makes sense for."""
    return list(rows) if ending == "remove" else [row for row in rows if row.live]


def question(ending: Ending, rows: Sequence[SessionRow]) -> Confirm | None:
    """What to ask first; None when nothing need be asked: one session may be stopped at once, the ladder is gentle."""
    if ending == "stop" and len(rows) == 1:
        return None
    sessions = counted(len(rows), "session")
    lines = [line for row in rows for line in _lines(ending, row)]
    if ending == "stop":
        return Confirm(
            f"Stop {sessions}?", lines, "Each is interrupted, then terminated, then killed.", f"Stop {sessions}"
        )
    if ending == "kill":
        return Confirm(f"Kill {sessions}?", lines, "What they hold and have not written is lost.", f"Kill {sessions}")
    return Confirm(f"Remove {sessions}?", lines, _loss(rows), f"Remove {sessions}")


def _lines(ending: Ending, row: SessionRow) -> list[str]:
    head = f"{row.agent}  {row.id}  {state_word(row)}"
    if ending != "remove":
        return [head]
    if row.orphan is not None:
        return [f"{row.agent}  sandbox {row.orphan.sandbox} on {row.engine}, without a record"]
    kill = "  it runs and is killed first" if row.live else ""
    return [f"{head}{kill}", f"    its sandbox on {row.engine}, its record and its output"]


def _loss(rows: Sequence[SessionRow]) -> str:
    kept = "Workspaces stay as they are." if any(row.workspace for row in rows) else ""
    return f"This cannot be undone. {kept}".strip()


async def end(pinfold: Pinfold, ending: Ending, row: SessionRow) -> None:
    """Carry out one ending.

    Raises:
        PinfoldError: It could not be done.
    """
    sandboxes = pinfold.sandboxes
    if row.orphan is not None:
        await sandboxes.remove_orphan(row.orphan)
    elif ending == "stop":
        await sandboxes.stop(row.id)
    elif ending == "kill":
        await sandboxes.kill(row.id)
    else:
        await sandboxes.remove(row.id, force=row.live)
