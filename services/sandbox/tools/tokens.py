"""The tokens of sessions: issued when one starts, kept as digests, and void the moment it ends."""

from __future__ import annotations

import hmac
import sqlite3
import time
from collections.abc import Callable

import msgspec

from services.errors import DatabaseError
from services.home import Database
from services.sandbox.model import SessionState
from services.sandbox.tools.grants import Grant, Token

_LONGEST = 512
_NOBODY = bytes(32)


class Tokens:
    """Issues and checks the tokens of a home.

    Args:
        database: Where their digests are kept.
        now: The clock, nanoseconds since 1970.
    """

    def __init__(self, database: Database, now: Callable[[], int] = time.time_ns) -> None:
        self._database = database
        self._now = now

    async def issue(self, grant: Grant) -> Token:
        """Make the token of a recorded session; one it had before is void from then on."""
        token = Token.new(grant.session)
        row = (grant.session, token.digest, msgspec.json.encode(grant).decode(), self._now())
        await self._database.write(
            lambda connection: connection.execute(
                "INSERT INTO tool_tokens (session, digest, grants, issued_at) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET digest = excluded.digest, grants = excluded.grants, issued_at = excluded.issued_at",
                row,
            )
        )
        return token

    async def check(self, token: Token) -> Grant | None:
        """Tell what a token allows; None when it is of no session of this home, or of one that has ended."""
        if len(token.reveal()) > _LONGEST:
            return None
        found = await self._database.read(lambda connection: _find(connection, token.session))
        digest, grants = found or (_NOBODY, None)
        if not hmac.compare_digest(digest, token.digest) or grants is None:
            return None
        try:
            return msgspec.json.decode(grants, type=Grant)
        except msgspec.DecodeError as error:
            raise DatabaseError(f"the grant of session {token.session} is damaged", why=str(error)) from error

    async def sessions(self) -> frozenset[str]:
        """The sessions whose tokens are good."""
        states, marks = _live()
        sql = f"SELECT session FROM tool_tokens JOIN sessions ON id = session WHERE state IN ({marks})"
        found = await self._database.read(lambda connection: connection.execute(sql, states).fetchall())
        return frozenset(session for (session,) in found)

    async def in_use(self) -> int:
        """Count the sessions whose tokens are good."""
        return len(await self.sessions())


def revoke(connection: sqlite3.Connection, session: str) -> None:
    """Make a session's token void, and what it asked too, in the transaction that records its end."""
    connection.execute("DELETE FROM tool_tokens WHERE session = ?", (session,))
    connection.execute(
        "UPDATE approvals SET state = 'withdrawn', summary = '' WHERE session = ? AND state = 'waiting'", (session,)
    )


def _find(connection: sqlite3.Connection, session: str) -> tuple[bytes, str] | None:
    states, marks = _live()
    sql = (
        f"SELECT digest, grants FROM tool_tokens JOIN sessions ON id = session WHERE session = ? AND state IN ({marks})"
    )
    found: tuple[bytes, str] | None = connection.execute(sql, (session, *states)).fetchone()
    return found


def _live() -> tuple[tuple[str, ...], str]:
    states = tuple(state.value for state in SessionState if state.live)
    return states, ", ".join("?" * len(states))
