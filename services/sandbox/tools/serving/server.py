"""The tool server of a home: both sockets, for every session, until no session needs it."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from services.errors import LockHeld
from services.home import BlockingCalls, Home
from services.sandbox.egress import HTTP_SOCKET
from services.sandbox.tools.grants import Token
from services.sandbox.tools.serving.calls import Calls
from services.sandbox.tools.serving.departed import Departed
from services.sandbox.tools.serving.seats import Limits
from services.sandbox.tools.sockets import LINES_SOCKET, listen, make_tools_dir, serving_lock, tools_dir
from services.sandbox.tools.tokens import Tokens

_LOOK_SECONDS = 1.0
_DEPARTURES_SECONDS = 2.0


class ToolServer:
    """Serves a home's sessions.

    Args:
        home: Whose.
        calls: Answers calls, wherever they come from.
        tokens: Says what a token allows.
        departed: Makes tokens void that nobody else does.
        blocking: Threads for the file system.
    """

    def __init__(self, home: Home, calls: Calls, tokens: Tokens, departed: Departed, blocking: BlockingCalls) -> None:
        self._home = home
        self.calls = calls
        self.tokens = tokens
        self._departed = departed
        self._blocking = blocking

    async def serve(self, *, idle_seconds: float | None = None) -> None:
        """Serve until cancelled, or until no session has had a good token for so many seconds.

        Raises:
            LockHeld: Another process serves this home.
            PinfoldError: The sockets cannot be made.
        """
        from services.sandbox.tools.serving.http import serve_http  # the SDK takes a second or two to load
        from services.sandbox.tools.serving.lines import serve_lines
        from services.sandbox.tools.serving.protocol import keep_quiet

        keep_quiet()
        lock = serving_lock(self._home)
        if not await self._blocking.run(lock.try_acquire):
            raise LockHeld("the tool server runs already", why="another process serves this home")
        try:
            directory = await self._blocking.run(make_tools_dir, self._home)
            limits = Limits()
            async with AsyncExitStack() as serving:
                for name, serve in ((HTTP_SOCKET, serve_http), (LINES_SOCKET, serve_lines)):
                    listening = await self._blocking.run(listen, directory, name)
                    await serving.enter_async_context(serve(self.calls, self.tokens, limits, listening))
                await self._until_idle(idle_seconds)
        finally:
            await self._blocking.run(self._forget_sockets)
            lock.release()

    async def serve_stdio(self, token: Token) -> None:
        """Serve one client over this process's standard input and output.

        Raises:
            PinfoldError: The token is void.
        """
        from services.sandbox.tools.serving.lines import serve_stdio
        from services.sandbox.tools.serving.protocol import keep_quiet

        keep_quiet()
        await serve_stdio(self.calls, self.tokens, token)

    async def _until_idle(self, seconds: float | None) -> None:
        loop = asyncio.get_running_loop()
        last = departures = loop.time()
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if not await self._blocking.run(tools_dir(self._home).is_dir):  # the home was removed
                return
            left = False
            if loop.time() - departures > _DEPARTURES_SECONDS:
                left, departures = await self._departed.look(), loop.time()
            if seconds is None or await self.tokens.in_use():
                last = loop.time()
            elif left or loop.time() - last > seconds:  # nobody is there who might start another session
                return

    def _forget_sockets(self) -> None:
        for name in (HTTP_SOCKET, LINES_SOCKET):
            (tools_dir(self._home) / name).unlink(missing_ok=True)
