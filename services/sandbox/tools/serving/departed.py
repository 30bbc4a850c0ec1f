"""Tokens of sessions that ended while no Pinfold was there to record it."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable

from services.activity import ActivityGrew, ActivityLog, Draft, Events
from services.home import Database
from services.sandbox.tools.tokens import Tokens, revoke

VERB = "tools.revoke"

Gone = Callable[[frozenset[str]], Awaitable[frozenset[str]]]
"""Tells which of some sessions have no sandbox any more, whatever the records say."""

_DETAIL = "its sandbox has ended, and no Pinfold was there to record it"


class Departed:
    """Makes tokens void whose sessions are gone; their records are left to whichever Pinfold opens next.

    Args:
        database: Where tokens are kept.
        activity: Gets a line for each that is made void.
        events: Told of these.
        tokens: Tells which are good.
        gone: Asked which sessions have no sandbox.
    """

    def __init__(self, database: Database, activity: ActivityLog, events: Events, tokens: Tokens, gone: Gone) -> None:
        self._database = database
        self._activity = activity
        self._events = events
        self._tokens = tokens
        self._gone = gone
        self._suspected: frozenset[str] = frozenset()

    async def look(self) -> bool:
        """Make the tokens void of sessions that are gone at this look and were at the last; True when there were any.

        A Pinfold that is there records an end between two looks, and with that makes the token void itself.
        """
        sessions = await self._tokens.sessions()
        gone = await self._gone(sessions) if sessions else frozenset[str]()
        certain, self._suspected = gone & self._suspected, gone
        voided = [session for session in certain if await self._database.write(self._revoking(session))]
        if voided:
            self._events.publish(ActivityGrew())
        return bool(voided)

    def _revoking(self, session: str) -> Callable[[sqlite3.Connection], bool]:
        def job(connection: sqlite3.Connection) -> bool:
            sql = "SELECT agent FROM tool_tokens JOIN sessions ON id = session WHERE session = ?"
            found = connection.execute(sql, (session,)).fetchone()
            if found is None:
                return False
            revoke(connection, session)
            self._activity.append(connection, Draft(VERB, "pinfold", found[0], session, "done", _DETAIL))
            return True

        return job
