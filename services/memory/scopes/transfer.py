"""Keys written to and read from JSON Lines, however many there are."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import BinaryIO

import msgspec

from services.errors import InputRefused
from services.home import BlockingCalls
from services.memory.scopes.model import LONGEST, Kept, Scope, ScopeKind, check_kept
from services.memory.scopes.scopes import Scopes
from services.memory.scopes.values import LIST_LIMIT

_SECOND = 1_000_000_000
_LINE_LIMIT = 2 * LIST_LIMIT
_BATCH_LINES = 500
_BATCH_BYTES = 1024 * 1024


class KeyLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One key as a line of an export.

    Attributes:
        value: JSON.
        ttl: Seconds it had left; None is for ever.
    """

    scope: ScopeKind
    id: str
    key: str
    value: msgspec.Raw
    ttl: float | None = None

    @classmethod
    def of(cls, scope: Scope, kept: Kept) -> KeyLine:
        """Describe a key."""
        ttl = None if kept.remaining is None else kept.remaining / _SECOND
        return cls(scope.kind, scope.id, kept.key, kept.value, ttl)

    def kept(self) -> Kept:
        """The key as it is stored.

        Raises:
            InputRefused: The key or the time is not acceptable.
        """
        if self.ttl is not None and not 0 < self.ttl <= LONGEST:
            raise InputRefused(f"cannot live {self.ttl} seconds")
        return check_kept(Kept(self.key, self.value, None if self.ttl is None else max(round(self.ttl * _SECOND), 1)))


@dataclass(frozen=True)
class TransferProgress:
    """How far an import is; all it counts is stored.

    Attributes:
        lines: Read so far.
        keys: Stored so far.
    """

    lines: int
    keys: int


class Transfer:
    """Exports and imports keys.

    Args:
        scopes: Whose keys.
        calls: Threads for reading files.
    """

    def __init__(self, scopes: Scopes, calls: BlockingCalls) -> None:
        self._scopes = scopes
        self._calls = calls
        self._decoder = msgspec.json.Decoder(KeyLine)

    async def export(
        self, scopes: Sequence[Scope] = (), pattern: str = ""
    ) -> AsyncGenerator[tuple[KeyLine, ...], None]:
        """Yield keys as lines, some at a time.

        Args:
            scopes: Whose keys; none is everybody's.
            pattern: Which keys; "" is every key.
        """
        if scopes:
            for scope in scopes:
                async for lines in self._export(scope, pattern):
                    yield lines
            return
        for kind in ScopeKind:
            after = ""
            while ids := await self._scopes.ids(kind, after=after):
                for scope_id in ids:
                    async for lines in self._export(Scope(kind, scope_id), pattern):
                        yield lines
                after = ids[-1]

    async def _export(self, scope: Scope, pattern: str) -> AsyncGenerator[tuple[KeyLine, ...], None]:
        async for page in self._scopes.namespace(scope).read_out(pattern):
            yield tuple(KeyLine.of(scope, kept) for kept in page)

    async def take_in(self, file: BinaryIO, into: Scope | None = None) -> AsyncGenerator[TransferProgress, None]:
        """Store every line of a file over what is there, some at a time, and tell of each time.

        Args:
            file: Read in a thread, from where it is.
            into: Store all keys there instead of in the scopes the lines name.

        Raises:
            InputRefused: A line is not acceptable; what was told of is stored, the rest is not.
            OSError: The file cannot be read.
        """
        lines = keys = 0
        while batch := await self._calls.run(_read_lines, file, lines):
            parsed = [
                self._parse(line, number, into) for number, line in enumerate(batch, start=lines + 1) if line.strip()
            ]
            for scope, group in groupby(parsed, key=lambda pair: pair[0]):
                keys += await self._scopes.namespace(scope).take_in([kept for _, kept in group])
            lines += len(batch)
            yield TransferProgress(lines, keys)

    def _parse(self, line: bytes, number: int, into: Scope | None) -> tuple[Scope, Kept]:
        try:
            parsed = self._decoder.decode(line)
            return into or Scope(parsed.scope, parsed.id), parsed.kept()
        except InputRefused as error:
            raise InputRefused(f"line {number:,} cannot be stored", why=str(error)) from error
        except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
            raise InputRefused(f"line {number:,} is no key of an export", why=str(error)) from error


def _read_lines(file: BinaryIO, before: int) -> list[bytes]:
    lines: list[bytes] = []
    size = 0
    while len(lines) < _BATCH_LINES and size < _BATCH_BYTES and (line := file.readline(_LINE_LIMIT + 1)):
        if len(line) > _LINE_LIMIT:
            raise InputRefused(
                f"line {before + len(lines) + 1:,} is too long", why=f"at most {_LINE_LIMIT:,} bytes are read"
            )
        lines.append(line)
        size += len(line)
    return lines
