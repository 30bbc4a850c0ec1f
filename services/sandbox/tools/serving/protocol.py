"""The tools as MCP, whatever carries it; the only module besides the transports that knows the SDK."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import (
    Tool as Offered,
)

from services import __version__
from services.errors import PinfoldError, SessionRefused
from services.sandbox.tools.grants import Grant
from services.sandbox.tools.serving.calls import Answered, Calls
from services.sandbox.tools.serving.offered import Tool

NAME = "pinfold"

Context = ServerRequestContext[Any]
GrantOf = Callable[[Context], Awaitable[Grant | None]]
"""Finds what the caller of a request may do now; None when its token is not good (any more)."""

_INSTRUCTIONS = (
    "Memory that outlives this session. Recall before you start; store preferences, decisions and corrections as you"
    " learn them. Some calls wait for an operator's approval."
)


def keep_quiet() -> None:
    """Let the libraries write no log: they quote what clients send, who could fill a disk with it."""
    for library in ("mcp", "uvicorn", "sse_starlette"):
        logging.getLogger(library).setLevel(logging.CRITICAL)


def mcp_server(calls: Calls, grant_of: GrantOf) -> Server[Any]:
    """Make a server that offers and calls tools, each request by its own caller's grant.

    Args:
        calls: Answers.
        grant_of: Finds the caller's grant.
    """

    async def list_tools(context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        grant = await grant_of(context)
        try:
            found = () if grant is None else calls.offered(grant)
        except PinfoldError:  # the agent is gone or has no policy; each call says so
            found = ()
        return ListToolsResult(tools=[_offered(tool) for tool in found])

    async def call_tool(context: Context, asked: CallToolRequestParams) -> CallToolResult:
        grant = await grant_of(context)
        if grant is None:
            refused = SessionRefused("the call is refused", why="the session's token is void: it has ended")
            return _result(Answered(str(refused), failed=True))
        return _result(await calls.call(grant, asked.name, asked.arguments or {}))

    server: Server[Any] = Server(
        NAME,
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.clear()  # no tracing: spans would carry what agents store
    return server


def _offered(tool: Tool) -> Offered:
    return Offered(
        name=tool.name,
        description=tool.purpose,
        input_schema=tool.schema,
        annotations=ToolAnnotations(read_only_hint=not tool.acts, open_world_hint=False),
    )


def _result(answered: Answered) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=answered.text)],
        structured_content=answered.data,
        is_error=answered.failed,
    )
