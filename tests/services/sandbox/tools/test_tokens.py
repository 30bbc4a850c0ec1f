"""A token is good for one session of one home, from its issue to the session's end, and is kept nowhere."""

from __future__ import annotations

import sqlite3

import pytest

from services.home import Database
from services.sandbox.model import SessionState
from services.sandbox.store import SessionStore
from services.sandbox.tools import Grant, Token, Tokens
from services.sandbox.transitions import lost
from tests.services.sandbox.clock import Clock
from tests.services.sandbox.records import recorded

GRANT = Grant("s1", "worker", memories=("researcher",))


@pytest.fixture
def tokens(database: Database, clock: Clock) -> Tokens:
    return Tokens(database, clock)


@pytest.fixture
async def token(tokens: Tokens, store: SessionStore) -> Token:
    await recorded(store, state=SessionState.RUNNING, sandbox="c1", started_at=1)
    return await tokens.issue(GRANT)


async def test_a_token_says_what_its_session_is_granted(tokens: Tokens, token: Token) -> None:
    assert await tokens.check(token) == GRANT


async def test_a_token_is_void_once_its_end_is_recorded(tokens: Tokens, token: Token, store: SessionStore) -> None:
    await store.change("s1", lost(1, "gone"))
    assert await tokens.check(token) is None
    assert await tokens.in_use() == 0


async def test_nothing_is_left_of_a_token_whose_session_has_ended(
    token: Token, store: SessionStore, database: Database
) -> None:
    await store.change("s1", lost(1, "gone"))
    count = await database.read(lambda connection: connection.execute("SELECT count(*) FROM tool_tokens").fetchone())
    assert count == (0,)


async def test_a_token_is_void_where_only_the_record_says_that_its_session_ended(
    tokens: Tokens, token: Token, database: Database
) -> None:
    await database.write(lambda connection: connection.execute("UPDATE sessions SET state = 'lost'"))
    assert await tokens.check(token) is None


async def test_a_new_token_makes_the_one_before_void(tokens: Tokens, token: Token) -> None:
    again = await tokens.issue(GRANT)
    assert await tokens.check(token) is None
    assert await tokens.check(again) == GRANT


@pytest.mark.parametrize(
    "text",
    ["", ".", "s1", "s1.", "s1.wrong", "s2.wrong", "no session.x", "s1." + "A" * 43, "x" * 100_000, "s1.\x00", "s1.é"],
    ids=["empty", "dot", "no secret", "empty secret", "short", "foreign", "words", "alike", "huge", "nul", "not ascii"],
)
async def test_what_was_never_issued_is_void(tokens: Tokens, token: Token, text: str) -> None:
    assert await tokens.check(Token(text)) is None


async def test_a_token_for_another_session_with_the_same_secret_is_void(
    tokens: Tokens, token: Token, store: SessionStore
) -> None:
    await recorded(store, id="s2", state=SessionState.RUNNING, sandbox="c2")
    await tokens.issue(Grant("s2", "worker"))
    secret = token.reveal().rpartition(".")[2]
    assert await tokens.check(Token(f"s2.{secret}")) is None


def test_a_token_has_256_random_bits_and_shows_none_of_them() -> None:
    tokens = {Token.new("s1").reveal() for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(text.rpartition(".")[2]) == 43 for text in tokens)
    token = Token.new("s1")
    assert token.reveal().rpartition(".")[2] not in f"{token!r}{token}{vars(Token)}"


async def test_the_database_holds_no_token(token: Token, database: Database) -> None:
    await database.write(lambda connection: None)
    secret = token.reveal().rpartition(".")[2]
    with sqlite3.connect(database.path) as connection:
        assert secret not in "\n".join(connection.iterdump())
    for file in database.path.parent.glob("pinfold.db*"):
        assert secret.encode() not in file.read_bytes()
