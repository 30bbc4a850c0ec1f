"""An `agent.toml` as it may be shown: the values of environment variables, which may be secrets, are masked."""

from __future__ import annotations

from services.agents.positions import places_in
from services.agents.problems import KeyPath

_ENVIRONMENT = ("sandbox", "environment")
_EMPTY = ("", "{}", "[]")


def masked_diff(before: bytes, after: bytes, name: str) -> tuple[str, ...]:
    """Compare two versions of a file line by line, as `diff -u` writes it; a masked value that changed still shows.

    Args:
        before: The old bytes.
        after: The new bytes.
        name: Of the file, for the first two lines.
    """
    import difflib  # takes milliseconds to import

    old, new = _Shown(before), _Shown(after)
    lines = difflib.unified_diff(
        old.masked(new, "old value"), new.masked(old, "new value"), f"{name} (now)", f"{name} (then)", lineterm=""
    )
    return tuple(lines)


class _Shown:
    def __init__(self, data: bytes) -> None:
        self._text = data.decode("utf-8", errors="replace").removeprefix("\ufeff")
        places = places_in(data)
        inside = {path[:size] for path in places if path[:2] == _ENVIRONMENT for size in range(len(path))}
        self._hidden = {
            path: (place.start, place.end)
            for path, place in places.items()
            if path[:2] == _ENVIRONMENT and path not in inside and self._text[place.start : place.end] not in _EMPTY
        }

    def masked(self, other: _Shown, word: str) -> list[str]:
        """The lines, with every value masked, and `word` in place of one that the other version has otherwise."""
        text = self._text
        for path, (start, end) in sorted(self._hidden.items(), key=lambda item: item[1], reverse=True):
            changed = path in other._hidden and other._value(path) != self._value(path)
            text = f'{text[:start]}"… {word if changed else "hidden"}"{text[end:]}'
        return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []

    def _value(self, path: KeyPath) -> str:
        start, end = self._hidden[path]
        return self._text[start:end]
