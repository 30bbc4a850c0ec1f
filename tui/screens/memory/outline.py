"""The tree beside the table: scopes by kind and id, agents with all they remember, contexts; with counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.errors import PinfoldError
from services.memory import CONVERSATION, CORE, DAILY, Listing, ScopeCount, ScopeKind, Tenant
from tui.screens.memory.places import (
    AgentRows,
    ArchiveOf,
    CoreBlocksOf,
    FoundRows,
    OpenContexts,
    Place,
    ScopeKeys,
    shown_name,
)
from tui.text import safe

if TYPE_CHECKING:
    from services.pinfold import Pinfold

PAGE = 200
"""How many scopes of a kind are shown at first, and how many more each time."""

MOST = 100_000
"""No scope's keys are counted further for the tree."""

_CATEGORIES = (CORE, DAILY, CONVERSATION)
_NESTED = 8


@dataclass(frozen=True)
class Node:
    """One line of the tree.

    Attributes:
        key: Names it.
        label: Clean text.
        depth: How far it is indented.
        count: How many rows it has, written out; "" where it is not counted.
        open: Whether what is below it is shown; None where there is nothing below.
        place: What the table shows for it; None for a heading.
        problem: Why it cannot be read, clean.
    """

    key: str
    label: str
    depth: int = 0
    count: str = ""
    open: bool | None = None
    place: Place | None = None
    problem: str = ""


@dataclass(frozen=True)
class Wanted:
    """What of the tree is wanted.

    Attributes:
        open: The keys of the nodes that show what is below them.
        pages: How many pages of scopes each kind shows.
        aliases: The agents that are configured.
        search: What is searched for; "" is nothing.
    """

    open: frozenset[str]
    pages: dict[str, int]
    aliases: tuple[str, ...]
    search: str = ""


async def read_outline(pinfold: Pinfold, wanted: Wanted) -> tuple[Node, ...]:
    """Read the whole tree as far as it is open.

    Raises:
        DatabaseError: The database cannot be read.
    """
    nodes: list[Node] = []
    if wanted.search:
        nodes.append(Node("found", f"found: {shown_name(wanted.search)}", place=FoundRows(wanted.search)))
    for kind in ScopeKind:
        nodes += await _scopes(pinfold, kind, wanted)
    nodes.append(Node("contexts", "contexts and steps", place=OpenContexts()))
    tenants = await pinfold.core_memory.tenants.all()
    known = sorted({*wanted.aliases, *(tenant.agent for tenant in tenants if tenant.parent is None)})
    for alias in known:
        nodes += await _agent(pinfold, alias, tenants, wanted)
    return tuple(nodes)


async def _scopes(pinfold: Pinfold, kind: ScopeKind, wanted: Wanted) -> list[Node]:
    key = kind.value
    is_open = key in wanted.open
    limit = PAGE * wanted.pages.get(key, 1)
    found = await pinfold.memory.scopes.counted(kind, limit=limit + 1, most=MOST if is_open else 0)
    more = len(found) > limit
    shown = found[:limit]
    heading = Node(key, f"{key}s", count=f"{len(shown):,}{'+' if more else ''}", open=is_open if shown else None)
    if not is_open:
        return [heading]
    nodes = [heading, *map(_scope, shown)]
    if more:
        nodes.append(Node(f"{key}\0more", f"more {key}s", depth=1))
    return nodes


def _scope(counted: ScopeCount) -> Node:
    count = f"{MOST:,}+" if counted.keys > MOST else f"{counted.keys:,}"
    scope = counted.scope
    return Node(f"scope\0{scope}", shown_name(scope.id), 1, count, place=ScopeKeys(scope))


async def _agent(pinfold: Pinfold, alias: str, tenants: Sequence[Tenant], wanted: Wanted) -> list[Node]:
    key = f"agent\0{alias}"
    is_open = key in wanted.open
    configured = alias in wanted.aliases
    heading = Node(key, shown_name(alias), open=is_open, problem="" if configured else "no agent has this alias now")
    if not is_open:
        return [heading]
    tenant = next((known for known in tenants if known.parent is None and known.agent == alias), None)
    nodes = [heading, *await _blocks_and_archive(pinfold, key, tenant, alias, 1)]
    if configured:
        nodes[2:2] = await _memories(pinfold, key, alias)
    if tenant is not None:
        for role, depth in _below(tenant, tenants, 1):
            nodes.append(Node(f"{key}\0{role.id}", f"role {shown_name(role.role)}", depth))
            nodes += await _blocks_and_archive(pinfold, f"{key}\0{role.id}", role, role.role, depth + 1)
    return nodes


async def _blocks_and_archive(pinfold: Pinfold, key: str, tenant: Tenant | None, name: str, depth: int) -> list[Node]:
    entries = await pinfold.core_memory.archive(tenant).count() if tenant is not None else 0
    return [
        Node(f"{key}\0blocks", "core blocks", depth, place=CoreBlocksOf(tenant, name)),
        Node(f"{key}\0archive", "archive entries", depth, f"{entries:,}", place=ArchiveOf(tenant, name)),
    ]


async def _memories(pinfold: Pinfold, key: str, alias: str) -> list[Node]:
    try:
        memory = pinfold.agent_memories.of(alias)
        total = await memory.count(Listing(superseded=True))
        counts = [await memory.count(Listing(category=category, superseded=True)) for category in _CATEGORIES]
    except PinfoldError as error:
        return [Node(f"{key}\0memories", "memories", 1, problem=safe(str(error)))]
    nodes = [Node(f"{key}\0memories", "memories", 1, f"{total:,}", place=AgentRows(alias))]
    for category, count in zip(_CATEGORIES, counts, strict=True):
        nodes.append(Node(f"{key}\0{category}", category, 2, f"{count:,}", place=AgentRows(alias, category)))
    return nodes


def _below(tenant: Tenant, tenants: Sequence[Tenant], depth: int) -> Iterator[tuple[Tenant, int]]:
    """The roles below a tenant, each with how deep it stands."""
    if depth > _NESTED:
        return
    for role in tenants:
        if role.parent == tenant.id and role.id != tenant.id:
            yield role, depth
            yield from _below(role, tenants, depth + 1)
