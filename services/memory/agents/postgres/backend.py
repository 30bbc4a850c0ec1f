"""Agent memory in tables on a PostgreSQL server, which several homes may share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import ClassVar

import msgspec

from services.agents import PostgresStore
from services.errors import MemoryRefused, MemoryUnavailable
from services.home import BlockingCalls, Home
from services.memory.agents.backend import (
    PAGE,
    Backend,
    BackendStatus,
    Cutoffs,
    Listing,
    Pruned,
    RowsByKey,
    check_left,
    there,
)
from services.memory.agents.drafting import made_row
from services.memory.agents.model import Draft, Owner, Query, Recalled, Row
from services.memory.agents.postgres import rows, searching
from services.memory.agents.postgres.server import Server
from services.memory.agents.postgres.texts import kept as kept_text
from services.memory.screening import Screened

_WHOLE = Listing(superseded=True)


class PostgresBackend(Backend):
    """Rows of the agents of one home, each operation one transaction.

    Args:
        home: Whose agents; its id keeps them apart from those of other homes on the same server.
        settings: Says where the server is; asked for every operation.
        env: The environment its address is found in.
        calls: Threads, for reading the home's id.
        now: The clock, nanoseconds since 1970.
        make_id: Makes ids of agents and rows: 32 hex digits.
    """

    name: ClassVar[str] = "postgres"

    def __init__(
        self,
        home: Home,
        settings: Callable[[], PostgresStore],
        env: Mapping[str, str],
        calls: BlockingCalls,
        now: Callable[[], int],
        make_id: Callable[[], str],
    ) -> None:
        self._home = home
        self._identity = ""
        self._server = Server(settings, env)
        self._calls = calls
        self._now = now
        self._make_id = make_id

    async def store(self, owner: Owner, draft: Draft, screened: Screened) -> Row:
        """Store a row over the one with its key."""
        home = await self._known_home()
        async with self._server.writing(f"{home}:{owner.alias}") as connection:
            now = self._now()
            agent = await rows.sure_agent_id(connection, home, owner.alias, self._make_id, now)
            known = await rows.find(connection, agent, draft.key)
            row = made_row(owner, draft, screened, known, self._make_id, now, agent)
            await rows.put(connection, [row])
        return row

    async def recall(self, owners: Sequence[Owner], query: Query) -> list[Recalled]:
        """Find rows of any of these agents, the best first."""
        home = await self._known_home()
        async with self._server.reading() as connection:
            ids = [await rows.agent_id(connection, home, owner.alias) for owner in owners]
            return await searching.recall(connection, [agent for agent in ids if agent], query)

    async def get(self, owner: Owner, key: str) -> Row | None:
        """Read one row."""
        home = await self._known_home()
        async with self._server.reading() as connection:
            return await rows.find(connection, await rows.agent_id(connection, home, owner.alias), key)

    async def forget(self, owner: Owner, key: str) -> bool:
        """Delete one row."""
        return await self._delete(owner, "agent = $1 AND key_digest = $2", rows.digest(key)) > 0

    async def forget_session(self, owner: Owner, session: str) -> int:
        """Delete the rows of a session."""
        where = "agent = $1 AND md5(session) = md5($2) AND session = $2 AND session <> ''"
        return await self._delete(owner, where, kept_text(session))

    async def listed(self, owner: Owner, listing: Listing) -> list[Row]:
        """Read rows, the newest first."""
        home = await self._known_home()
        async with self._server.reading() as connection:
            return await rows.listed(connection, await rows.agent_id(connection, home, owner.alias), listing)

    async def count(self, owner: Owner, listing: Listing) -> int:
        """Count rows."""
        home = await self._known_home()
        async with self._server.reading() as connection:
            return await rows.count(connection, await rows.agent_id(connection, home, owner.alias), listing)

    async def pin(self, owner: Owner, key: str, pinned: bool) -> bool:
        """Keep a row from hygiene, or no longer."""
        home = await self._known_home()
        async with self._server.writing(f"{home}:{owner.alias}") as connection:
            agent = await rows.agent_id(connection, home, owner.alias)
            sql = "UPDATE pinfold.memories SET pinned = $3 WHERE agent = $1 AND key_digest = $2"
            return rows.affected(await connection.execute(sql, agent, rows.digest(key), pinned)) > 0

    async def supersede(self, owner: Owner, key: str, by: str) -> bool:
        """Mark a row as replaced, and take its words out of the search."""
        home = await self._known_home()
        async with self._server.writing(f"{home}:{owner.alias}") as connection:
            agent = await rows.agent_id(connection, home, owner.alias)
            row, other = await rows.find(connection, agent, key), await rows.find(connection, agent, by)
            if row is None or other is None:
                return False
            await rows.put(connection, [msgspec.structs.replace(row, superseded_by=other.id)])
            return True

    async def prune(self, owner: Owner, cutoffs: Cutoffs, *, dry_run: bool) -> Pruned:
        """Delete old rows, or only count them."""
        home = await self._known_home()
        async with self._server.writing(f"{home}:{owner.alias}") as connection:
            agent = await rows.agent_id(connection, home, owner.alias)
            return await rows.prune(connection, agent, cutoffs, dry_run=dry_run)

    async def read_out(self, owner: Owner) -> AsyncIterator[Sequence[Row]]:
        """Yield every row as it is, all of one moment."""
        home = await self._known_home()
        async with self._server.reading() as connection:
            agent = await rows.agent_id(connection, home, owner.alias)
            sql = f'SELECT {rows.COLUMNS} FROM {rows.FROM} WHERE m.agent = $1 ORDER BY m.key COLLATE "C"'
            cursor = await connection.cursor(sql, agent)
            while found := await cursor.fetch(PAGE):
                yield [rows.row_of(one) for one in found]

    async def take_in(self, owner: Owner, kept: Sequence[Row]) -> int:
        """Store rows that were read out; those with the keys of rows that are here keep these rows' ids."""
        home = await self._known_home()
        async with self._server.writing(f"{home}:{owner.alias}") as connection:
            agent = await rows.sure_agent_id(connection, home, owner.alias, self._make_id, self._now())
            mine = [msgspec.structs.replace(row, agent=owner.alias, agent_id=agent) for row in kept]
            await rows.put(connection, mine)
        return len(mine)

    async def put_back(self, owner: Owner, before: RowsByKey, left: RowsByKey) -> None:
        """Put rows back as they were before a change, compared in the same transaction."""
        home = await self._known_home()
        async with self._server.writing(f"{home}:{owner.alias}") as connection:
            agent = await rows.sure_agent_id(connection, home, owner.alias, self._make_id, self._now())
            check_left(left, {key: await rows.find(connection, agent, key) for key in left})
            for key, row in before.items():
                if row is None:
                    await rows.deleted(connection, "agent = $1 AND key_digest = $2", agent, rows.digest(key))
            mine = [msgspec.structs.replace(row, agent=owner.alias, agent_id=agent) for row in there(before)]
            await rows.put(connection, mine)

    async def purge(self, owner: Owner) -> int:
        """Delete every row of an agent, and its id with them."""
        home = await self._known_home()
        async with self._server.writing(f"{home}:{owner.alias}") as connection:
            agent = await rows.agent_id(connection, home, owner.alias)
            count = await rows.deleted(connection, "agent = $1", agent)
            await connection.execute("DELETE FROM pinfold.agents WHERE id = $1", agent)
        return count

    async def rename(self, owner: Owner, alias: str) -> None:
        """Give an agent's rows to another alias; they keep their ids."""
        home = await self._known_home()
        async with self._server.writing(f"{home}:{owner.alias}", f"{home}:{alias}") as connection:
            mine = await rows.agent_id(connection, home, owner.alias)
            other = await rows.agent_id(connection, home, alias)
            if not mine or mine == other:
                return
            if other and await rows.count(connection, other, _WHOLE):
                raise MemoryRefused(
                    f"{owner.alias} cannot be renamed to {alias}",
                    why=f"{alias} has memories of its own",
                    fix="Move those away first.",
                )
            await connection.execute("DELETE FROM pinfold.agents WHERE id = $1", other)
            await connection.execute("UPDATE pinfold.agents SET alias = $2 WHERE id = $1", mine, alias)

    async def status(self) -> BackendStatus:
        """Connect, and ask for the version."""
        try:
            return BackendStatus(self.name, True, f"PostgreSQL {await self._server.version()}")
        except MemoryUnavailable as error:
            return BackendStatus.of(self.name, error)

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def _delete(self, owner: Owner, where: str, value: object) -> int:
        home = await self._known_home()
        async with self._server.writing(f"{home}:{owner.alias}") as connection:
            agent = await rows.agent_id(connection, home, owner.alias)
            return await rows.deleted(connection, where, agent, value)

    async def _known_home(self) -> str:
        if not self._identity:
            self._identity = await self._calls.run(self._home.identity)
        return self._identity
