"""The tree beside the table: scopes by kind and id, agents with all they remember, contexts; with counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.errors import PinfoldError
from services.memory import CONVERSATION, CORE, DAILY, Listing, ScopeCount, ScopeKind, Tenant, rows_by_agent
from tui.screens.memory.hiding import shown_name
from tui.screens.memory.places import (
    AgentRows,
    ArchiveOf,
    CoreBlocksOf,
    FoundRows,
    OpenContexts,
    Place,
    ScopeKeys,
    ScopesOf,
)
from tui.text import safe

if TYPE_CHECKING:
    from services.pinfold import Pinfold

PAGE = 200
"""How many scopes of a kind are shown at first, and how many more each time."""

MOST = 100_000
"""No scope's keys are counted further for the tree."""

MOST_ROWS = 1000
"""Nor are the rows of an agent that is not open."""

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
    counts = await rows_by_agent(pinfold.database, MOST_ROWS)
    for alias in known:
        nodes += await _agent(
            pinfold, alias, tenants, wanted, _up_to(counts[alias], MOST_ROWS) if alias in counts else ""
        )
    return tuple(nodes)


async def _scopes(pinfold: Pinfold, kind: ScopeKind, wanted: Wanted) -> list[Node]:
    key = kind.value
    is_open = key in wanted.open
    limit = PAGE * wanted.pages.get(key, 1)
    found = await pinfold.memory.scopes.counted(kind, limit=limit + 1, most=MOST if is_open else 0)
    more = len(found) > limit
    shown = found[:limit]
    place = ScopesOf(kind)
    count = f"{len(shown):,}{'+' if more else ''}"
    heading = Node(key, f"{key}s", count=count, open=is_open if shown else None, place=place)
    if not is_open:
        return [heading]
    nodes = [heading, *map(_scope, shown)]
    if more:
        nodes.append(Node(f"{key}\0more", f"more {key}s", depth=1, place=place))
    return nodes


def _scope(counted: ScopeCount) -> Node:
    scope = counted.scope
    return Node(f"scope\0{scope}", shown_name(scope.id), 1, _up_to(counted.keys, MOST), place=ScopeKeys(scope))


def _up_to(count: int, most: int) -> str:
    return f"{most:,}+" if count > most else f"{count:,}"


async def _agent(pinfold: Pinfold, alias: str, tenants: Sequence[Tenant], wanted: Wanted, count: str) -> list[Node]:
    key = f"agent\0{alias}"
    is_open = key in wanted.open
    configured = alias in wanted.aliases
    tenant = next((known for known in tenants if known.parent is None and known.agent == alias), None)
    place = AgentRows(alias) if configured else CoreBlocksOf(tenant, alias)
    problem = "" if configured else "no agent has this alias now"
    heading = Node(key, shown_name(alias), 0, count, is_open, place=place, problem=problem)
    if not is_open:
        return [heading]
    nodes = [heading, *await _blocks_and_archive(pinfold, key, tenant, alias, 1)]
    if configured:
        nodes[2:2] = await _memories(pinfold, key, alias)
    if tenant is not None:
        for role, depth in _below(tenant, tenants, 1):
            blocks = CoreBlocksOf(role, role.role)
            nodes.append(Node(f"{key}\0{role.id}", f"role {shown_name(role.role)}", depth, place=blocks))
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
        return [Node(f"{key}\0memories", "memories", 1, place=AgentRows(alias), problem=safe(str(error)))]
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
