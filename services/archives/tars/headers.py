"""The headers of a tar, strictly: ustar with PAX records, and the long names of GNU tar.

`tarfile` reads a header of any size into memory, looks for records by expressions that a hostile one makes run for
minutes, and takes a damaged header for the end; here a member that cannot be read is an error.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from services.archives.tars.attributes import PREFIX
from services.archives.tars.decompression import Damaged, TarBytes

BLOCK = 512
RECORDS_LIMIT = 64 * 1024
"""The most bytes of one member's PAX records or long name."""

_SECOND = 1_000_000_000
_ENDS = bytes(BLOCK)
_LARGEST = 2**63 - 1
_ATTRIBUTE = PREFIX.encode()
_PAX, _GLOBAL, _LONG_NAME, _LONG_TARGET = b"x", b"g", b"L", b"K"


@dataclass(slots=True)
class Header:
    """One member as the tar has it, believed in nothing.

    Attributes:
        type: A byte: `0` a file, `1` a hard link, `2` a symbolic link, `5` a folder, and others.
        stored: Bytes that follow.
        size: Bytes of the file, holes included.
        mtime: Nanoseconds since 1970.
        sparse: Whether what follows begins with a table of stretches.
        attributes: Extended ones, by name.
    """

    name: bytes
    type: bytes
    stored: int
    size: int
    mode: int
    uid: int
    gid: int
    mtime: int
    target: bytes
    sparse: bool = False
    attributes: dict[bytes, bytes] = field(default_factory=dict)


@dataclass(slots=True)
class _Pending:
    """What extension headers say of the member that follows them."""

    records: dict[bytes, bytes] = field(default_factory=dict)
    name: bytes = b""
    target: bytes = b""


def next_header(stream: TarBytes) -> Header | None:
    """Read the header at hand with all that extends it; None at the end of the tar.

    Raises:
        Damaged: It is none.
        TooMuch: The stream's limit is reached.
    """
    pending = _Pending()
    for _ in range(4):
        block = stream.exactly(BLOCK)
        if block == _ENDS:
            return None
        _check(block)
        type, size = block[156:157], _number(block[124:136])
        if type == _PAX:
            pending.records.update(_records(_payload(stream, size)))
        elif type == _GLOBAL:
            _payload(stream, size)  # what it says of all members, no member of ours needs
        elif type == _LONG_NAME:
            pending.name = _payload(stream, size).rstrip(b"\0")
        elif type == _LONG_TARGET:
            pending.target = _payload(stream, size).rstrip(b"\0")
        else:
            return _header(block, type, size, pending)
    raise Damaged("a member has too many headers")


def check_end(stream: TarBytes) -> None:
    """Read to the end of the stream behind the first of the two empty blocks that end a tar.

    Raises:
        Damaged: The second is missing, or something is hidden there.
    """
    if stream.exactly(BLOCK) != _ENDS:
        raise Damaged("something lies behind its end")
    while data := stream.read(64 * 1024):
        if data.count(0) != len(data):
            raise Damaged("something lies behind its end")


def _header(block: bytes, type: bytes, size: int, pending: _Pending) -> Header:
    records = pending.records
    name = pending.name or _joined(block)
    target = pending.target or _text(block[157:257])
    stored = _decimal(records.get(b"size"), size)
    sparse = records.get(b"GNU.sparse.major") == b"1" and records.get(b"GNU.sparse.minor") == b"0"
    odd = any(key.startswith(b"GNU.sparse.") for key in records) and not sparse
    return Header(
        name=records.get(b"GNU.sparse.name", b"") or records.get(b"path", b"") or name,
        type=b"S" if odd else type if type not in (b"\0", b"7") else b"0",
        stored=stored if type in (b"0", b"\0", b"7") else 0 if type in (b"1", b"2", b"5") else stored,
        size=_decimal(records.get(b"GNU.sparse.realsize"), stored) if sparse else stored,
        mode=_number(block[100:108]) & 0o7777,
        uid=_decimal(records.get(b"uid"), _number(block[108:116])),
        gid=_decimal(records.get(b"gid"), _number(block[116:124])),
        mtime=_time(records.get(b"mtime"), _number(block[136:148])),
        target=records.get(b"linkpath", b"") or target,
        sparse=sparse,
        attributes={key[len(_ATTRIBUTE) :]: value for key, value in records.items() if key.startswith(_ATTRIBUTE)},
    )


def _check(block: bytes) -> None:
    unsigned = sum(block[:148]) + 8 * 32 + sum(block[156:])
    if block[257:262] != b"ustar" or _number(block[148:156]) != unsigned:
        raise Damaged("a header is damaged")


def _payload(stream: TarBytes, size: int) -> bytes:
    if size > RECORDS_LIMIT:
        raise Damaged("a header is too large")
    data = stream.exactly(size)
    stream.skip(-size % BLOCK)
    return data


def _records(data: bytes) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    at = 0
    while at < len(data) and data[at : at + 1] != b"\0":
        space = data.find(b" ", at, at + 8)
        length = _decimal(data[at:space] if space > 0 else b"", 0)
        end = at + length
        record = data[space + 1 : end]
        key, equals, value = record.partition(b"=")
        if space < 0 or not space < end <= len(data) or not equals or not record.endswith(b"\n"):
            raise Damaged("a header has a damaged record")
        found[key] = value[:-1]
        at = end
    return found


def _joined(block: bytes) -> bytes:
    name, prefix = _text(block[0:100]), _text(block[345:500])
    posix = block[257:265] == b"ustar\x0000"
    return prefix + b"/" + name if posix and prefix else name


def _text(data: bytes) -> bytes:
    return data.partition(b"\0")[0]


def _number(data: bytes) -> int:
    if data[0] & 0x80:
        value = int.from_bytes(bytes((data[0] & 0x7F,)) + data[1:], "big")
        return _in_range(value)
    text = _text(data).strip()
    if not text:
        return 0
    if not text.isdigit() or max(text) > ord("7"):
        raise Damaged("a header has a damaged number")
    return int(text, 8)


def _decimal(text: bytes | None, otherwise: int) -> int:
    if text is None:
        return otherwise
    if not text.isdigit() or len(text) > 19:
        raise Damaged("a header has a damaged number")
    return _in_range(int(text))


def _time(text: bytes | None, seconds: int) -> int:
    if text is None:
        return _in_range(seconds * _SECOND)
    whole, _, fraction = text.lstrip(b"-").partition(b".")
    nanoseconds = _decimal(whole, 0) * _SECOND + _decimal((fraction + b"0" * 9)[:9], 0)
    return _in_range(nanoseconds) * (-1 if text.startswith(b"-") else 1)


def _in_range(value: int) -> int:
    if value > _LARGEST:
        raise Damaged("a header has a number that is too large")
    return value
