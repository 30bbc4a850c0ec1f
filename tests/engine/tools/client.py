"""An MCP client as an agent's program has one; runs inside a sandbox with the SDK and nothing of Pinfold.

`client.py http|stdio CALLS...`: each call is `tool {arguments}` in one word; prints a JSON document a line.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any


@asynccontextmanager
async def connected(way: str) -> AsyncIterator[Any]:
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    server = json.loads(Path(os.environ["PINFOLD_MCP_CONFIG"]).read_text())["mcpServers"]["pinfold"]
    if way == "stdio":
        command = os.environ["PINFOLD_TOOLS_STDIO"]
        parameters = StdioServerParameters(command=command, env={"PATH": os.environ["PATH"]})
        async with Client(stdio_client(parameters)) as client:
            yield client
        return
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx2.AsyncClient(headers=server["headers"], timeout=60) as http,
        Client(streamable_http_client(server["url"], http_client=http)) as client,
    ):
        yield client


def show(**document: object) -> None:
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


async def main(way: str, calls: list[str]) -> None:
    show(interfaces=[name for _, name in socket.if_nameindex()])
    async with connected(way) as client:
        show(tools=sorted(tool.name for tool in (await client.list_tools()).tools))
        for call in calls:
            name, _, arguments = call.partition(" ")
            result = await client.call_tool(name, json.loads(arguments or "{}"))
            show(call=name, failed=result.is_error, text=result.content[0].text)
    show(done=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
