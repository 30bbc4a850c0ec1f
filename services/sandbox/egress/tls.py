"""The name a TLS client asks for in its first words, before anything is encrypted."""

from __future__ import annotations

HANDSHAKE = 22
"""The first byte of every TLS connection."""

HELLO_LIMIT = 64 * 1024
"""Bytes a client's first words may take."""

_CLIENT_HELLO = 1
_SERVER_NAME = 0
_HOST_NAME = 0
_RECORD_HEAD, _MESSAGE_HEAD = 5, 4
_RECORD_LIMIT = 16 * 1024 + 256
_BEFORE_SESSION = 34
"""Bytes of version and random in a ClientHello."""


class NoHello(Exception):
    """What looked like TLS is none."""


def client_hello(data: bytes) -> bytes | None:
    """Put a ClientHello together from its records; None while more must come.

    Raises:
        NoHello: It is none.
    """
    message, position = b"", 0
    while len(data) >= position + _RECORD_HEAD:
        kind, size = data[position], int.from_bytes(data[position + 3 : position + _RECORD_HEAD])
        if kind != HANDSHAKE or data[position + 1] != 3 or not 0 < size <= _RECORD_LIMIT:
            raise NoHello("it does not begin with a handshake")
        message += data[position + _RECORD_HEAD : position + _RECORD_HEAD + size]
        position += _RECORD_HEAD + size
        if message[0:1] not in (b"", bytes([_CLIENT_HELLO])):
            raise NoHello("it does not begin with a ClientHello")
        if len(message) >= _MESSAGE_HEAD:
            wanted = _MESSAGE_HEAD + int.from_bytes(message[1:_MESSAGE_HEAD])
            if wanted > HELLO_LIMIT:
                raise NoHello("its ClientHello is too long")
            if len(message) >= wanted:
                return message[_MESSAGE_HEAD:wanted]
    return None


def server_name(hello: bytes) -> str | None:
    """The host name in a ClientHello; None when it has none.

    Raises:
        NoHello: It is malformed, or names two hosts.
    """
    rest = _Bytes(hello)
    rest.take(_BEFORE_SESSION)
    rest.counted(1)
    rest.counted(2)
    rest.counted(1)
    if not rest:
        return None
    extensions, names = _Bytes(rest.counted(2)), []
    while extensions:
        kind, body = extensions.number(2), extensions.counted(2)
        if kind == _SERVER_NAME:
            listed = _Bytes(_Bytes(body).counted(2))
            while listed:
                sort, name = listed.number(1), listed.counted(2)
                if sort == _HOST_NAME:
                    names.append(name)
    if len(names) > 1:
        raise NoHello("it names two hosts")
    try:
        return names[0].decode("ascii") if names else None
    except UnicodeDecodeError as error:
        raise NoHello("it names a host that is no name") from error


class _Bytes:
    """Bytes taken from the front."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def __bool__(self) -> bool:
        return self._position < len(self._data)

    def take(self, size: int) -> bytes:
        end = self._position + size
        if end > len(self._data):
            raise NoHello("it ends too early")
        taken = self._data[self._position : end]
        self._position = end
        return taken

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size))

    def counted(self, size: int) -> bytes:
        """Bytes after a number of `size` bytes that counts them."""
        return self.take(self.number(size))
