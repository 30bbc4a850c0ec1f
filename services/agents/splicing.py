"""One key of a TOML text set or taken away, by cutting and pasting where it stands; everything else is untouched."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from services.agents.positions import Entry, Layout, Place, find_layout
from services.agents.problems import KeyPath
from services.agents.relisting import relisted
from services.agents.rendering import rendered, rendered_keys
from services.agents.values import Value

_COMMENT_LINES = re.compile(r"(?:[ \t]*#[^\n]*(?:\n|$))*")
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)*")
_BLANK_LINES_BEFORE = re.compile(r"(?<=\n)(?:[ \t]*\r?\n)+$")
_COMMENTS_BEFORE = re.compile(r"(?:(?<=\n)|^)(?:[ \t]*#[^\n]*\n)+$")


class CannotSplice(Exception):
    """The key cannot be set this way: something that is no table is in its way."""


def with_key(text: str, path: KeyPath, value: Value, old: object) -> str:
    """Set one key; a new one is put where a person would look for it.

    Args:
        text: TOML, without BOM.
        path: The key; the last part is a number for a new `[[table]]`.
        value: What to set.
        old: What the key says now; anything when it is not there.

    Raises:
        CannotSplice: Something that is no table stands where one should be, or the other way round.
    """
    page = _Page(text)
    place = page.places.get(path)
    if place is None or isinstance(path[-1], int):
        return page.with_new(path, value)
    if not page.is_value(path):
        raise CannotSplice
    written = text[place.start : place.end]
    if isinstance(old, list) and isinstance(value, Sequence) and not isinstance(value, str):
        items = [page.places[*path, number] for number in range(len(old))]
        spans = [(item.start - place.start, item.end - place.start) for item in items]
        return _spliced(text, place.start, place.end, relisted(written, spans, old, value))
    literal = written.startswith("'") and not written.startswith("'''")
    return _spliced(text, place.start, place.end, rendered(value, literal=literal))


def without_key(text: str, path: KeyPath) -> str:
    """Take a key away with its line, or a table with all that is in it; what is not there changes nothing."""
    size = len(path)
    while True:
        page = _Page(text)
        doomed = [
            entry
            for entry in page.entries
            if entry.path[:size] == path and (entry.header or entry.table[:size] != path)
        ]
        if not doomed:
            return text
        text = page.without_entry(doomed[-1])


def without_empty_tables(text: str, path: KeyPath) -> str:
    """Take away the table at `path` where nothing is left in it and no comment speaks of it, and so on outwards."""
    while path and isinstance(path[-1], str):
        page = _Page(text)
        own = [entry for entry in page.entries if entry.path == path]
        if len(own) != 1 or len(page.entries) == 1 or not page.is_bare(own[0]):
            return text
        if any(entry is not own[0] and entry.path[: len(path)] == path for entry in page.entries):
            return text
        text = page.without_entry(own[0])
        path = path[:-1]
    return text


class _Page:
    """A TOML text with where everything stands in it."""

    def __init__(self, text: str) -> None:
        layout: Layout = find_layout(text)
        self.text = text
        self.places: Mapping[KeyPath, Place] = layout.places
        self.entries = sorted(layout.entries, key=lambda entry: entry.start)

    # --- what is there

    def is_value(self, path: KeyPath) -> bool:
        """Whether what stands at a path is written behind an equals sign, or in a list."""
        place = self.places.get(path)
        return place is not None and place.end > place.start

    def is_bare(self, entry: Entry) -> bool:
        """Whether a header or a pair of braces is empty, with no comment above, beside or right below it."""
        start, end = self._line_start(entry.start), self._line_end(entry.end)
        if not entry.header:
            place = self.places[entry.path]
            if not self.text[place.start : place.end].startswith("{") or self.is_value(entry.table):
                return False
        above = _COMMENTS_BEFORE.search(self.text[:start])
        beside = "#" in self.text[entry.end : end]
        below = entry.header and _end(_COMMENT_LINES, self.text, end) > end
        return not (above or beside or below)

    def _line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def _line_end(self, at: int) -> int:
        found = self.text.find("\n", at)
        return len(self.text) if found < 0 else found + 1

    def _section_end(self, header: Entry) -> int:
        """Where the next header's line begins, or the text ends."""
        following = (entry.start for entry in self.entries if entry.header and entry.start > header.start)
        return min((self._line_start(start) for start in following), default=len(self.text))

    def _line_end_sign(self, at: int) -> str:
        """What ends lines around a place."""
        before = self.text[:at] or self.text
        found = before.rfind("\n")
        if found < 0:
            found = self.text.find("\n")
        return "\r\n" if found > 0 and self.text[found - 1] == "\r" else "\n"

    # --- taking away

    def without_entry(self, entry: Entry) -> str:
        """The text without a key, or without a header and all that stands under it."""
        if entry.header:
            return self._without_section(entry)
        if self.is_value(entry.table):
            return self._without_entry_in_braces(entry)
        start, end = self._line_start(entry.start), self._line_end(entry.end)
        if end == len(self.text) and not self.text.endswith("\n"):
            start = max(start - len(self._line_end_sign(start)), 0)
        return _spliced(self.text, start, end, "")

    def _without_section(self, header: Entry) -> str:
        limit = self._section_end(header)
        inside = [entry.end for entry in self.entries if header.start < entry.start < limit]
        start, end = self._line_start(header.start), self._line_end(max(inside, default=header.end))
        blank = _BLANK_LINES_BEFORE.search(self.text[:start])
        if blank:
            start = blank.start()
        elif start == 0:
            end = _end(_BLANK_LINES, self.text, end)
        return _spliced(self.text, start, end, "")

    def _without_entry_in_braces(self, entry: Entry) -> str:
        together = [other for other in self.entries if other.table == entry.table and not other.header]
        number = together.index(entry)
        if number:
            return _spliced(self.text, together[number - 1].end, entry.end, "")
        if len(together) > 1:
            return _spliced(self.text, entry.start, together[1].start, "")
        place = self.places[entry.table]
        return _spliced(self.text, place.start, place.end, "{}")

    # --- adding

    def with_new(self, path: KeyPath, value: Value) -> str:
        """The text with a key that was not there."""
        if isinstance(path[-1], int):
            return self._with_new_block(path, value)
        table = path[:-1]
        while table and table not in self.places:
            table = table[:-1]
        if self.is_value(table):
            if self.text[self.places[table].start] != "{":
                raise CannotSplice
            return self._with_new_in_braces(table, path, value)
        if (*table, 0) in self.places:
            raise CannotSplice
        dotted = self._dotted_entries(table)
        if dotted:
            return self._with_new_beside(dotted[-1], path, value)
        header = next((entry for entry in self.entries if entry.header and entry.path == table), None)
        new_table = table != path[:-1]
        if header and not new_table:
            return self._with_new_under(header, path, value)
        if not table and not new_table:
            return self._with_new_at_top(path, value)
        if not new_table:
            return self._with_new_above(table, path, value)
        return self._with_new_section(table, path, value)

    def _dotted_entries(self, table: KeyPath) -> list[Entry]:
        """The keys by whose dots a table exists."""
        size = len(table)
        return [
            entry
            for entry in self.entries
            if not entry.header and entry.path[:size] == table and len(entry.table) < size < len(entry.path)
        ]

    def _with_new_in_braces(self, table: KeyPath, path: KeyPath, value: Value) -> str:
        inside = [entry for entry in self.entries if entry.table == table and not entry.header]
        if inside:
            return self._with_new_beside(inside[-1], path, value)
        place = self.places[table]
        return _spliced(self.text, place.start, place.end, f"{{ {_line(path, table, value)} }}")

    def _with_new_beside(self, entry: Entry, path: KeyPath, value: Value) -> str:
        """Behind a key of the same table, with the same dots: after a comma in braces, else on a line of its own."""
        line = _line(path, entry.table, value)
        if self.is_value(entry.table):
            return _spliced(self.text, entry.end, entry.end, f", {line}")
        indent = self.text[self._line_start(entry.start) : entry.start]
        return self._with_lines(self._line_end(entry.end), indent + line)

    def _with_new_under(self, header: Entry, path: KeyPath, value: Value) -> str:
        inside = [entry for entry in self.entries if entry.table == header.path and not entry.header]
        if inside:
            return self._with_new_beside(inside[-1], path, value)
        return self._with_lines(self._line_end(header.end), _line(path, header.path, value))

    def _with_new_at_top(self, path: KeyPath, value: Value) -> str:
        inside = [entry for entry in self.entries if not entry.table and not entry.header]
        if inside:
            return self._with_new_beside(inside[-1], path, value)
        line = _line(path, (), value)
        if not self.entries:
            return self._with_lines(len(self.text), line)
        return self._with_lines(self._above(self.entries[0]), line, "")

    def _with_new_above(self, table: KeyPath, path: KeyPath, value: Value) -> str:
        """A table that so far only has tables inside it gets its own header above them."""
        inner = next(entry for entry in self.entries if entry.header and entry.path[: len(table)] == table)
        return self._with_lines(self._above(inner), _header(table), _line(path, table, value), "")

    def _with_new_section(self, table: KeyPath, path: KeyPath, value: Value) -> str:
        """A new header behind all that is in the tables around it."""
        lines = (_header(path[:-1]), _line(path, path[:-1], value))
        return self._with_block(self._behind(table), *lines)

    def _with_new_block(self, path: KeyPath, value: Value) -> str:
        """A new `[[table]]` at the place in the list that `path` ends with."""
        if not isinstance(value, Mapping):
            raise CannotSplice
        lines = [f"[{_header(path[:-1])}]", *(_line((key,), (), item) for key, item in value.items())]
        taken = next((entry for entry in self.entries if entry.header and entry.path == path), None)
        if taken:
            return self._with_lines(self._above(taken), *lines, "")
        return self._with_block(self._behind(path[:-1]), *lines)

    def _above(self, entry: Entry) -> int:
        """Above a header and the comments on it; but a comment that begins the file is on the file."""
        start = self._line_start(entry.start)
        comments = _COMMENTS_BEFORE.search(self.text[:start])
        return comments.start() if comments and comments.start() else start

    def _behind(self, table: KeyPath) -> int:
        """Behind everything in a table, and behind comments below that which do not speak of what follows."""
        if not table:
            return len(self.text)
        end = self._line_end(max(entry.end for entry in self.entries if entry.path[: len(table)] == table))
        comments = _end(_COMMENT_LINES, self.text, end)
        blank = _end(_BLANK_LINES, self.text, comments)
        return comments if blank > comments or comments == len(self.text) else end

    def _with_block(self, at: int, *lines: str) -> str:
        """Lines with a blank one before them, unless one is there or nothing is."""
        before = self.text[:at]
        apart = not before or re.search(r"\n[ \t]*\r?\n$", before)
        return self._with_lines(at, *(lines if apart else ("", *lines)))

    def _with_lines(self, at: int, *lines: str) -> str:
        sign = self._line_end_sign(at)
        new = "".join(line + sign for line in lines)
        if at and self.text[at - 1] != "\n":  # the last line has no end, and shall have none
            new = sign + new.removesuffix(sign)
        return _spliced(self.text, at, at, new)


def _line(path: KeyPath, table: KeyPath, value: Value) -> str:
    keys = [str(key) for key in path[len(table) :]]
    return f"{rendered_keys(keys)} = {rendered(value)}"


def _header(path: KeyPath) -> str:
    return f"[{rendered_keys([str(key) for key in path if isinstance(key, str)])}]"


def _spliced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
