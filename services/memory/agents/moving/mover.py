"""Moves agents' memories; whatever interrupts a move, the same move goes on where it was."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager

from services.activity import Draft as Note
from services.agents import Agents, Change, set_place
from services.errors import LockHeld, MemoryRefused, NothingThere
from services.home import Database, FileLock
from services.memory.agents.backend import Backend, Listing
from services.memory.agents.gate import Gate
from services.memory.agents.model import Owner, Row
from services.memory.agents.moving import journal
from services.memory.agents.moving.contents import Contents, key_digest
from services.memory.agents.moving.journal import Entry
from services.memory.agents.moving.model import MovePlan, MoveProgress
from services.memory.agents.moving.passing import contents_of, copied, pages_of, removed, verified
from services.memory.agents.upkeep import Upkeep, key_shown

_GATE_SECONDS = 20.0
_MOST_KEPT = 20_000
_WHOLE = Listing(superseded=True)


class Mover:
    """Moves one agent's memory.

    Args:
        owner: The agent.
        source: The back-end its memory is in.
        target: The one it shall be in.
        backends: By name.
        agents: Writes the agent's file.
        database: The home's, for the journal.
        upkeep: Says where memories are, and logs.
        actor: Who moves it, for the log.
    """

    def __init__(
        self,
        owner: Owner,
        source: str,
        target: str,
        backends: Mapping[str, Backend],
        agents: Agents,
        database: Database,
        upkeep: Upkeep,
        actor: str = "operator",
    ) -> None:
        self._owner = owner
        self._source = source
        self._target = target
        self._backends = backends
        self._agents = agents
        self._database = database
        self._upkeep = upkeep
        self._actor = actor

    async def plan(self) -> MovePlan:
        """Look at what would be done; nothing is changed.

        Raises:
            MemoryRefused: It cannot be moved there, or an interrupted move has to be finished first.
            ConfigError: The agent would have an error then.
            MemoryUnavailable: A back-end does not answer.
        """
        entry = await self._begun()
        if entry is None:
            await self._check()
        source = entry.source if entry else self._source
        rows = await self._backends[source].count(self._owner, _WHOLE)
        there = len(entry.kept) if entry else await self._backends[self._target].count(self._owner, _WHOLE)
        return MovePlan(
            alias=self._owner.alias,
            source=source,
            target=self._target,
            rows=rows,
            there=there,
            resumed=entry is not None,
        )

    async def run(self) -> AsyncGenerator[MoveProgress, None]:
        """Move it, and tell how far it is; ended early, or killed, the same move goes on from there.

        Raises:
            MemoryRefused: As `plan`; or what was read back is not what was written.
            LockHeld: Another Pinfold moves it, or somebody changes it all the time.
            ConfigError: As `plan`.
            MemoryUnavailable: A back-end does not answer.
        """
        with self._alone():
            entry = await self._begun() or await self._begin()
            source, target = self._backends[entry.source], self._backends[entry.target]
            if not entry.switched_at:
                async with aclosing(copied(source, target, self._owner)) as copying:
                    async for progress in copying:
                        yield progress
            async with Gate(self._upkeep.home, self._owner.alias).closed(_GATE_SECONDS):
                moved: Contents | None = None
                if not entry.switched_at:
                    moved = Contents()
                    kept = frozenset(entry.kept)
                    async with aclosing(verified(source, target, self._owner, kept, moved)) as verifying:
                        async for progress in verifying:
                            yield progress
                    entry = await self._switch(entry, len(moved))
                    yield MoveProgress("switch", len(moved), len(moved))
                await self._write_config()
                total = await source.count(self._owner, _WHOLE)
                yield MoveProgress("remove", 0, total)
                count = await removed(source, self._owner, _those_moved(entry, moved))
                await self._database.write(lambda c: journal.end(c, entry.alias))
            yield MoveProgress("done", count, count)

    async def cancel(self) -> int:
        """Give up a move that was interrupted: what it copied is removed, and counted; the source stays as it is.

        Raises:
            NothingThere: No such move has begun.
            MemoryRefused: The target counts already, so the move can only be finished; or another move has begun.
            LockHeld: The move goes on in this moment.
        """
        with self._alone():
            entry = await self._begun()
            if entry is None:
                raise NothingThere(f"no move of the memory of {self._owner.alias} has begun")
            if entry.switched_at:
                raise MemoryRefused(
                    f"the move of the memory of {entry.alias} cannot be given up",
                    why=f"it is in {entry.target} by now",
                    fix=f"Finish it with: {_command(entry)}",
                )
            kept = frozenset(entry.kept)
            target = self._backends[entry.target]
            count = await removed(target, self._owner, lambda row: key_digest(row.key) not in kept)
            await self._database.write(lambda c: journal.end(c, entry.alias))
        return count

    @contextmanager
    def _alone(self) -> Iterator[None]:
        alias = self._owner.alias
        lock = FileLock(self._upkeep.home.locks_dir / f"memory-move-{alias}.lock", f"the memory of {alias}")
        if not lock.try_acquire():
            raise LockHeld(f"the memory of {alias} is being moved", why="another Pinfold moves it", fix="Wait for it.")
        try:
            yield
        finally:
            lock.release()

    async def _begun(self) -> Entry | None:
        """Find an interrupted move, and refuse another than that.

        Raises:
            MemoryRefused: The interrupted move leads elsewhere.
        """
        entry = await self._database.read(lambda c: journal.find(c, self._owner.alias))
        if entry is not None and entry.target != self._target:
            ways = _command(entry) if entry.switched_at else f"{_command(entry)}, or give it up with --cancel"
            raise MemoryRefused(
                f"the memory of {entry.alias} cannot be moved to {self._target}",
                why=f"a move to {entry.target} was interrupted",
                fix=f"Finish that with: {ways}",
            )
        return entry

    async def _check(self) -> None:
        alias, target = self._owner.alias, self._target
        if self._source == target:
            raise MemoryRefused(f"the memory of {alias} is in {target} already")
        if target == "none":
            raise MemoryRefused(f"the memory of {alias} cannot be moved to none", why="it keeps nothing")
        for agent in self._agents.all():
            reads = agent.config.memory.read_memory_from if agent.config else ()
            if agent.config and alias in reads and agent.config.memory.backend != target:
                raise MemoryRefused(
                    f"the memory of {alias} cannot be moved to {target}",
                    why=f"{agent.alias} reads it and keeps its own in {agent.config.memory.backend}",
                    fix=f"Take {alias} out of its read_memory_from first.",
                )
        draft = await self._agents.edit(await self._agents.draft(alias), _to(target))
        for problem in draft.agent.problems:
            if problem.severity == "error" and problem.key != "memory.backend":
                raise problem.as_error()

    async def _begin(self) -> Entry:
        await self._check()
        there = await contents_of(self._backends[self._target], self._owner)
        if len(there) > _MOST_KEPT:
            raise self._refused(f"{self._target} has {len(there):,} memories of it already")
        if len(there):
            async with aclosing(pages_of(self._backends[self._source], self._owner)) as pages:
                async for page in pages:
                    if twin := next((row.key for row in page if row.key in there), ""):
                        raise self._refused(f"both have a memory {key_shown(twin)}")
        entry = Entry(
            alias=self._owner.alias,
            source=self._source,
            target=self._target,
            kept=tuple(sorted(there.keys)),
            started_at=self._upkeep.now(),
        )
        await self._database.write(lambda c: journal.begin(c, entry))
        return entry

    def _refused(self, why: str) -> MemoryRefused:
        what = f"the memory of {self._owner.alias} cannot be moved to {self._target}"
        return MemoryRefused(what, why=why, fix="Forget those there first.")

    async def _switch(self, entry: Entry, count: int) -> Entry:
        """Let the target count, in one transaction with the journal and the activity."""
        now = self._upkeep.now()
        note = Note("memory.move", self._actor, entry.alias, detail=f"{count} from {entry.source} to {entry.target}")

        def job(connection: sqlite3.Connection) -> Entry:
            set_place(connection, entry.alias, entry.target)
            journal.switch(connection, entry.alias, now)
            if self._upkeep.activity is not None:
                self._upkeep.activity.append(connection, note)
            found = journal.find(connection, entry.alias)
            assert found is not None
            return found

        return await self._database.write(job)

    async def _write_config(self) -> None:
        """Let the agent's file say where its memory is, if it does not yet."""
        await self._agents.load()
        draft = await self._agents.edit(await self._agents.draft(self._owner.alias), _to(self._target))
        if draft.changed:
            await self._agents.save(draft)
        await self._agents.load()


def _those_moved(entry: Entry, moved: Contents | None) -> Callable[[Row], bool]:
    """Tell which rows of the source were moved; what somebody wrote into a file past Pinfold since then was not."""
    if moved is not None:
        return moved.holds
    return lambda row: row.updated_at <= entry.switched_at


def _to(backend: str) -> Change:
    return Change(("memory", "backend"), backend)


def _command(entry: Entry) -> str:
    return f"pinfold memory move {entry.alias} --to {entry.target}"
