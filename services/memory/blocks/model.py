"""Core blocks, archive entries and tenants, as those who use them see them."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

import msgspec

from services.errors import InputRefused
from services.memory.scopes.model import shortened

ENTRY_LIMIT = 64 * 1024
"""The most bytes of an archive entry, in UTF-8."""


class Block(StrEnum):
    """A text that an agent always sees."""

    PERSONA = "persona"
    HUMAN = "human"
    WORKING_CONTEXT = "working_context"

    @property
    def limit(self) -> int:
        """The most characters it holds."""
        return 4000 if self is Block.WORKING_CONTEXT else 2000

    @property
    def heading(self) -> str:
        """How it is called for people and models."""
        return self.value.replace("_", " ").title()

    @classmethod
    def parse(cls, name: str) -> Self:
        """Find a block by its name.

        Raises:
            InputRefused: There is no such block.
        """
        if name not in set(Block):
            raise InputRefused(f"there is no core block {shortened(name)}", fix=f"There are: {', '.join(Block)}.")
        return cls(name)


class Tenant(msgspec.Struct, frozen=True):
    """Whose core blocks, archive and history they are: an agent's own, or those of a role it calls.

    Attributes:
        id: Negative for a role's.
        agent: The alias, or the chain of roles that calls this one.
        parent: The tenant of the caller; None for an agent's own.
        role: "" for an agent's own.
    """

    id: int
    agent: str
    parent: int | None = None
    role: str = ""


class BlockText(msgspec.Struct, frozen=True):
    """What a core block holds.

    Attributes:
        content: "" when nothing was written.
        updated_at: Nanoseconds since 1970; 0 when nothing was written.
    """

    block: Block
    content: str
    updated_at: int

    @property
    def left(self) -> int:
        """How many characters more it holds."""
        return self.block.limit - len(self.content)


class ArchiveEntry(msgspec.Struct, frozen=True):
    """Something put away to be searched for.

    Attributes:
        created_at: Nanoseconds since 1970.
        score: From 0 to 1, how well it fits a search; 1 where nothing was searched for.
    """

    id: str
    content: str
    created_at: int
    score: float = 1.0


class HistoryEntry(msgspec.Struct, frozen=True):
    """Why a block was rewritten, or what happened.

    Attributes:
        at: Nanoseconds since 1970.
    """

    at: int
    entry: str
