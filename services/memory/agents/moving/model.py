"""A move as those who ask for it see it."""

from __future__ import annotations

from typing import Literal

import msgspec

MoveStage = Literal["copy", "verify", "switch", "remove", "done"]
"""What a move does one after the other; `switch` is told when the target counts, before `agent.toml` says so."""


class MovePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What a move would do.

    Attributes:
        alias: The agent.
        source: The back-end its memory is in.
        target: The one it would be in.
        rows: How many memories would be moved.
        there: How many memories the target has of it already; they stay beside those that are moved.
        resumed: A move that was interrupted would go on.
    """

    alias: str
    source: str
    target: str
    rows: int
    there: int
    resumed: bool = False


class MoveProgress(msgspec.Struct, frozen=True):
    """How far a move is.

    Attributes:
        rows: Memories that went through the stage.
        total: Those that will, as far as it is known.
    """

    stage: MoveStage
    rows: int
    total: int
