"""A tool server in this process, and clients of it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from services.home import Home
from services.pinfold import Pinfold
from services.sandbox.egress import HTTP_SOCKET
from services.sandbox.tools import Token, tools_dir
from services.sandbox.tools.sockets import LINES_SOCKET, answers

URL = "http://127.0.0.1:3129/mcp"
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@asynccontextmanager
async def served(pinfold: Pinfold) -> AsyncIterator[None]:
    """Serve for the length of a block."""
    serving = asyncio.create_task(pinfold.tools.serve())
    try:
        async with asyncio.timeout(30):
            while not await asyncio.to_thread(answers, pinfold.home):
                if serving.done():
                    serving.result()
                await asyncio.sleep(0.02)
        yield
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving


@asynccontextmanager
async def web(pinfold: Pinfold, token: Token | None = None) -> AsyncIterator[httpx2.AsyncClient]:
    """Requests to the HTTP socket, with a token."""
    directory = os.open(tools_dir(pinfold.home), os.O_RDONLY)
    headers = {} if token is None else {"Authorization": f"Bearer {token.reveal()}"}
    transport = httpx2.AsyncHTTPTransport(uds=f"/proc/self/fd/{directory}/{HTTP_SOCKET}")
    try:
        async with httpx2.AsyncClient(transport=transport, headers=headers, timeout=60) as client:
            yield client
    finally:
        os.close(directory)


@asynccontextmanager
async def over_http(pinfold: Pinfold, token: Token, mode: str = "auto") -> AsyncIterator[Client]:
    """The SDK's client over HTTP."""
    async with web(pinfold, token) as http, Client(streamable_http_client(URL, http_client=http), mode=mode) as client:
        yield client


@asynccontextmanager
async def lines(pinfold: Pinfold) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection to the socket that speaks lines."""
    directory = os.open(tools_dir(pinfold.home), os.O_RDONLY)
    try:
        reader, writer = await asyncio.open_unix_connection(f"/proc/self/fd/{directory}/{LINES_SOCKET}", limit=2**23)
    finally:
        os.close(directory)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def server_of(home: Home) -> int | None:
    """The process that serves a home."""
    wanted = f"services.serve_tools\0{home.root}\0".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (folder / "cmdline").read_bytes():
                return int(folder.name)
        except OSError:
            continue  # it has just ended
    return None


async def say(writer: asyncio.StreamWriter, message: Any) -> None:
    writer.write(json.dumps(message).encode() + b"\n")
    await writer.drain()


async def hear(reader: asyncio.StreamReader) -> dict[str, Any]:
    async with asyncio.timeout(30):
        found: dict[str, Any] = json.loads(await reader.readline())
        return found


async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: Token) -> None:
    writer.write(token.reveal().encode() + b"\n")
    await say(writer, HELLO)
    assert (await hear(reader))["result"]["serverInfo"]["name"] == "pinfold"
    await say(writer, READY)


def call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
