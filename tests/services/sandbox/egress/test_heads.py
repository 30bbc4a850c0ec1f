"""Heads that get past the reading can be read in one way only, here and at the server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.sandbox.egress.heads import BadRequest, Head, forwarded_head, parse_head, plain_target, tunnel_target

NAMES = st.sampled_from(
    ["Host", "Connection", "Content-Length", "Transfer-Encoding", "TE", "Upgrade", "Proxy-Connection", "X-A", "x-b"]
)
VALUES = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=30)
FIELDS = st.lists(st.tuples(NAMES, VALUES), max_size=12)
ENDINGS = st.sampled_from([b"\r\n", b"\n", b"\r", b"\r\n ", b"\r\n\r\n", b"\0"])


def head_of(fields: list[tuple[str, str]]) -> bytes:
    lines = [b"GET http://example.org/ HTTP/1.1"]
    lines += [f"{name}: {value}".encode("latin-1") for name, value in fields]
    return b"\r\n".join([*lines, b"", b""])


@given(FIELDS)
def test_what_goes_on_has_one_host_and_nothing_of_this_hop(fields: list[tuple[str, str]]) -> None:
    try:
        head = parse_head(head_of(fields))
    except BadRequest:
        return
    sent = parse_head(forwarded_head(head, "example.org", "/"))
    assert sent.all("host") == [b"example.org"]
    assert sent.all("connection") == [b"close"]
    assert not any(sent.all(name) for name in ("te", "upgrade", "proxy-connection", "keep-alive"))
    for name in ("content-length", "transfer-encoding"):  # whoever names them in Connection does not lose them
        assert sent.all(name) == head.all(name)


@given(FIELDS, ENDINGS, st.data())
def test_another_end_of_a_line_anywhere_never_adds_a_field(
    fields: list[tuple[str, str]], ending: bytes, data: st.DataObject
) -> None:
    whole = head_of(fields)
    place = data.draw(st.integers(0, len(whole) - 4))
    try:
        head = parse_head(whole[:place] + ending + b"Transfer-Encoding: chunked" + whole[place:])
    except BadRequest:
        return
    assert ending == b"\r\n"
    assert b"\n" not in forwarded_head(head, "example.org", "/").replace(b"\r\n", b"")


@given(st.binary(max_size=400))
def test_any_bytes_are_a_head_or_refused(data: bytes) -> None:
    try:
        head = parse_head(data)
    except BadRequest:
        return
    assert data.startswith(f"{head.method} {head.target} HTTP/1.{head.minor}".encode())


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=60))
def test_the_authority_of_a_url_ends_where_its_path_begins(rest: str) -> None:
    try:
        authority, path = plain_target(Head("GET", f"http://{rest}", 1, ()))
    except BadRequest:
        return
    assert not set(authority) & set("/?#")
    assert f"{authority}{path}" in (rest, f"{rest}/", rest.replace("?", "/?", 1))


def test_a_target_is_never_both() -> None:
    with pytest.raises(BadRequest, match="CONNECT wants"):
        tunnel_target(Head("CONNECT", "http://example.org:80", 1, ()))
    with pytest.raises(BadRequest, match="whole http"):
        plain_target(Head("GET", "example.org:80", 1, ()))
