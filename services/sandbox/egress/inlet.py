"""The way from a sandbox's loopback device to the tool server: a port that carries bytes to a unix socket.

It needs nothing but Python's own library and is executed as a file too: `inlet.py SOCKET PORT COMMAND...` listens, and
becomes the command while a child of it carries the bytes.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys

PORT = 3129
"""Where programs in the sandbox find the tools, on 127.0.0.1."""

HTTP_SOCKET = "http.sock"
"""The socket of the tool server that speaks HTTP, in the directory of its sockets."""

_PIECE = 64 * 1024
_BACKLOG = 64
_CONNECTIONS = 64


def listen(port: int = PORT) -> socket.socket:
    """Listen on this network's loopback device.

    Raises:
        OSError: The port is taken.
    """
    return socket.create_server(("127.0.0.1", port), backlog=_BACKLOG)


async def carry(listening: socket.socket, target: str) -> None:
    """Carry every connection to a unix socket, which may be away for a while; never returns."""
    open_now: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if len(open_now) >= _CONNECTIONS:
            writer.close()
            return
        open_now.add(task)
        try:
            there_reader, there_writer = await asyncio.open_unix_connection(target)
        except OSError:
            open_now.discard(task)
            writer.close()
            return
        try:
            await asyncio.gather(_pump(reader, there_writer), _pump(there_reader, writer))
        except OSError:
            pass  # one side broke off; the other is told by being closed
        finally:
            open_now.discard(task)
            there_writer.close()
            writer.close()

    server = await asyncio.start_server(serve, sock=listening, limit=_PIECE)
    async with server:
        await server.serve_forever()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_PIECE):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


def main(arguments: list[str]) -> None:
    """Listen, leave a child that carries, and become the command."""
    target, port, *command = arguments
    listening = listen(int(port))
    if os.fork() == 0:
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):  # the command's output ends with the command
            os.dup2(nothing, descriptor)
        asyncio.run(carry(listening, target))
        os._exit(1)
    listening.close()
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
