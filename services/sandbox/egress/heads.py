"""Heads of HTTP requests, read strictly: what two programs might read differently is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass

HEAD_LIMIT = 32 * 1024
"""Bytes of a request's head."""

_FIELDS_LIMIT = 100
_REQUEST_LINE = re.compile(rb"([A-Z][A-Z0-9_-]{0,31}) ([\x21-\x7e]{1,8000}) HTTP/1\.([01])")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)")
_ABSOLUTE = re.compile(r"http://([^/?#]+)([/?][^#]*)?", re.IGNORECASE)
_OWN_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]/?#]+):([0-9]{1,5})")
_FRAMING = frozenset({"content-length", "transfer-encoding"})
_ONE_HOP = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "upgrade"}
)


class BadRequest(Exception):
    """A request that is not understood, or could be understood in two ways.

    Attributes:
        status: Of HTTP, for the answer.
        reason: One clause.
    """

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True)
class Head:
    """The head of one request.

    Attributes:
        target: As sent.
        minor: The minor number of the HTTP version, 0 or 1.
        fields: Names in lower case, values without the space around them, in the order sent.
    """

    method: str
    target: str
    minor: int
    fields: tuple[tuple[str, bytes], ...]

    def all(self, name: str) -> list[bytes]:
        """Every value of a field, by its name in lower case."""
        return [value for each, value in self.fields if each == name]


def parse_head(data: bytes) -> Head:
    """Read a head, up to and with the empty line that ends it.

    Raises:
        BadRequest: It is not exactly as HTTP/1.1 wants it: a bare CR or LF, a folded or doubtful field.
    """
    lines = data.removesuffix(b"\r\n\r\n").split(b"\r\n")
    asked = _REQUEST_LINE.fullmatch(lines[0])
    if asked is None:
        raise BadRequest("the request line is malformed")
    if len(lines) > _FIELDS_LIMIT:
        raise BadRequest("there are too many header fields", 431)
    fields = []
    for line in lines[1:]:
        field = _FIELD.fullmatch(line)
        if field is None:
            raise BadRequest("a header field is malformed")
        fields.append((field[1].decode("ascii").lower(), field[2].rstrip(b" \t")))
    head = Head(asked[1].decode("ascii"), asked[2].decode("ascii"), int(asked[3]), tuple(fields))
    if len(head.all("host")) > 1:
        raise BadRequest("there are two Host fields")
    return head


def tunnel_target(head: Head) -> str:
    """The `host:port` a CONNECT asks for.

    Raises:
        BadRequest: It is anything else, or the request brings a body.
    """
    if head.all("content-length") or head.all("transfer-encoding"):
        raise BadRequest("a CONNECT has no body")
    if _OWN_AUTHORITY.fullmatch(head.target) is None:
        raise BadRequest("CONNECT wants a host and a port")
    return head.target


def plain_target(head: Head) -> tuple[str, str]:
    """The authority and the path of a request for a whole `http://` URL.

    Raises:
        BadRequest: The target is no such URL.
    """
    found = _ABSOLUTE.fullmatch(head.target)
    if found is None:
        raise BadRequest("this is a proxy: ask for a whole http:// URL, or CONNECT")
    path = found[2] or "/"
    return found[1], path if path.startswith("/") else f"/{path}"


def forwarded_head(head: Head, authority: str, path: str) -> bytes:
    """The head as the server gets it: for this host alone, nothing of this hop, and no further request after it."""
    named = b",".join(head.all("connection")).decode("latin-1").lower()
    dropped = _ONE_HOP | {"host"} | {name.strip() for name in named.split(",")} - _FRAMING
    lines = [f"{head.method} {path} HTTP/1.1".encode("ascii"), f"Host: {authority}".encode("ascii")]
    lines += [name.encode("ascii") + b": " + value for name, value in head.fields if name not in dropped]
    return b"\r\n".join([*lines, b"Connection: close", b"", b""])
