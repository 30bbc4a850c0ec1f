"""Which back-end each agent's memory is in, whatever its file says."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from services.home import Database

SQLITE = "sqlite"
_NOWHERE = "none"

_ROWS_HERE = """
SELECT a.alias FROM agents AS a WHERE EXISTS (SELECT 1 FROM memories AS m WHERE m.agent = a.id)
"""


class Places:
    """Knows where rows are; an agent that has stored nothing is in no place.

    Args:
        database: The home's, which also holds the rows of agents in `sqlite`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> Mapping[str, str]:
        """Read the back-end of every agent that has one, by alias."""
        return await self._database.read(_all)

    async def of(self, alias: str) -> str:
        """Read the back-end of one agent; "" for none."""
        return await self._database.read(lambda c: _of(c, alias))

    async def claim(self, alias: str, backend: str) -> str:
        """Say that an agent is about to store in a back-end, and return the one that it is in.

        An agent that was in none is in this one from now on.
        """
        known = await self.of(alias)
        if known or backend in (SQLITE, _NOWHERE):
            return known or backend
        return await self._database.write(lambda c: _claimed(c, alias, backend))

    async def leave(self, alias: str) -> None:
        """Say that an agent has stored nothing any more, but perhaps in `sqlite`."""
        await self._database.write(lambda c: set_place(c, alias, SQLITE))

    async def rename(self, old: str, new: str) -> None:
        """Give an agent's place to another alias; done again, it changes nothing."""

        def job(connection: sqlite3.Connection) -> None:
            if _is_written(connection, old):
                connection.execute("DELETE FROM memory_places WHERE alias = ?", (new,))
                connection.execute("UPDATE memory_places SET alias = ? WHERE alias = ?", (new, old))

        await self._database.write(job)


def set_place(connection: sqlite3.Connection, alias: str, backend: str) -> None:
    """Write where an agent's memory is, inside the caller's transaction; in `sqlite` its rows say so themselves."""
    connection.execute("DELETE FROM memory_places WHERE alias = ?", (alias,))
    if backend != SQLITE:
        connection.execute("INSERT INTO memory_places (alias, backend) VALUES (?, ?)", (alias, backend))


def _all(connection: sqlite3.Connection) -> dict[str, str]:
    here = {alias: SQLITE for (alias,) in connection.execute(_ROWS_HERE)}
    return here | dict(connection.execute("SELECT alias, backend FROM memory_places").fetchall())


def _of(connection: sqlite3.Connection, alias: str) -> str:
    written = _is_written(connection, alias)
    if written:
        return written
    return SQLITE if connection.execute(f"{_ROWS_HERE} AND a.alias = ?", (alias,)).fetchone() else ""


def _is_written(connection: sqlite3.Connection, alias: str) -> str:
    found = connection.execute("SELECT backend FROM memory_places WHERE alias = ?", (alias,)).fetchone()
    return str(found[0]) if found else ""


def _claimed(connection: sqlite3.Connection, alias: str, backend: str) -> str:
    known = _of(connection, alias)
    if not known:
        set_place(connection, alias, backend)
    return known or backend
