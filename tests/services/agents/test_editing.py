"""A change touches its own value and nothing else, or is refused."""

from __future__ import annotations

import codecs
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from services.agents.editing import Change, with_change, with_changes
from services.agents.positions import find_places
from services.agents.values import MISSING, Value, same, value_at, with_value, without
from services.errors import ConfigError

FILE = Path("agents/reviewer/agent.toml")
ENABLED = ("agent", "enabled")


def changed(text: str, value: Value | None = False, path: tuple[str, ...] = ENABLED) -> str:
    return with_change(text.encode(), Change(path, value), FILE).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            '# top\n\n[agent]   # a\nenabled  =  true   # why\n\tname="x"\n\n\n[sandbox]\nx = [ 1,\n 2 ] # y\n',
            '# top\n\n[agent]   # a\nenabled  =  false   # why\n\tname="x"\n\n\n[sandbox]\nx = [ 1,\n 2 ] # y\n',
            id="in its place, with comments and spacing",
        ),
        pytest.param("agent.enabled = true\nz = 1\n", "agent.enabled = false\nz = 1\n", id="dotted"),
        pytest.param("[agent]\n'enabled' = true", "[agent]\n'enabled' = false", id="quoted, no line end at the end"),
        pytest.param(
            'agent = { enabled = true, roles = { a = "b" } } # c\n',
            'agent = { enabled = false, roles = { a = "b" } } # c\n',
            id="inline",
        ),
        pytest.param(
            '[agent]\nname = "x" # c\n\n# about sandbox\n[sandbox]\nx = 1\n',
            '[agent]\nname = "x" # c\nenabled = false\n\n# about sandbox\n[sandbox]\nx = 1\n',
            id="new: behind the last key, not behind the comment on what follows",
        ),
        pytest.param(
            '[agent]\nname = """\n[sandbox]\n"""\n\n# d\n[agent.roles]\na = "b"\n[[agent.list]]\n',
            '[agent]\nname = """\n[sandbox]\n"""\nenabled = false\n\n# d\n[agent.roles]\na = "b"\n[[agent.list]]\n',
            id="new: before the tables inside its table",
        ),
        pytest.param(
            "[agent]\n# none\n\n[z]\n", "[agent]\nenabled = false\n# none\n\n[z]\n", id="new: in an empty table"
        ),
        pytest.param("[agent]\nx = 1", "[agent]\nx = 1\nenabled = false", id="new: no line end at the end"),
        pytest.param("agent.x = 1\n\n[z]\n", "agent.x = 1\nagent.enabled = false\n\n[z]\n", id="new: dotted"),
        pytest.param("[z]\nx = 1\n", "[z]\nx = 1\n\n[agent]\nenabled = false\n", id="new table"),
        pytest.param(
            '[agent.roles]\na = "b"\n',
            '[agent]\nenabled = false\n\n[agent.roles]\na = "b"\n',
            id="new table above its inner",
        ),
    ],
)
def test_sets_a_key(before: str, after: str) -> None:
    assert changed(before) == after
    windows = changed(before.replace("\n", "\r\n"))
    assert windows == after.replace("\n", "\r\n")
    assert (
        with_change(codecs.BOM_UTF8 + before.encode(), Change(ENABLED, False), FILE) == codecs.BOM_UTF8 + after.encode()
    )


@pytest.mark.parametrize(
    "text",
    [
        "[agent]\nenabled = true\n",
        "# c\r\n[agent]\r\nenabled = true\r\n",
        "\ufeff[agent]\nenabled = true # \u2028 \x85 x\n\n\n",
        "[agent]\nenabled = true\n[mixed]\r\nx = 1\n",
    ],
    ids=["plain", "CRLF", "BOM and odd line separators", "mixed line ends"],
)
def test_there_and_back_is_the_same_bytes(text: str) -> None:
    assert changed(changed(text, False), True) == text


def test_what_follows_the_table_is_out_of_harms_way() -> None:
    rest = "[z]\nx = { a = 1979-05-27 } # tomlkit drops a space here\n"
    assert changed("[agent]\nenabled = true\n" + rest) == "[agent]\nenabled = false\n" + rest


def test_a_value_that_equals_nothing_is_no_obstacle() -> None:
    assert changed("[agent]\nenabled = true\nx = nan\n") == "[agent]\nenabled = false\nx = nan\n"


def test_a_value_that_is_set_already_changes_nothing() -> None:
    text = "[agent]\nenabled = false # off\n"
    assert changed(text, False) == text


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        pytest.param("a.b = 1\nz = 2\n", "a.new", {"x": 1}, "a.b = 1\na.new = { x = 1 }\nz = 2\n", id="tomlkit 588"),
        pytest.param(
            "[a]\nb.c = 1\n[a.b.e]\n", "a.b.d", 2, "[a]\nb.c = 1\nb.d = 2\n[a.b.e]\n", id="dots beside a header"
        ),
        pytest.param("x = {}\n", "x.a.b", 1, "x = { a.b = 1 }\n", id="into empty braces"),
        pytest.param("x = { a = [\n 1 ] } # c\n", "x.b", 2, "x = { a = [\n 1 ], b = 2 } # c\n", id="into braces"),
        pytest.param("x = { a.b = 1, c = 2 }\n", "x.a.d", 3, "x = { a.b = 1, a.d = 3, c = 2 }\n", id="dots in braces"),
        pytest.param("[[e]]\na = true\n[a]\n[[e]]\n", "a.b", 1, "[[e]]\na = true\n[a]\nb = 1\n[[e]]\n", id="split"),
        pytest.param('# on all\n\n# on a\n[a]\n', "x", 1, '# on all\n\nx = 1\n\n# on a\n[a]\n', id="above all tables"),
        pytest.param("#:schema x\n[a]\n", "x", 1, "#:schema x\nx = 1\n\n[a]\n", id="below the file's own comment"),
        pytest.param("  [a]\n  x = 1\n", "a.y", 2, "  [a]\n  x = 1\n  y = 2\n", id="as far in as its neighbours"),
        pytest.param(
            "[a]\nx = 1\n# y = 2\n\n[b]\n", "a.t.k", 1, "[a]\nx = 1\n# y = 2\n\n[a.t]\nk = 1\n\n[b]\n",
            id="a table inside, behind what is commented out",
        ),
        pytest.param("[a]\nx = 1\n# on b\n[b]\n", "a.t.k", 1, "[a]\nx = 1\n\n[a.t]\nk = 1\n# on b\n[b]\n", id="dense"),
        pytest.param('[a]\n"x y" = 1\n', "a.x y", 2, '[a]\n"x y" = 2\n', id="a key in quotes"),
        pytest.param("[a]\nx = 'b'\n", "a.x", "it's", '[a]\nx = "it\'s"\n', id="single quotes where they can stand"),
        pytest.param('[a]\nx = """\nb"""\n', "a.x", "b\tc", '[a]\nx = "b\\tc"\n', id="text of many lines"),
        pytest.param(
            "[a.t] # c\nx = 1 # x\ny = 2 # y\n", "a.t", {"y": 3, "z": 4}, "[a.t] # c\ny = 3 # y\nz = 4\n",
            id="a table is changed key by key",
        ),
        pytest.param("t = { x = 1, y = 2 }\n", "t", {"y": 2}, "t = { y = 2 }\n", id="braces are changed key by key"),
    ],
)  # fmt: skip
def test_finds_the_place_a_person_would_choose(before: str, path: str, value: Value, after: str) -> None:
    assert changed(before, value, tuple(path.split("."))) == after
    assert changed(before.replace("\n", "\r\n"), value, tuple(path.split("."))) == after.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        pytest.param("[a]\nx = 1 # x\n# y\ny = 2\n", "a.x", "[a]\n# y\ny = 2\n", id="with what is said beside it"),
        pytest.param('[a]\nx = [\n "b", # c\n]\ny = 2\n', "a.x", "[a]\ny = 2\n", id="over many lines"),
        pytest.param("[a]\nx = 1\ny = 2", "a.y", "[a]\nx = 1", id="no line end at the end"),
        pytest.param("a.x = 1\na.y = 2\n", "a.x", "a.y = 2\n", id="dotted"),
        pytest.param("a = { x = 1, y = 2, z = 3 } # c\n", "a.y", "a = { x = 1, z = 3 } # c\n", id="from braces"),
        pytest.param("a = { x = 1, y = 2 } # c\n", "a.x", "a = { y = 2 } # c\n", id="first in braces"),
        pytest.param("a = { x = 1 } # c\nz = 1\n", "a.x", "a = {} # c\nz = 1\n", id="braces with a comment stay"),
        pytest.param("a = { x = 1 }\nz = 1\n", "a.x", "z = 1\n", id="empty braces go"),
        pytest.param("[a]\nx = 1\n\n[b]\ny = 1\n\n[c]\n", "b.y", "[a]\nx = 1\n\n[c]\n", id="an empty table goes"),
        pytest.param("[a]\nx = 1\n\n[b]\n", "a.x", "[b]\n", id="at the top"),
        pytest.param("[a.b]\nt = { x = 1 }\n\n[c]\n", "a.b.t.x", "[c]\n", id="and what that leaves empty"),
        pytest.param("[a] # c\nx = 1\n\n[b]\n", "a.x", "[a] # c\n\n[b]\n", id="a comment beside keeps it"),
        pytest.param("# c\n[a]\nx = 1\n\n[b]\n", "a.x", "# c\n[a]\n\n[b]\n", id="a comment above keeps it"),
        pytest.param("[a]\n# c\nx = 1\n\n[b]\n", "a.x", "[a]\n# c\n\n[b]\n", id="a comment inside keeps it"),
        pytest.param("[a]\nx = 1\n\n[a.b]\ny = 1\n", "a.x", "[a]\n\n[a.b]\ny = 1\n", id="a table inside keeps it"),
        pytest.param("[a]\nx = 1\n", "a.x", "[a]\n", id="the last table stays"),
        pytest.param("[a]\nx.y.z = 1\n", "a.x.y.z", "[a]\n", id="dots inside the last table"),
        pytest.param("[a]\nx = 1\n\n[b]\n# c\ny = 1\n[b.d]\n\n[c]\n", "b", "[a]\nx = 1\n\n[c]\n", id="a whole table"),
        pytest.param("[a]\n\n[[l]]\nx = 1\n\n[b]\n\n[[l]]\nx = 2\n", "l", "[a]\n\n[b]\n", id="all tables of a list"),
        pytest.param("[a]\nx = 1\n", "a.y.z", "[a]\nx = 1\n", id="what is not there"),
    ],
)  # fmt: skip
def test_removes_a_key(before: str, path: str, after: str) -> None:
    assert changed(before, None, tuple(path.split("."))) == after
    assert changed(before.replace("\n", "\r\n"), None, tuple(path.split("."))) == after.replace("\n", "\r\n")


def test_never_leaves_a_file_empty() -> None:
    with pytest.raises(ConfigError, match="nothing else is in the file"):
        changed("x = 1\n", None, ("x",))


def test_makes_several_changes_at_once_or_none() -> None:
    changes = [Change(("a", "x"), 2), Change(("a", "y"), None), Change(("b", "z"), "new")]
    assert with_changes(b"[a]\nx = 1\ny = 1\n", changes, FILE) == b'[a]\nx = 2\n\n[b]\nz = "new"\n'
    with pytest.raises(ConfigError, match=r"a\.x\.z"):
        with_changes(b"[a]\nx = 1\n", [Change(("a", "y"), 2), Change(("a", "x", "z"), 2)], FILE)


def test_refuses_text_that_cannot_be_stored() -> None:
    with pytest.raises(ConfigError, match="not text") as raised:
        changed("[a]\n", "\ud800", ("a", "x"))
    assert (raised.value.file, raised.value.key) == (FILE, "a.x")


@pytest.mark.parametrize("text", ["a = 1\n", "[[a]]\nx = 1\n", "a = [{ x = 1 }]\n"], ids=["value", "tables", "list"])
def test_refuses_what_has_no_place_to_go(text: str) -> None:
    with pytest.raises(ConfigError, match="without touching other lines") as raised:
        changed(text, {"x": 1}, ("a", "new"))
    assert (raised.value.file, raised.value.key) == (FILE, "a.new")


@pytest.mark.parametrize("data", [b"", b"[agent\n", b'x = "\\e"\n', b"\xff\xfe", b"x = " + b"9" * 5000])
def test_never_writes_over_what_it_cannot_read(data: bytes) -> None:
    with pytest.raises(ConfigError) as raised:
        with_change(data, Change(ENABLED, False), FILE)
    assert raised.value.file == FILE


NEW_VALUES: list[Value] = [True, 2, "a 'b'", "plain"]
few = settings(max_examples=60)
words = st.sampled_from(["agent", "enabled", "a", "b", "c d", ""])
scalars = st.sampled_from(
    ["true", "false", "1", "1.0", "-inf", '"x#y"', "'z'", '"""\nm # n\n"""', "1979-05-27", "[1, 2]"]
)
comments = st.sampled_from(["", " # c", "  # enabled = true", "\t#"])


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    """Texts a person might have typed: headers, dotted keys, inline tables, comments and blank lines anywhere."""
    lines: list[str] = []
    for _ in range(draw(st.integers(0, 12))):
        comment = draw(comments)
        key = ".".join(
            f'"{word}"' if not word.isalpha() else word for word in draw(st.lists(words, min_size=1, max_size=3))
        )
        kind = draw(st.sampled_from(["key", "key", "table", "list of tables", "inline", "comment", "blank"]))
        lines.append(
            {
                "key": f"{draw(st.sampled_from(['', '  ']))}{key} = {draw(scalars)}{comment}",
                "table": f"[{key}]{comment}",
                "list of tables": f"[[{key}]]{comment}",
                "inline": f"{key} = {{ a = {draw(scalars.filter(lambda s: chr(10) not in s))} }}{comment}",
                "comment": f"# {key}",
                "blank": "",
            }[kind]
        )
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return (
        draw(st.sampled_from(["", "\ufeff"]))
        + end.join("\n".join(lines).split("\n"))
        + draw(st.sampled_from(["", end]))
    )


paths = st.lists(words, min_size=1, max_size=3).map(tuple)
values = st.sampled_from(
    [True, 7, 1.5, 'x"\\\n\x7f', [], ["a", 1], {}, {"a": 1, "c d": {"e": [1]}}, [{"a": 1}, {"b": {"c": 2}}]]
)


def table_in(text: str) -> dict[str, Any]:
    """What a text says; a text that is no TOML, or says nothing, is none of our examples."""
    try:
        table = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        reject()
    assume(text.removeprefix("\ufeff").strip())
    return table


def lines_without_braces(text: str) -> list[str]:
    """The lines that no key can be added to or taken from."""
    return [line for line in text.removeprefix("\ufeff").splitlines() if "{" not in line]


@few
@given(toml_texts(), paths, values)
def test_the_result_says_what_was_meant_unless_something_is_in_the_way(
    text: str, path: tuple[str, ...], value: Value
) -> None:
    before = table_in(text)
    on_the_way = [value_at(before, path[:size]) for size in range(1, len(path))]
    if all(found is MISSING or isinstance(found, dict) for found in on_the_way):
        result = changed(text, value, path)
        assert same(table_in(result), with_value(before, path, value))
        assert result.startswith("\ufeff") == text.startswith("\ufeff")
        assert "\r\n" not in result or "\n" not in result.replace("\r\n", "")
    else:
        with pytest.raises(ConfigError):
            changed(text, value, path)


@few
@given(toml_texts(), paths, values)
def test_a_new_key_leaves_every_line_where_it_was(text: str, path: tuple[str, ...], value: Value) -> None:
    before = table_in(text)
    assume(value_at(before, path) is MISSING)
    try:
        result = changed(text, value, path)
    except ConfigError:
        reject()
    kept = iter(lines_without_braces(result))
    assert all(line in kept for line in lines_without_braces(text))


@few
@given(toml_texts(), paths)
def test_a_removed_key_takes_only_lines_along(text: str, path: tuple[str, ...]) -> None:
    text += "\n[kept]\n"  # no file is ever left empty
    before = table_in(text)
    result = changed(text, None, path)
    after = table_in(result)
    assert any(same(after, wanted) for wanted in without(before, path))
    if value_at(before, path) is MISSING:
        assert result == text
    left = iter(lines_without_braces(text))
    assert all(line in left for line in lines_without_braces(result))


@few
@given(toml_texts(), st.data())
def test_only_the_bytes_of_the_value_change_and_changing_it_back_gives_the_same_file(
    text: str, data: st.DataObject
) -> None:
    table_in(text)
    body = text.removeprefix("\ufeff")
    scalars: dict[str, Value] = {"true": True, "false": False, "1": 1, "1.0": 1.0, '"x#y"': "x#y", "'z'": "z"}
    found = {
        tuple(map(str, path)): place
        for path, place in find_places(body).items()
        if body[place.start : place.end] in scalars and all(isinstance(key, str) for key in path)
    }
    assume(found)
    path = data.draw(st.sampled_from(sorted(found)))
    place, value = found[path], data.draw(st.sampled_from(NEW_VALUES))
    result = changed(text, value, path)
    edited = result.removeprefix("\ufeff")
    assert edited.startswith(body[: place.start])
    assert edited.endswith(body[place.end :])
    assume(not (body[place.start] == "'" and value != "plain"))  # its quotes are not known any more
    assert changed(result, scalars[body[place.start : place.end]], path) == text


@few
@given(toml_texts(), st.booleans())
def test_any_switch_that_has_a_header_and_is_a_switch_can_be_set(text: str, enabled: bool) -> None:
    text = text.replace("[agent]", "[other]") + "\n[agent]\nenabled = true # c\n"
    try:
        tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        return
    assert tomllib.loads(changed(text, enabled).removeprefix("\ufeff"))["agent"]["enabled"] is enabled
