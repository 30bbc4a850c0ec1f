"""A home whose tools are called without a sandbox: sessions are records, and calls go straight to the server."""

from __future__ import annotations

from typing import Any

from services.activity import Entry
from services.home import Home
from services.pinfold import Pinfold
from services.sandbox.model import Session, SessionState
from services.sandbox.store import SessionStore
from services.sandbox.tools import Grant, Token
from services.sandbox.tools.serving import Answered
from services.sandbox.transitions import lost
from tests.services.sandbox.records import recorded
from tests.support.sessions import World

PROFILES = """
[risk_profiles.free]
level = "full"

[risk_profiles.asking]
level = "supervised"
approval_timeout = "1s"

[risk_profiles.roomy]
level = "full"
max_actions_per_hour = 100000

[risk_profiles.thrifty]
level = "full"
max_actions_per_hour = 1

[risk_profiles.reading]
level = "readonly"
auto_approve = ["*"]
"""


class Desk:
    """Calls tools for sessions of one Pinfold."""

    def __init__(self, pinfold: Pinfold) -> None:
        self.pinfold = pinfold
        self._sessions = 0
        self.store = SessionStore(pinfold.database, pinfold.activity, pinfold.events, pinfold.now)

    async def session(self, session: str = "s1", agent: str = "worker") -> Session:
        """Record a session that runs."""
        return await recorded(
            self.store, id=session, agent=agent, state=SessionState.RUNNING, sandbox=session, started_at=1
        )

    async def end(self, session: str) -> None:
        """Record its end, as whoever finds it gone does."""
        await self.store.change(session, lost(self.pinfold.now(), "it is gone"))

    async def token(self, agent: str = "worker", **grants: Any) -> Token:
        """The token of a new session."""
        self._sessions += 1
        session = (await self.session(f"n{self._sessions}", agent)).id
        return await self.pinfold.tools.tokens.issue(Grant(session, agent, **grants))

    async def call(
        self, tool: str, arguments: dict[str, Any], *, session: str = "s1", agent: str = "worker", **grants: Any
    ) -> Answered:
        return await self.pinfold.tools.calls.call(Grant(session, agent, **grants), tool, arguments)

    async def logged(self) -> list[Entry]:
        return [entry for entry in await self.pinfold.activity.recent(1000) if entry.verb == "tool.call"]


class DeskWorld(World):
    """A home with one agent that may do anything."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        with home.config_file.open("a", encoding="utf-8") as file:
            file.write(PROFILES)
        self.agent(profile="free")
