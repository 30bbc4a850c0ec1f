"""An agent's rows in SQLite handed on or given up, by whoever moves or removes the agent as a whole.

Every function runs inside the caller's transaction, so that a check and what follows from it are of one moment.
"""

from __future__ import annotations

import sqlite3

import msgspec

from services.memory.agents import rows


class Fingerprint(msgspec.Struct, frozen=True):
    """Tells two states of an agent's rows apart.

    Attributes:
        count: How many rows there are, superseded and withheld ones too.
    """

    count: int
    newest: int
    highest: int
    size: int
    marks: int


_BY_ALIAS = ("memory_places", "memory_moves", "memory_tidied")
"""What is noted of an agent's memory, wherever that is."""

NO_ROWS = Fingerprint(0, 0, 0, 0, 0)


def agent_uuid(connection: sqlite3.Connection, alias: str) -> str:
    """The id that an agent's rows have; "" when it has stored nothing yet."""
    return rows.agent_id(connection, alias)


def restore_uuid(connection: sqlite3.Connection, alias: str, uuid: str, now: int) -> None:
    """Give an agent that has stored nothing yet the id its rows had, unless another agent has it by now."""
    if uuid and not rows.agent_id(connection, alias):
        sql = "INSERT OR IGNORE INTO agents (id, alias, created_at) VALUES (?, ?, ?)"
        connection.execute(sql, (uuid, alias, now))


def fingerprint(connection: sqlite3.Connection, alias: str) -> Fingerprint:
    """Take the fingerprint of an agent's rows."""
    found = connection.execute(
        "SELECT count(*), coalesce(max(updated_at), 0), coalesce(max(number), 0), coalesce(sum(length(content)), 0),"
        " coalesce(sum(pinned + 2 * withheld + 4 * (superseded_by <> '')), 0) FROM memories WHERE agent = ?",
        (rows.agent_id(connection, alias),),
    ).fetchone()
    return Fingerprint(*found)


def adopt_rows(connection: sqlite3.Connection, old: str, new: str) -> int:
    """Give all rows of one alias to another, and count them; done again, it changes nothing.

    The rows and the id stay as they are. Where both have a key, the row that was stored last stays, as if it had been
    stored under one alias from the start.
    """
    for table in _BY_ALIAS:
        connection.execute(f"UPDATE OR REPLACE {table} SET alias = ? WHERE alias = ?", (new, old))
    mine, other = rows.agent_id(connection, old), rows.agent_id(connection, new)
    if not mine or mine == other:
        return 0
    if other:
        connection.execute(
            "DELETE FROM memories WHERE agent = ?1 AND EXISTS (SELECT 1 FROM memories AS m WHERE m.agent = ?2"
            " AND m.key = memories.key AND m.updated_at >= memories.updated_at)",
            (mine, other),
        )
        connection.execute(
            "DELETE FROM memories WHERE agent = ?2 AND key IN (SELECT key FROM memories WHERE agent = ?1)",
            (mine, other),
        )
        connection.execute("UPDATE memories SET agent = ? WHERE agent = ?", (mine, other))
        connection.execute("DELETE FROM agents WHERE id = ?", (other,))
    connection.execute("UPDATE agents SET alias = ? WHERE id = ?", (new, mine))
    return fingerprint(connection, new).count


def detach_as_known(connection: sqlite3.Connection, alias: str, known: Fingerprint, hidden: str) -> bool:
    """Put an agent's rows under a name that is no alias, if they still are what somebody knows of them.

    From then on they are nobody's, whatever is stored under the alias again. False leaves all as it is.
    """
    if fingerprint(connection, alias) != known:
        return False
    connection.execute("UPDATE agents SET alias = ? WHERE alias = ?", (hidden, alias))
    for table in _BY_ALIAS:
        connection.execute(f"DELETE FROM {table} WHERE alias = ?", (alias,))
    return True


def purge_some(connection: sqlite3.Connection, hidden: str, limit: int) -> int:
    """Delete some of the rows of a name, and count them; the name goes with the last."""
    agent = rows.agent_id(connection, hidden)
    sql = "DELETE FROM memories WHERE number IN (SELECT number FROM memories WHERE agent = ? LIMIT ?)"
    count = connection.execute(sql, (agent, limit)).rowcount
    if count < limit:
        connection.execute("DELETE FROM agents WHERE id = ?", (agent,))
    return count


def is_moving(connection: sqlite3.Connection, alias: str) -> bool:
    """Whether an agent's memory is on its way from one back-end to another."""
    return connection.execute("SELECT 1 FROM memory_moves WHERE alias = ?", (alias,)).fetchone() is not None
