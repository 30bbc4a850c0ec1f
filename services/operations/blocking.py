"""What is in the way of an operation: each reason, and what an operator can do about it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from services.agents import Agent, alias_fault
from services.errors import PinfoldError
from services.home import Home
from services.memory import Listing, Owner
from services.operations.house import Facts, House
from services.operations.model import Blocker, Operation, Reference
from services.operations.references import Owned, TomlFile


def alias_blockers(*aliases: str) -> Iterator[Blocker]:
    """An alias that no agent may have."""
    for alias in aliases:
        if fault := alias_fault(alias):
            yield Blocker(f'"{alias[:80]}" cannot be an alias: {fault}')


def missing_agent(facts: Facts) -> Iterator[Blocker]:
    """An agent that is not there."""
    if facts.agent is None:
        yield Blocker(f"there is no agent {facts.alias}", "List them with `pinfold agents list`.")


def busy(holder: Operation | None) -> Iterator[Blocker]:
    """Another operation that has to be completed first."""
    if holder is not None:
        yield Blocker(
            f"operation {holder.id}, a {holder.kind} of {holder.alias}, is {holder.state.value}",
            "Wait until it has ended." if not holder.state.retryable else f"pinfold operations retry {holder.id}",
        )


def hard_references(references: tuple[Reference, ...], *, leave_out: tuple[str, ...] = ()) -> Iterator[Blocker]:
    """Every hard reference, but for some kinds."""
    for reference in references:
        if reference.hard and reference.kind not in leave_out:
            yield Blocker(reference.text, reference.fix)


def taken_alias(home: Home, alias: str, owned: Owned, files: tuple[TomlFile, ...]) -> Iterator[Blocker]:
    """A new alias that is an agent's already, or under which something would be inherited."""
    if os.path.lexists(home.agent_dir(alias)):
        yield Blocker(f"{home.agent_dir(alias)} is there already", "Choose another alias.")
    if owned.memories:
        yield Blocker(
            f"{alias} has memories of its own: {owned.memories:,}", "Choose another alias, or move them away."
        )
    if owned.tenants:
        yield Blocker(f"{alias} has core memory of its own", "Choose another alias, or move it away.")
    if owned.contexts:
        yield Blocker(f"{alias} has {len(owned.contexts):,} contexts of its own", "Choose another alias.")
    for file in files:
        if any(mention.is_alias and mention.text == alias for mention in file.mentions):
            yield Blocker(
                f"{file.owner or 'pinfold.toml'} names {alias}, which would mean this agent from then on",
                f"Take that out of {file.path} first.",
            )


def mount_point(directory: Path) -> Iterator[Blocker]:
    """A directory that cannot be renamed, since a file system is mounted there."""
    if os.path.ismount(directory):
        yield Blocker(f"{directory} is where a file system is mounted, so it cannot be renamed", "Unmount it first.")


async def inherited_rows(house: House, agent: Agent, alias: str) -> tuple[Blocker, ...]:
    """Rows outside the home that would be the agent's under a new alias; what cannot be told counts as in the way."""
    name = agent.config.memory.backend if agent.config else ""
    if name in ("", "sqlite", "markdown", "none"):
        return ()
    try:
        count = await house.backend(agent).count(Owner(alias, agent.workspace), Listing(superseded=True))
    except PinfoldError as error:
        return (Blocker(f"the memory of {alias} in {name} cannot be looked at: {error}", error.fix),)
    if not count:
        return ()
    return (
        Blocker(f"{alias} has memories of its own in {name}: {count:,}", "Choose another alias, or move them away."),
    )


async def unreachable_memory(house: House, facts: Facts) -> tuple[Blocker, ...]:
    """Memory that cannot be counted cannot be kept; what cannot be told counts as in the way."""
    if facts.agent is None:
        return ()
    try:
        await house.rows_of(facts.agent)
    except PinfoldError as error:
        return (Blocker(f"the memory of {facts.alias} cannot be looked at: {error}", error.fix),)
    return ()
