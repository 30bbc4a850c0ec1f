"""Text survives being typed, whatever it holds, and is never drawn as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.hostile import LINES
from tui.text import safe
from tui.typed import harmless, read_back, written_out

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@given(TEXTS)
def test_what_is_written_out_reads_back_as_it_was(text) -> None:
    assert read_back(written_out(text)) == text


@given(TEXTS)
def test_nothing_written_out_acts_on_a_terminal(text) -> None:
    for written in (written_out(text), harmless(text)):
        assert all(safe(letter) == letter for letter in written)


@pytest.mark.parametrize("line", [line for line, _ in LINES.values()], ids=LINES)
def test_hostile_lines_are_harmless(line) -> None:
    text = line.decode("utf-8", errors="replace")
    assert read_back(written_out(text)) == text
    assert not set(written_out(text)) & set("\x1b\x07\x9b\u202e\u200b\n")


@pytest.mark.parametrize(
    ("text", "typed"),
    [("a b", "a b"), ("C:\\x", "C:\\\\x"), ("a\nb", "a\\nb"), ("\u202eab", "\\u202Eab"), ("é 日本", "é 日本")],
    ids=["plain", "backslash", "line-end", "bidi", "letters"],
)
def test_only_what_must_be_is_written_by_its_code(text, typed) -> None:
    assert written_out(text) == typed


@pytest.mark.parametrize("typed", ["\\q", "end\\", "\\u12", "\\uD800", "\\U00110000"])
def test_an_unknown_escape_is_refused_with_how_a_backslash_is_written(typed) -> None:
    with pytest.raises(ValueError, match="a backslash is written"):
        read_back(typed)
