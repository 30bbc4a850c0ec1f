"""Output that would harm a terminal, or a screen, that trusted it."""

from __future__ import annotations

PAYLOADS: tuple[bytes, ...] = (b"PWNED", b"evil.test", b"UEVFUlM=")
"""What must never reach a terminal, in a title, a link or a clipboard."""

LINES: dict[str, tuple[bytes, str]] = {
    "unreset-colour": (b"\x1b[31mred, not reset", "red, not reset"),
    "progress": (b"progress 10%\rprogress 55%\rprogress 100%", "progress 100%"),
    "clear": (b"clear \x1b[2J\x1b[H|", "clear |"),
    "title": (b"title \x1b]0;PWNED\x07|", "title |"),
    "title-st": (b"title \x1b]2;PWNED\x1b\\|", "title |"),
    "clipboard": (b"clipboard \x1b]52;c;UEVFUlM=\x07|", "clipboard |"),
    "link": (b"\x1b]8;;https://evil.test/\x1b\\link\x1b]8;;\x1b\\ |", "link |"),
    "wide": ("日本語 |".encode(), "日本語 |"),
    "joined": ("👨\u200d👩\u200d👧 🇯🇵 ⚠\ufe0f ❤\ufe0f 👍🏽 |".encode(), "👨👩👧 JP ⚠ ❤ 👍 |"),
    "text-emoji": ("✅\ufe0e |".encode(), "✅ |"),
    "combining": (b"e\xcc\x81\xcc\x82 |", "\u00e9\u0302 |"),
    "bidi": ("rlo \u202eabc\u202c |".encode(), "rlo <202E>abc<202C> |"),
    "zero-width": ("zero\u200bwidth |".encode(), "zero<200B>width |"),
    "invalid": (b"invalid \xff\xfe\xc3( |", "invalid \ufffd\ufffd\ufffd( |"),
    "tabs": (b"a\tb\tc |", "a       b       c |"),
    "bell-backspace": (b"bel \x07 bs abc\b\bX |", "bel  bs aX |"),
    "markup": (b"[red]not red[/red] [/foo] [bold] [link=x] |", "[red]not red[/red] [/foo] [bold] [link=x] |"),
    "charset": (b"\x1b(0lqqk\x1b(B |", "lqqk |"),
    "cursor": (b"up \x1b[3A\x1b[10Cmoved \x1b[1;1H|", "up moved |"),
    "other-screen": (b"\x1b[?1049h\x1b[?1000h\x1b[?1003h\x1b[?2004h|", "|"),
    "report": (b"\x1b[6n\x1b[c\x1b[>c\x1b[?2026$p|", "|"),
    "reset": (b"\x1bc\x1b[!p|", "|"),
    "device-string": (b"\x1bP+q544e\x1b\\|", "|"),
    "cut-csi": (b"cut \x1b[38;2;25", "cut"),
    "c1": ("c1 \x9b31mred \x9d0;PWNED\x9c|".encode(), "c1 red |"),
    "c1-raw": (b"raw \x9b31m|", "raw \ufffd31m|"),
    "nul": (b"a\x00b\x01c\x7fd|", "abcd|"),
    "true-colour": (b"\x1b[38;2;255;100;0mORANGE\x1b[0m \x1b[38;5;46mGREEN\x1b[0m |", "ORANGE GREEN |"),
    "black-on-black": (b"\x1b[30;40mblack\x1b[97;107mwhite\x1b[0m |", "blackwhite |"),
    "concealed": (b"\x1b[8mconcealed\x1b[5mblinking\x1b[0m |", "concealedblinking |"),
    "json": (b'{"level":"error","n":12345678901234567890}', '{"level":"error","n":12345678901234567890}'),
    "unended-string": (b"before \x1b]0;PWNED", "before"),
    "last": (b"last ok", "last ok"),
}  # fmt: skip
"""By what they try: a line's bytes, and what must be drawn of it."""
