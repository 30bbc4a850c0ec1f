"""Streamable HTTP over a unix socket: only with a session's token, and from no web page."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from services.sandbox.tools.grants import Grant, Token
from services.sandbox.tools.serving.calls import Calls
from services.sandbox.tools.serving.protocol import Context, mcp_server
from services.sandbox.tools.tokens import Tokens

if TYPE_CHECKING:
    from uvicorn import Server

PATH = "/mcp"
REQUEST_LIMIT = 2 * 1024 * 1024
"""The most bytes of a request's body."""

_CONNECTIONS = 512
_CLOSING_SECONDS = 2
_HERE = ("127.0.0.1", "localhost", "[::1]")
_GRANT = "pinfold.grant"
_VOID = "the token is void: its session has ended, or it is of another home"
_MISSING = "no token was given; it is in the file $PINFOLD_TOKEN_FILE, to be sent as 'Authorization: Bearer ...'"


class Guard:
    """Lets only requests through that carry a good token, and remembers what it allows.

    Args:
        app: What they go to.
        tokens: Says what a token allows.
    """

    def __init__(self, app: ASGIApp, tokens: Tokens) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        if scope["path"] != PATH:
            await _refuse(send, 404, f"nothing is here; the tools are at {PATH}")
            return
        token = _bearer(scope)
        if token is None:
            await _refuse(send, 401, _MISSING)
            return
        grant = await self._tokens.check(token)
        if grant is None:
            await _refuse(send, 401, _VOID)
            return
        scope[_GRANT] = grant
        await self._app(scope, receive, send)


async def grant_of_request(context: Context) -> Grant | None:
    """What the token of a request allows; it was checked when the request came."""
    scope: dict[str, Any] | None = getattr(context.request, "scope", None)
    return None if scope is None else scope.get(_GRANT)


@asynccontextmanager
async def serve_http(calls: Calls, tokens: Tokens, listening: socket.socket) -> AsyncIterator[None]:
    """Serve for the length of a block.

    Args:
        calls: Answers.
        tokens: Says what a token allows.
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
    server = _web_server(Guard(manager.handle_request, tokens))
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
            limit_concurrency=_CONNECTIONS,
            timeout_graceful_shutdown=_CLOSING_SECONDS,
        )
    )


def _bearer(scope: Scope) -> Token | None:
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(given) != 1 or given[0][:7].lower() != b"bearer ":
        return None
    return Token(given[0][7:].strip().decode("latin-1"))


async def _refuse(send: Send, status: int, words: str) -> None:
    body = json.dumps({"error": words}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
