"""The body of a plain request: exactly so many bytes go on as it has, so that no second request hides behind it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable

from services.sandbox.egress.heads import BadRequest, Head

Send = Callable[[bytes], Awaitable[None]]

_PIECE = 64 * 1024
_CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,12})(?:[ \t]*;[\t\x20-\x7e]*)?\r\n")


def body_length(head: Head) -> int | None:
    """How many bytes follow a head; None when they come in chunks.

    Raises:
        BadRequest: The head leaves a doubt.
    """
    lengths, codings = head.all("content-length"), head.all("transfer-encoding")
    if not codings:
        if not lengths:
            return 0
        if len(lengths) > 1 or not re.fullmatch(rb"[0-9]{1,15}", lengths[0]):
            raise BadRequest("the length of the body is in doubt")
        return int(lengths[0])
    if lengths or head.minor == 0 or len(codings) > 1 or codings[0].lower() != b"chunked":
        raise BadRequest("the length of the body is in doubt")
    return None


async def forward_body(reader: asyncio.StreamReader, send: Send, length: int | None) -> None:
    """Send a body on, chunks written anew.

    Raises:
        BadRequest: A chunk is malformed.
        OSError, asyncio.IncompleteReadError: A connection ended.
    """
    if length is not None:
        await _forward_bytes(reader, send, length)
        return
    while size := await _chunk_size(reader):
        await send(b"%x\r\n" % size)
        await _forward_bytes(reader, send, size)
        if await reader.readexactly(2) != b"\r\n":
            raise BadRequest("a chunk is longer than it says")
        await send(b"\r\n")
    if await reader.readexactly(2) != b"\r\n":
        raise BadRequest("fields after the body are not taken")
    await send(b"0\r\n\r\n")


async def _chunk_size(reader: asyncio.StreamReader) -> int:
    try:
        line = await reader.readuntil(b"\n")
    except asyncio.LimitOverrunError as error:
        raise BadRequest("a chunk's line is too long") from error
    found = _CHUNK_LINE.fullmatch(line)
    if found is None:
        raise BadRequest("a chunk's line is malformed")
    return int(found[1], 16)


async def _forward_bytes(reader: asyncio.StreamReader, send: Send, length: int) -> None:
    while length:
        piece = await reader.read(min(length, _PIECE))
        if not piece:
            raise asyncio.IncompleteReadError(b"", length)
        await send(piece)
        length -= len(piece)
