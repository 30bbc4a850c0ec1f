"""Tools given to a session that starts, and kept going while any session has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from services.agents import AgentConfig
from services.home import BlockingCalls, Database, Home
from services.sandbox.model import Session
from services.sandbox.tools.approvals import withdraw_overdue
from services.sandbox.tools.delivery import Delivery
from services.sandbox.tools.grants import grant_for
from services.sandbox.tools.process import ServerProcess
from services.sandbox.tools.tokens import Tokens


class Supply:
    """Supplies the sessions of a home with tools.

    Args:
        home: Whose.
        database: Where tokens are kept.
        calls: Threads for files and processes.
        now: The clock, nanoseconds since 1970.
        env: Pinfold's own environment, which the server gets.
    """

    def __init__(
        self, home: Home, database: Database, calls: BlockingCalls, now: Callable[[], int], env: Mapping[str, str]
    ) -> None:
        self._database = database
        self._calls = calls
        self._now = now
        self._tokens = Tokens(database, now)
        self._server = ServerProcess(home, calls, env)

    async def give(
        self, session: Session, delivery: Delivery, config: AgentConfig, owner: tuple[int, int] | None
    ) -> None:
        """Put a token into a recorded session's files, and see to it that somebody serves.

        Args:
            session: Whose token it is.
            delivery: What it finds of its tools.
            config: Its agent's, which says what it is granted.
            owner: Whom the sandbox runs as, where that is somebody else; uid and gid.

        Raises:
            OSError: The disk refuses.
            SessionError: No server comes up.
        """
        token = await self._tokens.issue(grant_for(session.id, session.agent, config))
        await self._calls.run(delivery.write, token, owner)
        await self._server.ensure()

    async def uphold(self) -> None:
        """Start a server again where sessions have tools and nobody serves; withdraw what a dead one asked.

        Raises:
            SessionError: It does not come up.
        """
        await withdraw_overdue(self._database, self._now())
        if await self._tokens.in_use():
            await self._server.ensure()
