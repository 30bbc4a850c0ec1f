"""Lines are cleaned for drawing: no byte of them acts on a terminal, and what a person should read is there."""

from __future__ import annotations

import itertools
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.output import PLAIN, LineCleaner, Span, TextStyle, cell_width, clean_text

RED = TextStyle(fg=1)


def clean(data: bytes) -> list[Span]:
    return LineCleaner().clean(data)


def text(data: bytes) -> str:
    return LineCleaner().text(data)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        pytest.param(b"", "", id="nothing"),
        pytest.param(b"p1\rp2\rp3", "p3", id="progress keeps its last state"),
        pytest.param(b"p1\rp2\r", "p2", id="a return at the end changes nothing"),
        pytest.param(b"100%\r\x1b[K", "100%", id="a return and an erasure at the end neither"),
        pytest.param(b"\x1b[31mred 1\rred 2", "red 2", id="progress in colour"),
        pytest.param(b"|\b/\b-\b\\ spinning", "\\ spinning", id="a spinner"),
        pytest.param(b"bs abc\b\bX |end", "bs aX |end", id="backspaces are written over"),
        pytest.param(b"\b\b\bx", "x", id="backspaces at the start"),
        pytest.param(b"a\tb\tc", "a       b       c", id="tabs"),
        pytest.param("日本\t|".encode(), "日本    |", id="tabs behind wide characters"),
        pytest.param(b"\x1b[31ma\x1b[0m\tb", "a       b", id="tabs behind colours"),
        pytest.param(b"x\x1b]0;title\x07y", "xy", id="title ended by BEL"),
        pytest.param(b"x\x1b]0;title\x1b\\y", "xy", id="title ended by ST"),
        pytest.param(b"x\x1b]0;title\xc2\x9cy", "xy", id="title ended by C1 ST"),
        pytest.param(b"x\x1b]0;title never ended", "x", id="title not ended"),
        pytest.param(b"x\x1b]52;c;AAAA\x1b[31my", "xy", id="clipboard, broken off by a colour"),
        pytest.param(b"\x1b]8;;http://e.test\x1b\\link\x1b]8;;\x1b\\!", "link!", id="a link keeps its text"),
        pytest.param(b"x\x1bPdevice\x1b\\y", "xy", id="DCS"),
        pytest.param(b"x\x1b_app\x1b\\y\x1b^pm\x1b\\z\x1bXsos\x1b\\!", "xyz!", id="APC, PM, SOS"),
        pytest.param(b"x\x1b[2J\x1b[H\x1b[3A\x1b[?1049h\x1b[?1000hy", "xy", id="CSI"),
        pytest.param(b"x\x1b[31", "x", id="CSI cut short"),
        pytest.param(b"x\x1b", "x", id="a lone escape"),
        pytest.param(b"\x1b(0lqqk\x1b(B", "lqqk", id="character sets"),
        pytest.param(b"\x1b[>4;1mx\x1b[1 qy", "xy", id="CSI that ends like a colour"),
        pytest.param("\x9b31mx\x9d0;t\x9cy\x90d\x9cz\x85".encode(), "xyz", id="C1 as UTF-8"),
        pytest.param(b"a\x9bb", "a\ufffdb", id="C1 as a byte is no UTF-8"),
        pytest.param(b"\0a\x01\x0b\x0c\x7fb\x07", "ab", id="C0 and DEL"),
        pytest.param(b"\xff\xfe\xc3(", "\ufffd\ufffd\ufffd(", id="invalid UTF-8"),
        pytest.param(b"caf\xc3", "caf\ufffd", id="a character cut short"),
        pytest.param("rlo \u202eabc\u202c".encode(), "rlo <202E>abc<202C>", id="text turned around"),
        pytest.param("pass\u200bword \ufeff".encode(), "pass<200B>word <FEFF>", id="zero width"),
        pytest.param("👨\u200d👩 e\u0301 ⚠\ufe0f".encode(), "👨\u200d👩 e\u0301 ⚠\ufe0f", id="joined and combining"),
        pytest.param(b"[red]x[/foo] [bold] [link=x]", "[red]x[/foo] [bold] [link=x]", id="markup is text"),
        pytest.param("a\u2028b\u2029c".encode(), "abc", id="line separators"),
    ],
)
def test_shows(line: bytes, shown: str) -> None:
    assert text(line) == shown


@pytest.mark.parametrize(
    ("codes", "style"),
    [
        ("31", TextStyle(fg=1)),
        ("1;31", TextStyle(fg=1, bold=True)),
        ("97;104", TextStyle(fg=15, bg=12)),
        ("2;3;4;7;9", TextStyle(dim=True, italic=True, underline=True, reverse=True, strike=True)),
        ("38;5;46", TextStyle(fg=46)),
        ("48;5;7;1", TextStyle(bg=7, bold=True)),
        ("38;2;255;100;0", TextStyle(fg=(255, 100, 0))),
        ("38:2::255:100:0", TextStyle(fg=(255, 100, 0))),
        ("48:2:1:2:3", TextStyle(bg=(1, 2, 3))),
        ("38:5:200", TextStyle(fg=200)),
        ("58;5;3;31", TextStyle(fg=1)),
        ("4:3", TextStyle(underline=True)),
        ("21", TextStyle(underline=True)),
        ("8", PLAIN),
        ("5", PLAIN),
        ("38;5;256", PLAIN),
        ("38;5", PLAIN),
        ("38", PLAIN),
        ("38;2;1;2", PLAIN),
        ("999999999999", PLAIN),
        (";;31", TextStyle(fg=1)),
        ("31;0", PLAIN),
        ("1;2;22", PLAIN),
        ("3;23;4;24;7;27;9;29;31;39;41;49", PLAIN),
        (":;:", PLAIN),
    ],
)
def test_colours(codes: str, style: TextStyle) -> None:
    assert clean(f"\x1b[{codes}mx".encode()) == [Span("x", style)]


def test_a_colour_goes_on_until_it_is_changed_and_ends_with_its_line() -> None:
    cleaner = LineCleaner()
    assert cleaner.clean(b"a\x1b[31mb\x1b[1mc\x1b[md") == [
        Span("a", PLAIN),
        Span("b", RED),
        Span("c", TextStyle(fg=1, bold=True)),
        Span("d", PLAIN),
    ]
    assert cleaner.clean(b"\x1b[31mnever reset") == [Span("never reset", RED)]
    assert cleaner.clean(b"next line") == [Span("next line", PLAIN)]


def test_spans_of_one_look_are_one() -> None:
    assert clean(b"a\x1b[31mb\x1b[0m\x1b[31mc\x07d") == [Span("a", PLAIN), Span("bcd", RED)]


@pytest.mark.parametrize("line", [b"x" * 5000, b"\x1b[31mx" * 5000, b"\t" * 5000, "é".encode() * 5000, b"x\b" * 9000])
def test_a_long_line_is_cut(line: bytes) -> None:
    assert len(LineCleaner(cut=100).text(line)) <= 100


def test_width_and_settling_are_the_callers() -> None:
    cleaner = LineCleaner(settle=lambda text: text.replace("é", "<e>"), width=lambda text: 2 * len(text))
    assert cleaner.text("é\t|".encode()) == "<e>  |"


@pytest.mark.parametrize(("shown", "width"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("👍", 2), ("\u200d", 0)])
def test_cell_width(shown: str, width: int) -> None:
    assert cell_width(shown) == width


parts = st.one_of(
    st.binary(max_size=6),
    st.text(max_size=6).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.sampled_from(
        [b"\x1b", b"\x1b[", b"\x1b]", b"\x1bP", b"\x1b\\", b"\x07", b"\r", b"\b", b"\t", b"31", b";", b":", b"m"]
        + [chr(code).encode() for code in (*range(0x80, 0xA0), 0x202E, 0x2066, 0x200B)]
    ),
)
lines = st.lists(parts, max_size=40).map(b"".join)
ACTING = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029, 0x200E, 0x200F, 0x200B}


def acts(shown: str) -> bool:
    return any(unicodedata.category(c) in ("Cc", "Cs") or ord(c) in ACTING for c in shown)


@given(lines)
def test_nothing_that_is_drawn_acts_on_a_terminal(line: bytes) -> None:
    spans = clean(line)
    assert not acts("".join(span.text for span in spans))
    assert all(span.text for span in spans)
    assert all(first.style != second.style for first, second in itertools.pairwise(spans))


@given(lines, st.text(max_size=20))
def test_no_clean_text_acts_on_a_terminal(line: bytes, more: str) -> None:
    assert not acts(clean_text(line))
    assert not acts(clean_text(line.decode("latin-1") + more))


@given(st.text(alphabet=st.characters(exclude_categories=["C", "Z", "M"]), max_size=30))
def test_ordinary_text_stays(shown: str) -> None:
    assert text(shown.encode()) == shown
    assert clean_text(shown) == shown


def test_clean_text_is_one_line() -> None:
    assert clean_text("a\nb\tc\r\nd \x1b[31mred\x1b[0m \ud800") == "a b c d red \ufffd"
