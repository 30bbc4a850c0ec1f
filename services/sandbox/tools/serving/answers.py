"""How requests are refused in words, over either way in."""

from __future__ import annotations

import json

GRANT = "pinfold.grant"
"""Under which a request's scope holds what its token allows, once that was found good."""

VOID = "the token is void: its session has ended, or it is of another home"
WRONG = "too many wrong tokens are being answered"

INVALID_REQUEST = -32600
REFUSED = -32001
CROWDED = -32002
"""Codes of JSON-RPC errors; the latter two are Pinfold's own."""

Headers = list[tuple[bytes, bytes]]


def json_answer(words: str) -> tuple[Headers, bytes]:
    """The headers and body of an answer over HTTP."""
    body = json.dumps({"error": words}).encode()
    return [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())], body


def rpc_error(code: int, words: str, request: int | str | None = None) -> bytes:
    """A line that answers a request, or none in particular."""
    error = {"code": code, "message": words}
    return json.dumps({"jsonrpc": "2.0", "id": request, "error": error}).encode() + b"\n"
