"""Sizes and durations as people write them in TOML."""

from __future__ import annotations

import re

END = r"$(?!\n)"
"""The end of the text for Python, whose `$` also matches before a last line end, and for JSON Schema."""

SIZE = rf"^(?=[0-9.]*[1-9])[0-9]{{1,7}}(\.[0-9]{{1,3}})?([kKmMgGtT]([iI]?[bB])?|[bB])?{END}"
"""A size above 0 in steps of 1024, as Docker reads it: `512m`, `2g`, `2GB`, `1.5GiB`; no unit is bytes."""

_DURATION = r"(?=[0-9])([0-9]{1,4}d)?([0-9]{1,6}h)?([0-9]{1,7}m)?([0-9]{1,9}(\.[0-9]{1,3})?s)?([0-9]{1,9}ms)?"
DURATION = rf"^{_DURATION}{END}"
"""A duration, largest unit first: `2s`, `1h30m`, `1.5s`, `500ms`."""

IDLE_TIMEOUT = rf"^(never|{_DURATION}){END}"
"""A duration, or `never`."""

NEVER = "never"

_STEPS = {"": 1, "b": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|[dhms])")


def parse_size(text: str) -> int:
    """Turn a size into bytes.

    Raises:
        ValueError: The text does not match `SIZE`.
    """
    if not re.match(SIZE, text):
        raise ValueError(f"{text!r} is no size")
    number = text.rstrip("bBiIkKmMgGtT")
    unit = text[len(number) :][:1].lower()
    return int(float(number) * _STEPS[unit])


def written_size(size: int) -> str:
    """Write bytes as people do, in the largest unit that says it exactly: `512m`, `2g`."""
    unit = next((unit for unit in "tgmk" if size % _STEPS[unit] == 0), "")
    return f"{size // _STEPS[unit]}{unit}"


def parse_duration(text: str) -> float | None:
    """Turn a duration into seconds; None for `never`.

    Raises:
        ValueError: The text does not match `IDLE_TIMEOUT`.
    """
    if not re.match(IDLE_TIMEOUT, text):
        raise ValueError(f"{text!r} is no duration")
    if text == NEVER:
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
