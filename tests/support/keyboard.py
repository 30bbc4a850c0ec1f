"""What a terminal sends for keys, by Textual's names."""

from __future__ import annotations

KEYS: dict[str, bytes] = {
    "enter": b"\r",
    "escape": b"\x1b",
    "tab": b"\t",
    "shift+tab": b"\x1b[Z",
    "backspace": b"\x7f",
    "space": b" ",
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "right": b"\x1b[C",
    "left": b"\x1b[D",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "pageup": b"\x1b[5~",
    "pagedown": b"\x1b[6~",
    "delete": b"\x1b[3~",
}


def key_bytes(key: str) -> bytes:
    """The bytes of a key such as `a`, `enter`, `ctrl+p` or `shift+tab`."""
    if key in KEYS:
        return KEYS[key]
    if key.startswith("ctrl+") and len(key) == len("ctrl+") + 1:
        return bytes([ord(key[-1]) & 0x1F])
    assert len(key) == 1, f"no such key: {key}"
    return key.encode()
