"""HTTP as engines speak it, and as something else may speak it instead."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.sandbox.engines.docker.connection import Connection, Dialer
from services.sandbox.engines.docker.endpoint import Endpoint
from services.sandbox.engines.docker.http import Answer, BadAnswer, Chunked, read_answer, request_head


@asynccontextmanager
async def speaking(folder: Path, *pieces: bytes) -> AsyncIterator[Connection]:
    """A connection to somebody who says these pieces, one after the other, and hangs up."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(ConnectionError):
                for piece in pieces:
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0)
                writer.close()
                await writer.wait_closed()
        finally:
            writer.transport.abort()

    server = await asyncio.start_unix_server(serve, folder / "s")
    connection = await Dialer(Endpoint("", socket=folder / "s"), None).connect()
    try:
        yield connection
    finally:
        connection.close()
        server.close()
        await server.wait_closed()


async def body_of(answer: Answer) -> bytes:
    parts = []
    while data := await answer.read():
        parts.append(data)
    return b"".join(parts)


HELLO = b"hello world"


@pytest.mark.parametrize(
    ("said", "status", "body", "complete"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world", 200, HELLO, True, id="counted"),
        pytest.param(b"HTTP/1.0 200 OK\r\n\r\nhello world", 200, HELLO, False, id="until closed"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n",
            200,
            HELLO,
            True,
            id="chunked",
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nTRANSFER-ENCODING:Chunked\r\n\r\nB\r\nhello world\r\n00\r\nA: b\r\n\r\nmore",
            200,
            HELLO,
            True,
            id="chunked with a trailer and what does not belong to it",
        ),
        pytest.param(b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", True, id="nothing"),
        pytest.param(b"HTTP/1.1 101 UPGRADED\r\nUpgrade: tcp\r\n\r\nhello world", 101, HELLO, False, id="hijacked"),
        pytest.param(b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", 500, b"", True, id="an error"),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_every_framing_is_read_in_any_cuts(
    tmp_path: Path, said: bytes, status: int, body: bytes, complete: bool, size: int
) -> None:
    pieces = [said[start : start + size] for start in range(0, len(said), size)]
    async with speaking(tmp_path, *pieces) as connection:
        answer = await read_answer(connection)
        assert answer.status == status
        assert await body_of(answer) == body
        assert answer.complete == complete


@pytest.mark.parametrize(
    ("said", "why"),
    [
        pytest.param(b"", "without an answer", id="nothing"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Le", "without an answer", id="half a head"),
        pytest.param(b"hello\r\n\r\n", "not HTTP", id="another protocol"),
        pytest.param(b"HTTP/2 200\r\n\r\n", "not HTTP", id="another version"),
        pytest.param(b"HTTP/1.1 2x0 OK\r\n\r\n", "no number", id="no status"),
        pytest.param(b"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "no header", id="no header"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "no number", id="a negative length"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 1_0\r\n\r\n", "no number", id="an odd length"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", "in the middle", id="too short"),
        pytest.param(b"HTTP/1.1 200 OK\r\nA: " + b"b" * 70_000, "too long", id="an endless head"),
    ],
)
async def test_what_is_no_answer_is_an_error(tmp_path: Path, said: bytes, why: str) -> None:
    async with speaking(tmp_path, said) as connection:
        with pytest.raises(BadAnswer, match=why):
            await body_of(await read_answer(connection))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        pytest.param(b"5\r\nhel", "in the middle", id="cut in a chunk"),
        pytest.param(b"5\r\nhello\r\n", "in the middle", id="cut between chunks"),
        pytest.param(b"5\r\nhello\r\n0\r\n", "in the middle", id="cut before the last line"),
        pytest.param(b"5\r\nhello world", "longer than its size", id="too long"),
        pytest.param(b"x\r\nhello", "no number", id="no size"),
        pytest.param(b"-5\r\nhello", "no number", id="a negative size"),
        pytest.param(b"+5\r\nhello", "no number", id="a signed size"),
        pytest.param(b"\r\nhello", "no number", id="an empty size"),
        pytest.param(b"f" * 16 + b"\r\nhello", "no number", id="a size beyond all bounds"),
        pytest.param(b"1" * 300, "too long", id="a size without an end"),
        pytest.param(b"0\r\n" + b"a: b\r\n" * 10_000, "too much", id="an endless trailer"),
    ],
)
def test_broken_chunks_are_an_error(said: bytes, why: str) -> None:
    with pytest.raises(BadAnswer, match=why):
        read_to_the_end(said)


def read_to_the_end(said: bytes) -> None:
    chunked = Chunked()
    chunked.feed(said)
    chunked.end()


def test_a_size_is_not_believed_with_memory() -> None:
    chunked = Chunked()
    assert chunked.feed(b"ffffffffffff\r\nhello") == b"hello"
    assert chunked.feed(b" world") == b" world"
    assert not chunked.complete


@given(st.lists(st.binary(min_size=1, max_size=300), max_size=20), st.data())
def test_chunks_come_out_as_they_went_in_whatever_the_cuts(parts: list[bytes], data: st.DataObject) -> None:
    said = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(said)), max_size=12)))
    chunked = Chunked()
    body = b"".join(chunked.feed(said[start:end]) for start, end in zip([0, *cuts], [*cuts, len(said)], strict=True))
    chunked.end()
    assert body == b"".join(parts)
    assert chunked.complete


@given(st.binary(max_size=2000))
def test_no_bytes_do_more_than_raise_bad_answer(said: bytes) -> None:
    chunked = Chunked()
    try:
        body = chunked.feed(said)
    except BadAnswer:
        return
    assert len(body) <= len(said)


def test_a_request_names_its_length_only_when_it_has_a_body() -> None:
    get = request_head("GET", "/x", "docker", {}, version="1.0", length=None)
    assert get == b"GET /x HTTP/1.0\r\nHost: docker\r\nUser-Agent: pinfold\r\nConnection: close\r\n\r\n"
    post = request_head("POST", "/x", "docker", {"Upgrade": "tcp", "Connection": "Upgrade"}, version="1.1", length=2)
    assert b"Content-Length: 2\r\n" in post
    assert b"close" not in post


async def test_a_reader_that_waits_holds_up_the_sender_and_loses_nothing(tmp_path: Path) -> None:
    size = 30_000_000
    sent = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.0 200 OK\r\n\r\n")
        while sent < size:
            writer.write(b"x" * 100_000)
            await writer.drain()
            sent += 100_000
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_unix_server(serve, tmp_path / "s")
    connection = await Dialer(Endpoint("", socket=tmp_path / "s"), None).connect()
    answer = await read_answer(connection)
    for _ in range(200):
        await asyncio.sleep(0)
    assert sent < 2_000_000
    assert len(await body_of(answer)) == size
    connection.close()
    server.close()
    await server.wait_closed()


async def test_sending_on_a_closed_connection_is_an_error(tmp_path: Path) -> None:
    async with speaking(tmp_path, b"bye") as connection:
        assert await connection.receive() == b"bye"
        connection.close()
        connection.close()
        with pytest.raises(ConnectionError):
            await connection.send(b"hello")
        assert await connection.receive() == b""
