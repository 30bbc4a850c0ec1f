"""How long rows are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from services.errors import InputRefused
from services.memory.agents.model import CONVERSATION

_DAY = 86_400 * 1_000_000_000


@dataclass(frozen=True)
class Retention:
    """How many days rows are kept, by category; a category not named, or with 0, is kept for ever.

    Raises:
        InputRefused: A number of days is negative.
    """

    days: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({CONVERSATION: 30.0}))

    def __post_init__(self) -> None:
        for category, days in self.days.items():
            if not 0 <= days < 1_000_000:
                raise InputRefused(f"rows of {category} cannot be kept {days} days")

    def cutoffs(self, now: int) -> dict[str, int]:
        """Work out from when on rows are kept, nanoseconds since 1970."""
        return {category: now - round(days * _DAY) for category, days in self.days.items() if days}
