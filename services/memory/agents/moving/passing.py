"""The rows of one agent on their way from one back-end to another."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import aclosing

from services.errors import MemoryRefused
from services.memory.agents.backend import Backend, Listing
from services.memory.agents.model import Owner, Row
from services.memory.agents.moving.contents import Contents, key_digest
from services.memory.agents.moving.model import MoveProgress

_WHOLE = Listing(superseded=True)


async def pages_of(backend: Backend, owner: Owner) -> AsyncGenerator[Sequence[Row], None]:
    """Read a whole memory out, and let go of it however it ends."""
    reading = backend.read_out(owner)
    try:
        async for page in reading:
            yield page
    finally:
        if isinstance(reading, AsyncGenerator):
            await reading.aclose()


async def contents_of(backend: Backend, owner: Owner) -> Contents:
    """Read a whole memory, and keep what can be compared."""
    contents = Contents()
    async with aclosing(pages_of(backend, owner)) as pages:
        async for page in pages:
            contents.add(page)
    return contents


async def copied(source: Backend, target: Backend, owner: Owner) -> AsyncGenerator[MoveProgress, None]:
    """Copy all rows while the agent goes on; what it changes meanwhile is copied again when it is verified."""
    total = await source.count(owner, _WHOLE)
    done = 0
    async with aclosing(_batches_of(source, owner, target.batch)) as batches:
        async for rows in batches:
            await target.take_in(owner, rows)
            done += len(rows)
            yield MoveProgress("copy", done, max(total, done))


async def _batches_of(backend: Backend, owner: Owner, size: int) -> AsyncGenerator[Sequence[Row], None]:
    """Read a whole memory out in at least so many rows at once, but for the last time."""
    waiting: list[Row] = []
    async with aclosing(pages_of(backend, owner)) as pages:
        async for page in pages:
            waiting += page
            if len(waiting) >= size:
                yield waiting
                waiting = []
    if waiting:
        yield waiting


async def verified(
    source: Backend, target: Backend, owner: Owner, kept: AbstractSet[str], moved: Contents
) -> AsyncGenerator[MoveProgress, None]:
    """Bring a copy up to date and read all of it back; nobody else may change anything meanwhile.

    Args:
        source: Where the rows are.
        target: Where the copy is.
        owner: Whose.
        kept: What the target held before, by digests of the keys.
        moved: Filled with what is in the source.

    Raises:
        MemoryRefused: A row is not the same in both.
    """
    written = await contents_of(target, owner)
    async with aclosing(pages_of(source, owner)) as pages:
        async for page in pages:
            moved.add(page)
            changed = [row for row in page if not written.holds(row)]
            if changed:
                await target.take_in(owner, changed)
    read_back = Contents()
    gone: list[str] = []
    async with aclosing(pages_of(target, owner)) as pages:
        async for page in pages:
            read_back.add(page)
            gone += [row.key for row in page if row.key not in moved and key_digest(row.key) not in kept]
            yield MoveProgress("verify", min(len(read_back), len(moved)), len(moved))
    for key in gone:  # forgotten in the source while the copy was made
        await target.forget(owner, key)
    different = moved.differences(read_back)
    if different:
        raise MemoryRefused(
            f"the memory of {owner.alias} was not moved",
            why=f"{len(different):,} of {len(moved):,} memories are not the same in {target.name}",
            fix=f"It stays in {source.name}. Try again, or give it up with --cancel.",
        )


async def removed(backend: Backend, owner: Owner, chosen: Callable[[Row], bool]) -> int:
    """Remove the chosen rows, all at once if that is all there are, and count them."""
    keys: list[str] = []
    others = 0
    async with aclosing(pages_of(backend, owner)) as pages:
        async for page in pages:
            found = [row.key for row in page if chosen(row)]
            keys += found
            others += len(page) - len(found)
    if not others:
        return await backend.purge(owner)
    return sum([await backend.forget(owner, key) for key in keys])
