"""Texts as PostgreSQL can keep and search them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from services.memory.agents.words import Word

_LONGEST_LEXEME = 200
_LONGEST_PHRASE = 32
_LAST_POSITION = 16_383
_MOST_POSITIONS = 255
_WORDS = re.compile(r"[^\W_]+")


def kept(text: str) -> str:
    """Write a text without the character 0, which no text on the server can hold."""
    if "\0" not in text and "\x01" not in text:
        return text
    return text.replace("\x01", "\x01\x02").replace("\0", "\x01\x03")


def given_back(text: str) -> str:
    """Undo `kept`."""
    if "\x01" not in text:
        return text
    return text.replace("\x01\x03", "\0").replace("\x01\x02", "\x01")


def lexemes(key: str, content: str) -> str:
    """Write the words of a row as a `tsvector`, the same words that the search in SQLite knows.

    The server's own parser would take `deploy.txt` for a host and `-5` for a number.
    """
    places: dict[str, list[int]] = {}
    at = 0
    for text in (key, content):
        for word in _parts(text):
            at += 1
            known = places.setdefault(word, [])
            if len(known) < _MOST_POSITIONS:
                known.append(min(at, _LAST_POSITION))
        at += 1  # no phrase begins in the key and ends in the content
    return " ".join(f"'{word}':{','.join(map(str, found))}" for word, found in places.items())


def search_for(words: Iterable[Word]) -> str:
    """Write the words of a query as a `tsquery`, any of which may occur; "" when there is no word in them."""
    phrases = [_phrase(parts[:_LONGEST_PHRASE], prefix=word.prefix) for word in words if (parts := _parts(word.text))]
    return " | ".join(phrases)


def pattern_of(part: str) -> str:
    """Write a text that may stand anywhere as a pattern for LIKE."""
    escaped = kept(part).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _phrase(parts: Sequence[str], *, prefix: bool) -> str:
    written = [f"'{part}'" for part in parts]
    if prefix:
        written[-1] += ":*"
    return f"({' <-> '.join(written)})" if len(written) > 1 else written[0]


def _parts(text: str) -> list[str]:
    """The words of a text in small letters, without accents; letters and digits only, so nothing needs an escape."""
    if not text.isascii():
        bare = unicodedata.normalize("NFKD", text)
        text = "".join(sign for sign in bare if not unicodedata.combining(sign))
    return [word[:_LONGEST_LEXEME] for word in _WORDS.findall(text.casefold())]
