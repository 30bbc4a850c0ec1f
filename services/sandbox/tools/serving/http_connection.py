"""One connection of the HTTP socket: a bound on how many there are, on waiting for a request, and on sending an answer.

A connection that sends its request drop by drop, or does not read its answer, holds nothing up but itself.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from services.sandbox.tools.serving.answers import GRANT, json_answer

CONNECTIONS = 512
HEAD_LIMIT = 32 * 1024
"""The most bytes of a request's line and headers."""

REQUEST_SECONDS = 20.0
"""How long a whole request may take to arrive, the first from the connection on."""

ANSWER_SECONDS = 20.0
"""How long a client may take none of its answer."""

_NO_HTTP = f"this is no HTTP/1.1 request, or its line and headers have over {HEAD_LIMIT // 1024} KiB"
_LATE = f"the request was not whole within {REQUEST_SECONDS:.0f} seconds"


class Crowd:
    """All connections of one server; where there are too many, the oldest that is idle ends."""

    def __init__(self) -> None:
        self._all: dict[HttpConnection, None] = {}

    def join(self, connection: HttpConnection) -> None:
        """Add a connection that was just made."""
        self._all[connection] = None
        if len(self._all) > CONNECTIONS:
            idle = next((each for each in self._all if not each.busy), connection)
            self.leave(idle)
            idle.transport.abort()

    def leave(self, connection: HttpConnection) -> None:
        """Forget a connection."""
        self._all.pop(connection, None)


class HttpConnection(H11Protocol):
    """What uvicorn makes of a connection, within bounds."""

    def __init__(
        self,
        crowd: Crowd,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._crowd = crowd
        self._late: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    @property
    def busy(self) -> bool:
        """Whether it is being answered to a good token."""
        return self.cycle is not None and not self.cycle.response_complete and GRANT in self.scope

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Make room for it and begin to wait for a request."""
        super().connection_made(transport)
        self._crowd.join(self)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._crowd.leave(self)
        for timer in (self._late, self._unread):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take some bytes; a request that is not whole with them goes on being waited for."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """The client does not read."""
        super().pause_writing()
        self._unread = self.loop.call_later(ANSWER_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads again."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request, and end the connection."""
        self._refuse(400, _NO_HTTP)

    def _watch(self) -> None:
        """Have one deadline from the moment a request is waited for until it is whole."""
        waits = self.conn.their_state in (h11.IDLE, h11.SEND_BODY) and not self.transport.is_closing()
        if waits and self._late is None:
            self._late = self.loop.call_later(REQUEST_SECONDS, self._refuse, 408, _LATE)
        elif not waits and self._late is not None:
            self._late.cancel()
            self._late = None

    def _refuse(self, status: int, words: str) -> None:
        if self.transport.is_closing():
            return
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        headers, body = json_answer(words)
        events = (
            h11.Response(status_code=status, headers=[*headers, (b"connection", b"close")]),
            h11.Data(data=body),
            h11.EndOfMessage(),
        )
        try:
            for event in events:
                self.transport.write(self.conn.send(event) or b"")
        except h11.LocalProtocolError:  # an answer has begun already
            self.transport.abort()
            return
        self.transport.close()
