"""Numbers, times and paths as people read them, in as few columns as possible."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from rich.cells import cell_len

SECOND = 1_000_000_000
"""Nanoseconds."""


def duration(seconds: float) -> str:
    """Write a length of time with its two largest units: `8s`, `4m12s`, `3h05m`, `2d04h`."""
    whole = max(int(seconds), 0)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    if whole < 86400:
        return f"{whole // 3600}h{whole % 3600 // 60:02}m"
    return f"{whole // 86400}d{whole % 86400 // 3600:02}h"


def span(seconds: float) -> str:
    """Write a set length of time as people write it: `15m`, `1h30m`, `45s`."""
    whole = int(seconds)
    parts = [(whole // 86400, "d"), (whole // 3600 % 24, "h"), (whole // 60 % 60, "m"), (whole % 60, "s")]
    return "".join(f"{count}{unit}" for count, unit in parts if count) or "0s"


def ago(at: int | None, now: int) -> str:
    """Write how long ago a moment was, in one unit: `now`, `12s`, `4m`, `3h`, `2d`; `–` for never.

    Args:
        at: Nanoseconds since 1970.
        now: The same.
    """
    if at is None:
        return "–"
    whole = max((now - at) // SECOND, 0)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m"), (5, "s")):
        if whole >= size:
            return f"{whole // size}{unit}" if unit != "s" else f"{whole}s"
    return "now"


def moment(at: int | None) -> str:
    """Write a moment in local time to the second: `2026-11-30 12:04:31`; `–` for never.

    Args:
        at: Nanoseconds since 1970.
    """
    return "–" if at is None else f"{datetime.fromtimestamp(at / SECOND).astimezone():%Y-%m-%d %H:%M:%S}"


def clock(at: int) -> str:
    """Write the local time of day: `12:04:31`."""
    return f"{datetime.fromtimestamp(at / SECOND).astimezone():%H:%M:%S}"


def size(count: float) -> str:
    """Write bytes in at most four columns: `0`, `812`, `1.2K`, `98M`, `2.0G`."""
    value = float(count)
    for unit in ("", "K", "M", "G", "T"):
        if value < 1000 or unit == "T":
            break
        value /= 1024
    return f"{value:.1f}{unit}" if unit and value < 9.95 else f"{value:.0f}{unit}"


def percent(cores: float) -> str:
    """Write busy cores as a percentage of one: `41%`, `198%`."""
    return f"{cores * 100:.0f}%"


def middle(text: str, width: int, ellipsis: str = "…") -> str:
    """Shorten a path in its middle, where it says least, to at most `width` columns of the terminal."""
    if cell_len(text) <= width:
        return text
    room = width - cell_len(ellipsis)
    if room <= 0:
        return ellipsis[:width]
    tail: list[str] = []
    head: list[str] = []
    for parts, characters, share in ((tail, reversed(text), room - room // 3), (head, iter(text), room // 3)):
        used = 0
        for character in characters:
            used += cell_len(character)
            if used > share:
                break
            parts.append(character)
    return "".join(head) + ellipsis + "".join(reversed(tail))


def from_home(text: str, home: str = "") -> str:
    """Write `~` for the operator's home wherever a path in a text starts with it.

    Args:
        text: A path, or a sentence with paths in it.
        home: Where it is; "" asks the environment.
    """
    home = home or str(Path.home())
    return "~" if text == home else text.replace(f"{home}/", "~/")


def counted(count: int, one: str, many: str = "") -> str:
    """Write a count with its noun: `1 session`, `1,234 lines`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
