"""Foreign text acts on no terminal, stays on its line and takes the columns it is measured to take."""

from __future__ import annotations

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.text import printable, safe, settle

HOSTILE = st.text(
    st.one_of(st.characters(), st.sampled_from("\x1b[]PX^_\\;?0123456789mhlHJ\x07\x9b\x9d\x90\x9c\u202e\u200d"))
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("a\x1b]52;c;UEVFUlM=\x07b", "ab"),
        ("a\x1b]0;PWNED\x07b", "ab"),
        ("\x1b]8;;https://evil.test\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x1b[10Ab\x1b[2Jc\x1b[6nd", "abcd"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1bP1$r\x1b\\x", "x"),
        ("\x1bcreset", "reset"),
        ("a\x1b(0lqk", "alqk"),
        ("end\x1b", "end"),
        ("end\x1b[", "end"),
        ("two\nlines\tand a tab", "two lines and a tab"),
        ("bell\x07 null\x00 del\x7f", "bell null del"),
        ("[red]x[/foo]", "[red]x[/foo]"),
        ("photo\u202egpj.exe", "photo<202E>gpj.exe"),
        ("pass\u200bword", "pass<200B>word"),
        ("\udcff name", "\ufffd name"),
        ("日本語", "日本語"),
    ],
    ids=[
        "plain", "clipboard", "title", "link", "cursor", "colour", "c1", "dcs", "reset", "charset", "lone-escape",
        "cut-csi", "blanks", "controls", "markup", "right-to-left", "zero-width", "surrogate", "wide",
    ],
)  # fmt: skip
def test_text_is_made_safe(text: str, expected: str) -> None:
    assert safe(text) == expected


def test_bytes_that_are_no_utf8_show_as_replaced() -> None:
    assert printable(b"caf\xc3\xa9 \xff") == "café \ufffd"


@given(HOSTILE)
def test_no_text_acts_on_a_terminal(text: str) -> None:
    cleaned = safe(text)
    assert not [character for character in cleaned if character < " " or "\x7f" <= character <= "\x9f"]
    assert not [character for character in cleaned if "\u202a" <= character <= "\u202e"]
    cleaned.encode()


@given(HOSTILE)
def test_safe_text_is_left_alone(text: str) -> None:
    assert safe(safe(text)) == safe(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("👨\u200d👩\u200d👧|", "👨👩👧|"),
        ("🇯🇵|", "JP|"),
        ("\u26a0\ufe0f|", "\u26a0|"),
        ("\u2705\ufe0e|", "\u2705|"),
        ("👍🏽|", "👍|"),
        ("e\u0301|", "\xe9|"),
        ("\u1112\u1161\u11ab|", "한|"),
        ("\u0301|", "\u25cc\u0301|"),
        ("日本語|", "日本語|"),
    ],
    ids=["joined", "flag", "emoji-selector", "text-selector", "skin", "combining", "jamo", "leading-mark", "wide"],
)
def test_text_takes_the_same_columns_everywhere(text: str, expected: str) -> None:
    settled = settle(text)
    assert settled == expected
    screen = pyte.Screen(40, 1)
    pyte.Stream(screen).feed(settled)
    assert screen.cursor.x == cell_len(settled)
