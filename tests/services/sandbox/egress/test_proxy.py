"""What the proxy lets through and what it refuses, asked over real sockets."""

from __future__ import annotations

import asyncio
import os

import pytest

from services.sandbox.egress.heads import HEAD_LIMIT
from services.sandbox.egress.proxy import Bounds
from tests.services.sandbox.egress.internet import PUBLIC, WAIT, Asked, Internet

TUNNELS = [
    ("a listed name", "example.org:443", 200), ("another case and a dot", "EXAMPLE.org.:443", 200),
    ("below a star", "a.b.example.com:80", 200), ("below a listed name", "www.example.org:443", 200),
    ("a port its entry opens", "other.net:8443", 200), ("a listed address", "10.0.0.5:443", 200),
    ("a local name", "git.lan:80", 200), ("a name in another script, as sent", "xn--mnchen-3ya.example.com:443", 200),
    ("an unlisted name", "evil.org:443", 403), ("a parent", "org:443", 403),
    ("a longer name", "evil-example.org:443", 403), ("a name that goes on", "example.org.evil.net:443", 403),
    ("an odd port", "example.org:22", 403), ("the usual port of another entry", "other.net:443", 403),
    ("port nought", "example.org:0", 403), ("a port too large", "example.org:65536", 403),
    ("an address", "93.184.216.34:443", 403), ("six", "[2606:2800::1]:443", 403), ("this machine", "127.0.0.1:80", 403),
    ("decimal", "2130706433:80", 403), ("octal", "0177.0.0.1:80", 403), ("hexadecimal", "0x7f.0.0.1:80", 403),
    ("hexadecimal in one", "0x7f000001:80", 403), ("short", "127.1:80", 403), ("nought", "0:80", 403),
    ("mapped", "[::ffff:127.0.0.1]:80", 403), ("mapped in hexadecimal", "[::ffff:7f00:1]:80", 403),
    ("a listed address, mapped", "[::ffff:10.0.0.5]:443", 200), ("a listed address and a dot", "10.0.0.5.:443", 200),
    ("a listed address in decimal", "167772165:443", 403), ("metadata", "169.254.169.254:80", 403),
    ("metadata and a dot", "169.254.169.254.:80", 403), ("metadata by name", "metadata.google.internal:80", 403),
    ("metadata in six", "[fd00:ec2::254]:80", 403), ("link-local", "[fe80::1]:80", 403),
    ("localhost", "localhost:80", 403),
    ("a user name", "example.org@evil.org:443", 403), ("an escaped name", "example%2eorg:443", 403),
    ("an underlined name", "_x.example.com:443", 200), ("empty labels", "a..example.com:443", 403),
    ("a password", "a:b@example.org:443", 400), ("no port", "example.org", 400), ("no host", ":443", 400),
    ("a URL", "https://example.org/", 400), ("a zone", "[fe80::1%25eth0]:80", 400),
    ("two ports", "example.org:80:443", 400),
    ("half a bracket", "[::1:80", 400), ("a path", "example.org:443/", 400), ("a signed port", "example.org:+443", 400),
]  # fmt: skip


@pytest.mark.parametrize(("target", "status"), [row[1:] for row in TUNNELS], ids=[row[0] for row in TUNNELS])
async def test_tunnels(proxy: Asked, internet: Internet, target: str, status: int) -> None:
    assert await proxy.status(f"CONNECT {target} HTTP/1.1\r\nHost: example.org:443\r\n\r\n".encode()) == status
    assert bool(internet.dialled) is (status == 200)
    assert bool(proxy.told) is (status != 200)


PLAIN = [
    ("a listed name", "http://example.org/a?b", 200), ("capitals", "HTTP://EXAMPLE.ORG/", 200),
    ("no path", "http://example.org", 200), ("only a question", "http://example.org?q", 200),
    ("its port", "http://other.net:8443/", 200), ("an unlisted name", "http://evil.org/", 403),
    ("a user name", "http://example.org@evil.org/", 403), ("a user name of a listed one", "http://u@example.org/", 403),
    ("an odd port", "http://example.org:22/", 403), ("metadata", "http://169.254.169.254/latest/meta-data/", 403),
    ("a number", "http://2852039166/", 403), ("a backslash", "http://example.org\\@evil.org/", 403),
    ("a path alone", "/", 400), ("a star", "*", 400), ("a fragment", "http://example.org/#x", 400),
    ("over TLS", "https://example.org/", 400), ("another scheme", "ftp://example.org/", 400),
    ("no host", "http:///", 400),
]  # fmt: skip


@pytest.mark.parametrize(("target", "status"), [row[1:] for row in PLAIN], ids=[row[0] for row in PLAIN])
async def test_plain_requests(proxy: Asked, internet: Internet, target: str, status: int) -> None:
    assert await proxy.status(f"GET {target} HTTP/1.1\r\nHost: example.org\r\n\r\n".encode()) == status
    assert bool(internet.dialled) is (status == 200)


RESOLVED = [
    ("public", [PUBLIC], 200), ("public, of the sixth kind", ["2606:2800::1"], 200), ("private", ["10.0.0.5"], 403),
    ("this machine", ["127.0.0.1"], 403), ("six, this machine", ["::1"], 403), ("any", ["0.0.0.0"], 403),
    ("link-local", ["169.254.1.1"], 403), ("metadata", ["169.254.169.254"], 403), ("mapped", ["::ffff:10.1.1.1"], 403),
    ("through NAT64", ["64:ff9b::7f00:1"], 403), ("multicast", ["224.0.0.1"], 403), ("none", [], 502),
]  # fmt: skip


@pytest.mark.parametrize(("addresses", "status"), [row[1:] for row in RESOLVED], ids=[row[0] for row in RESOLVED])
async def test_where_a_listed_name_leads(proxy: Asked, internet: Internet, addresses: list[str], status: int) -> None:
    internet.names["example.org"] = [addresses]
    assert await proxy.status(b"CONNECT example.org:443 HTTP/1.1\r\n\r\n") == status
    assert internet.dialled == ([(addresses[0], 443)] if status == 200 else [])


async def test_a_name_is_looked_up_once_and_its_judged_address_connected_to(proxy: Asked, internet: Internet) -> None:
    internet.names["example.org"] = [[PUBLIC], ["127.0.0.1"]]
    assert await proxy.status(b"CONNECT example.org:443 HTTP/1.1\r\n\r\n") == 200
    assert (internet.asked, internet.dialled) == (["example.org"], [(PUBLIC, 443)])
    assert await proxy.status(b"CONNECT example.org:443 HTTP/1.1\r\n\r\n") == 403


async def test_of_several_addresses_only_allowed_ones_are_tried(proxy: Asked, internet: Internet) -> None:
    internet.names["example.org"] = [["10.0.0.9", PUBLIC, "127.0.0.1"]]
    assert await proxy.status(b"CONNECT example.org:443 HTTP/1.1\r\n\r\n") == 200
    assert internet.dialled == [(PUBLIC, 443)]


async def test_an_unlisted_name_is_not_even_looked_up(proxy: Asked, internet: Internet) -> None:
    await proxy.status(b"CONNECT secret-of-the-agent.evil.org:443 HTTP/1.1\r\n\r\n")
    assert internet.asked == []


async def test_the_server_is_told_its_own_name_and_nothing_of_the_hop(proxy: Asked, internet: Internet) -> None:
    await proxy.say(
        b"GET http://example.org/a?b HTTP/1.1\r\nHost: hidden.evil.org\r\nProxy-Connection: keep-alive\r\nX-A: 1\r\n"
        b"Connection: keep-alive, X-Gone\r\nX-Gone: 1\r\nProxy-Authorization: Basic eA==\r\nUpgrade: h2c\r\n\r\n"
    )
    (received,) = internet.received
    assert bytes(received) == b"GET /a?b HTTP/1.1\r\nHost: example.org\r\nx-a: 1\r\nConnection: close\r\n\r\n"


BODIES = [
    ("of a length", b"Content-Length: 5\r\n", b"hello", b"hello"),
    ("in chunks", b"Transfer-Encoding: chunked\r\n", b"3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
     b"3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"),
    ("none", b"", b"", b""),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "body", "sent"), [row[1:] for row in BODIES], ids=[row[0] for row in BODIES])
async def test_a_body_goes_on_and_what_follows_does_not(
    proxy: Asked, internet: Internet, fields: bytes, body: bytes, sent: bytes
) -> None:
    smuggled = b"GET http://evil.org/ HTTP/1.1\r\nHost: evil.org\r\n\r\n"
    internet.until = sent or b"\r\n\r\n"
    answer = await proxy.say(b"POST http://example.org/ HTTP/1.1\r\n" + fields + b"\r\n" + body + smuggled)
    assert answer.endswith(b"hi")
    (received,) = internet.received
    assert received.partition(b"\r\n\r\n")[2] == sent


POST = b"POST http://example.org/ HTTP/1.1\r\n"
MALFORMED = [
    ("two lengths", POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"),
    ("a list of lengths", POST + b"Content-Length: 5, 5\r\n\r\nhello"),
    ("a signed length", POST + b"Content-Length: +5\r\n\r\nhello"),
    ("a length and chunks", POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("two codings", POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    ("a coding twice", POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"),
    ("a hidden coding", POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n"),
    ("chunks of HTTP/1.0", b"POST http://example.org/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("a space before a colon", POST + b"Content-Length : 5\r\n\r\nhello"),
    ("a folded field", POST + b"X: a\r\n b\r\n\r\n"),
    ("a bare LF", b"GET http://example.org/ HTTP/1.1\nHost: x\r\n\r\n"),
    ("a bare LF in a field", POST + b"X: a\nTransfer-Encoding: chunked\r\n\r\n"),
    ("a bare CR", POST + b"X: a\rb\r\n\r\n"),
    ("a NUL", POST + b"X: a\0b\r\n\r\n"),
    ("a field without a name", POST + b": x\r\n\r\n"),
    ("a field without a colon", POST + b"nothing\r\n\r\n"),
    ("two hosts", POST + b"Host: a\r\nHost: b\r\n\r\n"),
    ("two spaces", b"GET  http://example.org/ HTTP/1.1\r\n\r\n"),
    ("a tab", b"GET\thttp://example.org/ HTTP/1.1\r\n\r\n"),
    ("no version", b"GET http://example.org/\r\n\r\n"),
    ("another version", b"GET http://example.org/ HTTP/2.0\r\n\r\n"),
    ("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ("a name in raw bytes", "CONNECT exаmple.org:443 HTTP/1.1\r\n\r\n".encode()),
    ("a tunnel with a body", b"CONNECT example.org:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"),
    ("an empty line first", b"\r\n\r\nGET http://example.org/ HTTP/1.1\r\n\r\n"),
    ("TLS at once", b"\x16\x03\x01\x00\x04\x01\x00\x00\x00\r\n\r\n"),
    ("SOCKS", b"\x05\x01\x00\r\n\r\n"),
]


@pytest.mark.parametrize("request_", [row[1] for row in MALFORMED], ids=[row[0] for row in MALFORMED])
async def test_what_could_be_read_in_two_ways_is_refused(proxy: Asked, internet: Internet, request_: bytes) -> None:
    assert await proxy.status(request_) == 400
    assert internet.dialled == []
    assert proxy.told


CHUNKS = [
    ("a size that is none", b"zz\r\nhello\r\n0\r\n\r\n"), ("a signed size", b"-1\r\nhello\r\n0\r\n\r\n"),
    ("a huge size", b"fffffffffffffffff\r\n"), ("a longer chunk", b"2\r\nhello\r\n0\r\n\r\n"),
    ("a bare LF", b"5\nhello\r\n0\r\n\r\n"), ("a trailer", b"0\r\nX-Late: 1\r\n\r\n"),
    ("an endless line", b"5;" + b"x" * (HEAD_LIMIT + 10)),
]  # fmt: skip


@pytest.mark.parametrize("body", [row[1] for row in CHUNKS], ids=[row[0] for row in CHUNKS])
async def test_malformed_chunks_end_the_request(proxy: Asked, internet: Internet, body: bytes) -> None:
    internet.until = b"\r\n0\r\n\r\n"
    assert await proxy.status(POST + b"Transfer-Encoding: chunked\r\n\r\n" + body) == 400
    assert b"\r\n0\r\n\r\n" not in b"".join(internet.received)


async def test_a_head_too_long_is_refused(proxy: Asked) -> None:
    assert await proxy.status(POST + b"X: " + b"x" * HEAD_LIMIT) == 431
    assert await proxy.status(POST + b"X: y\r\n" * 200 + b"\r\n") == 431


async def test_a_head_that_comes_byte_by_byte_is_given_up(internet: Internet) -> None:
    async with Asked(internet, "example.org", bounds=Bounds(head_seconds=0.3)) as proxy:
        reader, writer = await proxy.open()
        answer = asyncio.ensure_future(reader.read())
        for byte in POST * 10:
            if answer.done():
                break
            writer.write(bytes([byte]))
            await asyncio.sleep(0.02)
        assert (await answer).startswith(b"HTTP/1.1 408")
        writer.close()


async def test_connections_beyond_the_bound_are_refused_and_counted(internet: Internet) -> None:
    async with Asked(internet, "example.org", bounds=Bounds(connections=3)) as proxy:
        held = [await proxy.open() for _ in range(3)]
        for _, writer in held:
            writer.write(b"CONNECT example.org:443 HTTP/1.1\r\n\r\n")
        for reader, _ in held:
            assert b"200" in await reader.readuntil(b"\r\n\r\n")
        assert await proxy.status(b"CONNECT example.org:443 HTTP/1.1\r\n\r\n") == 503
        assert proxy.reasons == ["more connections at once than a sandbox may have"]
        for _, writer in held:
            writer.close()
        await asyncio.sleep(0)
        async with asyncio.timeout(WAIT):
            while await proxy.status(b"CONNECT example.org:443 HTTP/1.1\r\n\r\n") != 200:
                await asyncio.sleep(0.01)


async def test_a_connection_on_which_nothing_moves_is_dropped(internet: Internet) -> None:
    async with Asked(internet, "example.org", bounds=Bounds(idle_seconds=0.2)) as proxy:
        answer = await proxy.say(b"CONNECT example.org:443 HTTP/1.1\r\n\r\nhello", finish=False)
        assert answer.startswith(b"HTTP/1.1 200")


async def test_much_goes_through_in_both_directions_unchanged(proxy: Asked, internet: Internet) -> None:
    up, down = os.urandom(3_000_000), os.urandom(3_000_000)
    up = b"\x00" + up  # no TLS
    internet.answer, internet.until = down, up[-1000:]
    answer = await proxy.say(b"CONNECT example.org:443 HTTP/1.1\r\n\r\n" + up)
    assert answer.partition(b"\r\n\r\n")[2] == down
    assert bytes(internet.received[0]) == up


async def test_a_server_that_is_not_there_is_told_and_is_no_refusal(proxy: Asked, internet: Internet) -> None:
    async def nobody(address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        raise ConnectionRefusedError

    internet.dial = nobody  # type: ignore[method-assign]
    async with Asked(internet, "example.org") as proxy:
        answer = await proxy.say(b"CONNECT example.org:443 HTTP/1.1\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 502")
        assert b"nobody answers at example.org:443" in answer
        assert proxy.told == []


async def test_a_refusal_names_the_reason_to_the_agent_and_no_more_than_the_host_to_the_log(proxy: Asked) -> None:
    answer = await proxy.say(b"GET http://evil.org/secret?token=x HTTP/1.1\r\n\r\n")
    assert b"no entry names evil.org" in answer
    assert [str(refusal) for refusal in proxy.told] == ["http://evil.org: no entry names evil.org"]
