"""The name a client asks for over TLS: read from real hellos, from broken ones, and held against the tunnel's host."""

from __future__ import annotations

import ssl
from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.sandbox.egress.tls import HELLO_LIMIT, NoHello, client_hello, server_name
from tests.services.sandbox.egress.internet import Asked, Internet

TUNNEL = b"CONNECT example.org:443 HTTP/1.1\r\n\r\n"


@lru_cache
def hello(name: str | None) -> bytes:
    """What Python's own TLS client says first."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


def in_records(said: bytes, size: int) -> bytes:
    """The same hello cut into records of so many bytes."""
    message = said[5:]
    pieces = (message[start : start + size] for start in range(0, len(message), size))
    return b"".join(said[:3] + len(piece).to_bytes(2) + piece for piece in pieces)


@pytest.mark.parametrize("name", ["example.org", "a.b.example.com", None])
def test_the_name_of_a_real_hello_is_read(name: str | None) -> None:
    found = client_hello(hello(name))
    assert found is not None
    assert server_name(found) == name


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_hello_in_many_records_is_put_together(size: int) -> None:
    found = client_hello(in_records(hello("example.org"), size))
    assert found is not None
    assert server_name(found) == "example.org"


def test_a_hello_without_its_end_waits_for_more() -> None:
    said = hello("example.org")
    assert all(client_hello(said[:length]) is None for length in range(len(said)))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_hello_or_none_or_wait(data: bytes) -> None:
    try:
        found = client_hello(b"\x16\x03\x01" + data)
        if found is not None:
            server_name(found)
    except NoHello:
        return


@given(st.integers(0, 510), st.integers(0, 255))
def test_a_damaged_hello_never_gets_another_name_unseen(place: int, value: int) -> None:
    said = bytearray(hello("example.org"))
    said[place % len(said)] = value
    try:
        found = client_hello(bytes(said))
        name = None if found is None else server_name(found)
    except NoHello:
        return
    assert name is None or bytes(name, "ascii") in said


@pytest.mark.parametrize("asked", ["example.org", "EXAMPLE.ORG", None])
async def test_a_hello_for_the_tunnels_host_goes_on_unchanged(
    proxy: Asked, internet: Internet, asked: str | None
) -> None:
    said = hello(asked)
    internet.until = said[-20:]
    assert (await proxy.say(TUNNEL + said)).endswith(b"hi")
    assert bytes(internet.received[0]) == said


async def test_at_a_listed_address_any_name_may_be_asked_for(proxy: Asked, internet: Internet) -> None:
    said = hello("git.example.net")
    internet.until = said[-20:]
    assert (await proxy.say(b"CONNECT 10.0.0.5:443 HTTP/1.1\r\n\r\n" + said)).endswith(b"hi")


async def test_a_hello_in_small_pieces_goes_on_whole(proxy: Asked, internet: Internet) -> None:
    said = in_records(hello("example.org"), 20)
    internet.until = said[-20:]
    assert (await proxy.say(TUNNEL, *(said[start : start + 100] for start in range(0, len(said), 100)))).endswith(b"hi")
    assert bytes(internet.received[0]) == said


REFUSED = [
    ("another host", hello("evil.org"), "it asks example.org for evil.org over TLS"),
    ("another listed host", hello("www.example.com"), "it asks example.org for www.example.com over TLS"),
    ("another host in small records", in_records(hello("evil.org"), 3), "it asks example.org for evil.org over TLS"),
    ("no end", hello("evil.org")[:50], "its ClientHello has no end"),
    ("no hello", b"\x16\x03\x01\x00\x04\x02\x00\x00\x00", "it does not begin with a ClientHello"),
    ("an old version", b"\x16\x02\x00\x00\x04\x01\x00\x00\x00", "it does not begin with a handshake"),
    ("too long", b"\x16\x03\x01\x40\x00\x01\xff\xff\xff" + bytes(HELLO_LIMIT), "its ClientHello is too long"),
]


@pytest.mark.parametrize(("said", "reason"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
async def test_what_hides_another_host_reaches_no_server(
    proxy: Asked, internet: Internet, said: bytes, reason: str
) -> None:
    answer = await proxy.say(TUNNEL + said)
    assert answer in (b"", b"HTTP/1.1 200 Connection established\r\n\r\n")
    assert b"".join(internet.received) == b""
    assert proxy.reasons == [reason]
