"""The places memory is in: whatever the table can show the rows of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.screens.memory.hiding import shown_name

if TYPE_CHECKING:
    from services.memory import Scope, ScopeKind, Tenant


@dataclass(frozen=True)
class ScopesOf:
    """The scopes of one kind; the tree shows which there are."""

    kind: ScopeKind

    @property
    def title(self) -> str:
        """What they are called."""
        return f"{self.kind}s"


@dataclass(frozen=True)
class ScopeKeys:
    """The keys of a scope."""

    scope: Scope

    @property
    def title(self) -> str:
        """What it is called, clean."""
        return shown_name(str(self.scope))


@dataclass(frozen=True)
class AgentRows:
    """What an agent stored.

    Attributes:
        category: Only this one; "" is all.
    """

    alias: str
    category: str = ""

    @property
    def title(self) -> str:
        """What it is called, clean."""
        return f"{shown_name(self.alias)} {self.category or 'memories'}"


@dataclass(frozen=True)
class CoreBlocksOf:
    """What an agent, or a role it calls, always sees.

    Attributes:
        tenant: None while an agent has none yet.
        alias: Of the agent, or the role.
    """

    tenant: Tenant | None
    alias: str

    @property
    def title(self) -> str:
        """What it is called, clean."""
        return f"{shown_name(self.alias)} core blocks"


@dataclass(frozen=True)
class ArchiveOf:
    """What an agent, or a role it calls, put away; see `CoreBlocksOf`."""

    tenant: Tenant | None
    alias: str

    @property
    def title(self) -> str:
        """What it is called, clean."""
        return f"{shown_name(self.alias)} archive entries"


@dataclass(frozen=True)
class OpenContexts:
    """The contexts that are open or can be resumed."""

    title: str = "contexts and steps"


@dataclass(frozen=True)
class StepsOf:
    """The steps of a context."""

    context: str

    @property
    def title(self) -> str:
        """What it is called, clean."""
        return f"steps of {shown_name(self.context)}"


@dataclass(frozen=True)
class FoundRows:
    """What a search through everything found."""

    text: str

    @property
    def title(self) -> str:
        """What it is called, clean."""
        return f"found: {shown_name(self.text)}"


Place = ScopesOf | ScopeKeys | AgentRows | CoreBlocksOf | ArchiveOf | OpenContexts | StepsOf | FoundRows
