"""What sandboxes were kept from reaching, brought into the activity log; also what no Pinfold was there to see."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from services.activity import ActivityGrew, ActivityLog, Events
from services.home import Database
from services.sandbox.egress import Refusal
from services.sandbox.model import Session
from services.sandbox.roster import EngineRoster
from services.sandbox.transitions import entry_for

VERB = "network.reach"


class RefusedHosts:
    """Takes refusals in from the engines.

    Args:
        database: Holds how far each session's refusals are known, changed together with the activity log, so that of
            two Pinfolds one logs each refusal.
        activity: Gets an entry for each.
        events: Told of them.
        roster: The engines.
    """

    def __init__(self, database: Database, activity: ActivityLog, events: Events, roster: EngineRoster) -> None:
        self._database = database
        self._activity = activity
        self._events = events
        self._roster = roster
        self._complete: set[str] = set()

    async def take_in(self, session: Session) -> None:
        """Log what was refused to a session since the last time; does nothing where nothing can be refused.

        Raises:
            EngineError: The engine does not tell.
        """
        leads_to_tools = bool(session.spec.inlet) and session.state.ended  # its door is ended with it
        if (session.spec.network != "allowlist" and not leads_to_tools) or session.id in self._complete:
            return
        engine = await self._roster.engine_of(session)
        known = await self._database.read(lambda connection: _position(connection, session.id))
        told = await engine.refused(session.id, known, ended=session.state.ended)
        if told.position > known and not await self._log(session, known, told.position, told.found):
            return  # another Pinfold was quicker
        if told.complete:
            self._complete.add(session.id)

    async def _log(self, session: Session, known: int, position: int, found: Sequence[Refusal]) -> bool:
        def job(connection: sqlite3.Connection) -> bool:
            if _position(connection, session.id) != known:
                return False
            connection.execute(
                "INSERT INTO refused_hosts (session, position) SELECT id, ? FROM sessions WHERE id = ? "
                "ON CONFLICT (session) DO UPDATE SET position = excluded.position",
                (position, session.id),
            )
            actor = f"agent:{session.agent}"
            for refusal in found:
                entry = entry_for(VERB, session, actor=actor, outcome="refused", detail=str(refusal))
                self._activity.append(connection, entry)
            return True

        logged = await self._database.write(job)
        if logged and found:
            self._events.publish(ActivityGrew())
        return logged


def _position(connection: sqlite3.Connection, session: str) -> int:
    row = connection.execute("SELECT position FROM refused_hosts WHERE session = ?", (session,)).fetchone()
    return 0 if row is None else int(row[0])
