"""What an agent stores and recalls."""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass
from pathlib import Path

import msgspec

from services.agents import Search
from services.errors import InputRefused
from services.memory.scopes.model import check_key, check_name, shortened

CONTENT_LIMIT = 64 * 1024
"""The most bytes of one row's content, in UTF-8."""

CATEGORY_LIMIT = 64
RECALL_LIMIT = 1000
"""The most rows one recall gives."""

CORE = "core"
DAILY = "daily"
CONVERSATION = "conversation"

_LARGEST_TIME = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Owner:
    """The agent whose rows they are.

    Attributes:
        workspace: Absolute; where back-ends that keep files keep them.
    """

    alias: str
    workspace: Path


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """Something to store.

    Attributes:
        category: `core`, `daily`, `conversation`, or any other word.
        session: The id of the session it is from, or "".
        importance: From 0 to 1; None is estimated from the category and the words.
        pinned: Hygiene keeps it; None leaves a row that is there as it is.
        seen: The row it is to be stored over, as somebody saw it, or None where there was none; UNSET is over whatever
            is there. Every back-end compares in the same transaction, or under the same lock, in which it stores.
    """

    key: str
    content: str
    category: str = CORE
    session: str = ""
    importance: float | None = None
    pinned: bool | None = None
    seen: Row | msgspec.UnsetType | None = msgspec.UNSET

    def checked(self) -> Draft:
        """Return it if it can be stored.

        Raises:
            InputRefused: The key, the content, the category, the session or the importance is not acceptable.
        """
        check_key(self.key)
        check_content(self.content)
        check_category(self.category)
        if self.session:
            check_name(self.session, "the session")
        if self.importance is not None and not 0 <= self.importance <= 1:
            raise InputRefused(f"{self.importance} is no importance", why="it is a number from 0 to 1")
        return self


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """Something an agent stored.

    Attributes:
        agent: The alias.
        agent_id: Stays when the alias changes; the alias itself where the back-end has no ids.
        session: The id of the session it is from, or "".
        importance: From 0 to 1.
        pinned: Hygiene keeps it.
        superseded_by: The id of the row that replaced it, or ""; a superseded row is not recalled.
        findings: Names of what the scan found in it.
        withheld: Kept from agents because of that.
        created_at: Nanoseconds since 1970.
        updated_at: Nanoseconds since 1970.
    """

    id: str
    agent: str
    agent_id: str
    key: str
    content: str
    category: str
    session: str = ""
    importance: float = 0.5
    pinned: bool = False
    superseded_by: str = ""
    findings: tuple[str, ...] = ()
    withheld: bool = False
    created_at: int
    updated_at: int

    def checked(self) -> Row:
        """Return it if it can be stored as it is.

        Raises:
            InputRefused: A part of it is not acceptable.
        """
        Draft(key=self.key, content=self.content, category=self.category, session=self.session).checked()
        check_name(self.id, "the id")
        if not (math.isfinite(self.importance) and 0 <= self.importance <= 1):
            raise InputRefused(f"{self.importance} is no importance", why="it is a number from 0 to 1")
        for time in (self.created_at, self.updated_at):
            if not 0 <= time <= _LARGEST_TIME:
                raise InputRefused(f"{time} is no time")
        return self


@dataclass(frozen=True, slots=True)
class Recalled:
    """A row with how well it fits.

    Attributes:
        score: From 0 to 1; the best of a search by words has 1, and so has every row of a search without.
    """

    row: Row
    score: float


@dataclass(frozen=True, slots=True)
class Recollection:
    """What was recalled, and how.

    Attributes:
        found: The best first.
        notice: What the operator should know of it, such as that it was by words alone; "" when there is nothing.
    """

    found: list[Recalled]
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """What to recall.

    Attributes:
        text: Words, any of which may occur; `foo*` is every word that begins so. "" or `*` is everything, newest first.
        limit: At most so many rows.
        category: Only this one; None is all.
        session: Only rows of this session; None is all.
        since: Only rows created then or later, nanoseconds since 1970.
        until: Only rows created before, nanoseconds since 1970.
        withheld: Also give rows that are kept from agents.
        search: By words, by likeness, or both; None is as the agent's file says. Without an embedder it is by words.
        lasting: With a session, also rows of `core` and `daily` that are of none; only `sqlite` knows it.
    """

    text: str = ""
    limit: int = 5
    category: str | None = None
    session: str | None = None
    since: int | None = None
    until: int | None = None
    withheld: bool = False
    search: Search | None = None
    lasting: bool = False

    def checked(self) -> Query:
        """Return it if it can be answered.

        Raises:
            InputRefused: The limit or the time window is not acceptable, or the query is no text.
        """
        if not 1 <= self.limit <= RECALL_LIMIT:
            raise InputRefused(f"cannot recall {self.limit} rows", why=f"it is from 1 to {RECALL_LIMIT:,}")
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise InputRefused("nothing can lie in this time", why="it ends before it begins")
        for text, what in ((self.text, "the query"), (self.category, "the category"), (self.session, "the session")):
            if text:
                check_name(text, what)
        return self

    @property
    def has_words(self) -> bool:
        """Whether rows are chosen by words, not only by time."""
        return self.text.strip() not in ("", "*")


def check_content(content: str, limit: int = CONTENT_LIMIT) -> str:
    """Return content that can be stored.

    Raises:
        InputRefused: It is empty, no text, or longer than `limit` bytes.
    """
    if not isinstance(content, str):
        raise InputRefused("the content is not a text", why=f"it is of type {type(content).__name__}")
    if not content:
        raise InputRefused("the content is empty")
    try:
        size = len(content) if len(content) > limit else len(content.encode())
    except UnicodeEncodeError as error:
        raise InputRefused("the content is not a text", why="it holds half a character (a lone surrogate)") from error
    if size > limit:
        raise InputRefused("the content is too long", why=f"at most {limit:,} bytes are kept")
    return content


def check_category(category: str) -> str:
    """Return a category that rows can have.

    Raises:
        InputRefused: It is no single word of letters, digits, `_`, `-` and `.`.
    """
    fits = isinstance(category, str) and 0 < len(category) <= CATEGORY_LIMIT
    if not fits or not category.replace("_", "").replace("-", "").replace(".", "").isalnum():
        raise InputRefused(
            f"{shortened(str(category))} is no category", fix="Use core, daily, conversation, or a word of your own."
        )
    return category


def new_id() -> str:
    """Make the id of an agent or a row: a UUID without dashes."""
    return uuid.uuid4().hex
