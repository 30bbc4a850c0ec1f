"""Patterns of keys: `*` stands for any text, everywhere and everything else for itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

from services.errors import InputRefused
from services.memory.scopes.model import NAME_LIMIT, check_name

_LAST = "\U0010ffff"


@dataclass(frozen=True)
class Pattern:
    """One pattern, parted at its stars.

    Attributes:
        parts: The literal texts; one alone is a whole key.
    """

    parts: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a pattern; "" is every key.

        Raises:
            InputRefused: It is too long or no text.
        """
        if not text:
            return cls(("", ""))
        check_name(text, "the pattern")
        parts = text.split("*")
        if len(parts) > NAME_LIMIT // 64:
            raise InputRefused("the pattern has too many stars", why=f"at most {NAME_LIMIT // 64 - 1:,} are allowed")
        return cls(tuple(parts))

    @property
    def exact(self) -> bool:
        """Whether only one key can match."""
        return len(self.parts) == 1

    @property
    def plain(self) -> bool:
        """Whether every key in `bounds` matches."""
        return self.exact or (len(self.parts) == 2 and not self.parts[1])

    @cached_property
    def bounds(self) -> tuple[str, str | None]:
        """The least key that can match and the first beyond all that can; None when there is no such end."""
        first = self.parts[0]
        return first, f"{first}\0" if self.exact else _beyond(first)

    def matches(self, key: str) -> bool:
        """Tell whether a key matches; takes time linear in the key for each star."""
        if self.exact:
            return key == self.parts[0]
        first, *middle, last = self.parts
        if len(key) < len(first) + len(last) or not (key.startswith(first) and key.endswith(last)):
            return False
        position, end = len(first), len(key) - len(last)
        for part in middle:
            found = key.find(part, position, end)
            if found < 0:
                return False
            position = found + len(part)
        return True


def _beyond(prefix: str) -> str | None:
    """The least text greater than all that start with a prefix, in the order of code points."""
    stem = prefix.rstrip(_LAST)
    if not stem:
        return None
    after = ord(stem[-1]) + 1
    return stem[:-1] + chr(0xE000 if 0xD800 <= after < 0xE000 else after)
