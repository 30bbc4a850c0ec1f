"""Streamable HTTP over a unix socket: only with a session's token, and from no web page."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from services.sandbox.tools.grants import Grant, Token
from services.sandbox.tools.serving.answers import GRANT, VOID, WRONG, json_answer
from services.sandbox.tools.serving.calls import Calls
from services.sandbox.tools.serving.protocol import Context, mcp_server
from services.sandbox.tools.serving.seats import Full, Limits
from services.sandbox.tools.tokens import Tokens

if TYPE_CHECKING:
    from uvicorn import Server

PATH = "/mcp"
REQUEST_LIMIT = 2 * 1024 * 1024
"""The most bytes of a request's body."""

_BEARER = (b"www-authenticate", b"Bearer")
_CLOSE = (b"connection", b"close")
_CLOSING_SECONDS = 2
_HERE = ("127.0.0.1", "localhost", "[::1]")
_MISSING = "no token was given; it is in the file $PINFOLD_TOKEN_FILE, to be sent as 'Authorization: Bearer ...'"


class Guard:
    """Lets only requests through that carry a good token, and remembers what it allows.

    Args:
        app: What they go to.
        tokens: Says what a token allows.
        limits: How many there may be at once.
    """

    def __init__(self, app: ASGIApp, tokens: Tokens, limits: Limits) -> None:
        self._app = app
        self._tokens = tokens
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        if scope["path"] != PATH:
            await _refuse(send, 404, f"nothing is here; the tools are at {PATH}")
        elif scope["method"] != "POST":  # nothing is told unasked, so there is no stream to wait at
            await _refuse(send, 405, "only POST is answered here", (b"allow", b"POST"))
        elif (token := _bearer(scope)) is None:
            await _refuse(send, 401, _MISSING, _BEARER)
        elif (grant := await self._tokens.check(token)) is None:
            in_turn = await self._limits.wrong.wait()
            await _refuse(send, 401 if in_turn else 429, VOID if in_turn else WRONG, _BEARER, _CLOSE)
        else:
            with self._limits.calls.taken(grant.session) as full:
                if full is not None:
                    status = 429 if full is Full.SESSION else 503
                    await _refuse(send, status, f"the call is refused: {full}", (b"retry-after", b"1"))
                    return
                scope[GRANT] = grant
                await self._app(scope, receive, send)


async def grant_of_request(context: Context) -> Grant | None:
    """What the token of a request allows; it was checked when the request came."""
    scope: dict[str, Any] | None = getattr(context.request, "scope", None)
    return None if scope is None else scope.get(GRANT)


@asynccontextmanager
async def serve_http(calls: Calls, tokens: Tokens, limits: Limits, listening: socket.socket) -> AsyncIterator[None]:
    """Serve for the length of a block.

    Args:
        calls: Answers.
        tokens: Says what a token allows.
        limits: How much there may be at once.
        listening: Where; closed at the end.
    """
    manager = StreamableHTTPSessionManager(
        mcp_server(calls, grant_of_request),
        stateless=True,
        security_settings=TransportSecuritySettings(
            allowed_hosts=[host for name in _HERE for host in (name, f"{name}:*")],
            allowed_origins=[origin for name in _HERE for origin in (f"http://{name}", f"http://{name}:*")],
        ),
        max_request_body_size=REQUEST_LIMIT,
    )
    server = _web_server(Guard(manager.handle_request, tokens, limits))
    async with manager.run():
        serving = asyncio.create_task(server.serve(sockets=[listening]), name="serve tools over http")
        try:
            yield
        finally:
            server.should_exit = True
            with suppress(asyncio.CancelledError):
                await asyncio.wait({serving})
            if not serving.cancelled():
                serving.result()


def _web_server(app: ASGIApp) -> Server:
    """Make a server that leaves signals to whoever runs it."""
    import uvicorn  # here, since it loads a command line as well

    from services.sandbox.tools.serving.http_connection import HEAD_LIMIT, Crowd, HttpConnection

    class WebServer(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    return WebServer(
        uvicorn.Config(
            app,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            http=partial(HttpConnection, Crowd()),  # type: ignore[arg-type]  # called like a class
            ws="none",
            h11_max_incomplete_event_size=HEAD_LIMIT,
            timeout_graceful_shutdown=_CLOSING_SECONDS,
        )
    )


def _bearer(scope: Scope) -> Token | None:
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(given) != 1 or given[0][:7].lower() != b"bearer ":
        return None
    return Token(given[0][7:].strip().decode("latin-1"))


async def _refuse(send: Send, status: int, words: str, *more: tuple[bytes, bytes]) -> None:
    headers, body = json_answer(words)
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *more]})
    await send({"type": "http.response.body", "body": body})
