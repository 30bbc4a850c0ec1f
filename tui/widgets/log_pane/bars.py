"""What a log pane asks for: what to search, what to let pass, where to save."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from services.output import Filter, Level, Query, Stream
from tui.text import safe
from tui.widgets.choice import Choice
from tui.widgets.log_pane.ask_bar import AskBar

Part = Literal["everything", "shown", "selected"]

_KINDS = (("text", "text"), ("regex", "regex"))
_CASES = (("any", "any case"), ("exact", "exact case"))
_STREAMS = (("both", "both"), ("stdout", "stdout"), ("stderr", "stderr"))
_LEVELS = (("any", "any"), ("warning", "warnings"), ("error", "errors"))
_LEAST = {"warning": Level.WARNING, "error": Level.ERROR}
_ONLY = {"stdout": Stream.STDOUT, "stderr": Stream.STDERR}


class SearchBar(AskBar):
    """Asks what to search for."""

    def __init__(self, query: Query | None) -> None:
        self._kind = Choice(_KINDS, "regex" if query is not None and query.regex else "text", id="kind")
        self._case = Choice(_CASES, "exact" if query is not None and not query.ignore_case else "any", id="case")
        super().__init__("/", query.pattern if query is not None else "", "what to find", (self._kind, self._case))

    @property
    def wanted(self) -> Query | None:
        """What to search for; None for nothing.

        Raises:
            PinfoldError: It is no regular expression.
        """
        if not self.text:
            return None
        return Query(self.text, regex=self._kind.value == "regex", ignore_case=self._case.value == "any")


class FilterBar(AskBar):
    """Asks which lines to show; case matters only if the text has a capital letter."""

    def __init__(self, wanted: Filter | None) -> None:
        wanted = wanted or Filter()
        query = wanted.query
        only = next((name for name, stream in _ONLY.items() if wanted.streams == {stream}), "both")
        least = next((name for name, level in _LEAST.items() if wanted.level is level), "any")
        self._kind = Choice(_KINDS, "regex" if query is not None and query.regex else "text", id="kind")
        self._stream = Choice(_STREAMS, only, id="stream")
        self._level = Choice(_LEVELS, least, id="level")
        choices = (self._kind, self._stream, self._level)
        super().__init__("&", query.pattern if query is not None else "", "text a line must hold", choices)

    @property
    def wanted(self) -> Filter | None:
        """Which lines to show; None for all.

        Raises:
            PinfoldError: The text is no regular expression.
        """
        query = None
        if self.text:
            query = Query(self.text, regex=self._kind.value == "regex", ignore_case=self.text == self.text.lower())
        only = _ONLY.get(self._stream.value)
        streams = frozenset(Stream) if only is None else frozenset({only})
        wanted = Filter(streams, query, _LEAST.get(self._level.value))
        return None if wanted == Filter() else wanted


class SaveBar(AskBar):
    """Asks where to save what.

    Args:
        path: What to begin with.
        parts: What may be saved; the first is taken unless another is chosen.
    """

    def __init__(self, path: Path, parts: tuple[Part, ...]) -> None:
        labels: dict[Part, str] = {
            "everything": "all output",
            "shown": "lines that pass the filter",
            "selected": "selected lines",
        }
        self._part = Choice([(part, labels[part]) for part in parts], parts[0], id="part")
        super().__init__("save to", str(path), "path of a file", (self._part,))

    @property
    def path(self) -> Path:
        """Where to save."""
        return Path(self.text).expanduser()

    @property
    def part(self) -> str:
        """What to save."""
        return self._part.value


def filter_text(wanted: Filter) -> str:
    """A filter in a few words: `&boom stderr errors`."""
    only = next((name for name, stream in _ONLY.items() if wanted.streams == {stream}), "")
    least = next((dict(_LEVELS)[name] for name, level in _LEAST.items() if wanted.level is level), "")
    text = safe(wanted.query.pattern) if wanted.query is not None else ""
    return "&" + " ".join(part for part in (text, only, least) if part)
