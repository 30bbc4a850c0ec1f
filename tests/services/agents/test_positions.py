"""The line of every key, however the file is written."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from services.agents.positions import Place, find_places, line_of
from services.agents.problems import KeyPath, dotted

SOURCE = """\
# first
[agent]   # why
enabled = true
"odd name" = 'x'  # y
roles.default = "a"
text = \"\"\"
[not.a.table]
key = 1
\"\"\"
list = [ # one
  "a", # two ] }

  { b = [1,
    2] },
]

[ a . "b.c" ]
x = 1979-05-27 07:32:00Z
[[agent.delegates]]
agent = "one"
[[agent.delegates]]
agent = "two"
[agent.delegates.more]
z = { y = { w = '''
''' } }
"""


@pytest.mark.parametrize(
    ("path", "line", "last_line"),
    [
        (("agent",), 2, 2),
        (("agent", "enabled"), 3, 3),
        (("agent", "odd name"), 4, 4),
        (("agent", "roles"), 5, 5),
        (("agent", "roles", "default"), 5, 5),
        (("agent", "text"), 6, 9),
        (("agent", "list"), 10, 15),
        (("agent", "list", 0), 11, 11),
        (("agent", "list", 1), 13, 14),
        (("agent", "list", 1, "b"), 13, 14),
        (("agent", "list", 1, "b", 1), 14, 14),
        (("a", "b.c", "x"), 18, 18),
        (("agent", "delegates", 0, "agent"), 20, 20),
        (("agent", "delegates", 1), 21, 21),
        (("agent", "delegates", 1, "agent"), 22, 22),
        (("agent", "delegates", 1, "more", "z", "y", "w"), 24, 25),
    ],
)
def test_finds_every_key(path: KeyPath, line: int, last_line: int) -> None:
    place = find_places(SOURCE)[path]
    assert (place.line, place.last_line) == (line, last_line)


def test_finds_where_a_value_begins_and_ends() -> None:
    places = find_places(SOURCE)
    values = {path: SOURCE[place.start : place.end] for path, place in places.items()}
    assert values["agent", "enabled"] == "true"
    assert values["agent", "list", 1] == "{ b = [1,\n    2] }"
    assert values["a", "b.c", "x"] == "1979-05-27 07:32:00Z"
    assert values["agent",] == ""
    assert places["agent",].header


def test_a_key_that_is_not_there_has_the_line_of_the_table_around_it() -> None:
    places = find_places(SOURCE)
    assert line_of(("agent", "delegates", 1, "mood"), places) == 21
    assert line_of(("nothing",), places) == 0


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_line_ends_do_not_matter(end: str) -> None:
    found = find_places(SOURCE.replace("\n", end))
    assert {path: place.line for path, place in found.items()} == {
        path: place.line for path, place in find_places(SOURCE).items()
    }


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("sandbox", "prepare", 0, "cmd"), "sandbox.prepare[0].cmd"),
        (("environment", "a b"), 'environment."a b"'),
        (("a", ""), 'a.""'),
        (("a", 'b"c'), 'a."b\\"c"'),
        ((), ""),
    ],
)
def test_paths_are_written_as_toml_writes_them(path: KeyPath, text: str) -> None:
    assert dotted(path) == text


def paths_of(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths_of(item, (*path, key))
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from paths_of(item, (*path, number))


scalars = st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10) | st.datetimes()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)


@given(st.dictionaries(st.text(max_size=5), values, max_size=5), st.booleans())
def test_finds_every_key_of_any_table(table: dict[str, Any], multiline: bool) -> None:
    text = tomli_w.dumps(table, multiline_strings=multiline)
    places = find_places(text)
    assert set(paths_of(tomllib.loads(text))) == set(places)
    lines = text.split("\n")
    for place in places.values():
        assert 1 <= place.line <= place.last_line <= len(lines)
        if place.end > place.start:
            assert text.count("\n", 0, place.end) + 1 == place.last_line


@given(st.text(alphabet="[]{}=,.#\"'\\\n\r ab1", max_size=60) | st.text(max_size=60))
def test_any_text_is_read_to_an_end_without_an_error(text: str) -> None:
    assert all(isinstance(place, Place) for place in find_places(text).values())
