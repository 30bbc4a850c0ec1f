"""The words of a query: any text is one, and none is an error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

WORD_LIMIT = 64
"""So many different words of a query count."""

_PARTS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a query.

    Attributes:
        prefix: It also stands for every word that begins so.
    """

    text: str
    prefix: bool

    @property
    def parts(self) -> tuple[str, ...]:
        """What the search knows as words in it, in lower case; none for a mere sign."""
        return tuple(part.casefold() for part in _PARTS.findall(self.text))


def words_of(query: str) -> tuple[Word, ...]:
    """Split a query at white space; a `*` at the end of a word makes it a prefix."""
    found: dict[Word, None] = {}
    for text in query.replace("\0", " ").split():
        bare = text.rstrip("*")
        if bare:
            found[Word(bare, bare != text)] = None
        if len(found) == WORD_LIMIT:
            break
    return tuple(found)


def phrase(word: Word) -> str:
    """Write a word for FTS5, quoted, so that nothing in it has a meaning."""
    quoted = '"' + word.text.replace('"', '""') + '"'
    return f"{quoted} *" if word.prefix else quoted


def expression(words: Sequence[Word]) -> str:
    """Write words for FTS5, any of which may occur; "" when nothing in them is a word to it."""
    return " OR ".join(phrase(word) for word in words if word.parts)
