"""What to look for in a session's output."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass

from services.errors import PinfoldError
from services.output.levels import Level
from services.output.model import Stream

_PATTERN_LIMIT = 1000


@dataclass(frozen=True, slots=True)
class Query:
    """Text or a regular expression; a line matches when it is found anywhere in it, colours left out.

    Attributes:
        ignore_case: Of text only ASCII letters, of a regular expression all.

    Raises:
        PinfoldError: The pattern is empty, too long, spans lines or is no regular expression.
    """

    pattern: str
    regex: bool = False
    ignore_case: bool = False

    def __post_init__(self) -> None:
        if not self.pattern:
            raise PinfoldError("there is nothing to search for", fix="Type some text.")
        if len(self.pattern) > _PATTERN_LIMIT:
            raise PinfoldError("cannot search", why=f"the pattern is longer than {_PATTERN_LIMIT} characters")
        if self.regex:
            _check_regex(self.pattern)
        elif "\n" in self.pattern:
            raise PinfoldError("cannot search", why="the text has a line end, and matches lie within one line")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which lines to show; all conditions must hold.

    Attributes:
        streams: Lines of these streams.
        query: Lines that match it; None is any.
        level: Lines at least this severe; None is any, also those that say nothing of it.
    """

    streams: frozenset[Stream] = frozenset(Stream)
    query: Query | None = None
    level: Level | None = None


def _check_regex(pattern: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except re.error as error:
        where = "" if error.pos is None else f" at character {error.pos + 1}"
        raise PinfoldError("cannot search", why=f"not a regular expression: {error.msg}{where}") from error
    except (RecursionError, OverflowError) as error:
        raise PinfoldError("cannot search", why="the regular expression is too complex") from error
