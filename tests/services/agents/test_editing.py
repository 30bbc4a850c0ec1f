"""A change touches its own value and nothing else, or is refused."""

from __future__ import annotations

import codecs
import copy
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agents.editing import Change, Value, with_change
from services.errors import ConfigError

FILE = Path("agents/reviewer/agent.toml")
ENABLED = ("agent", "enabled")


def changed(text: str, value: Value = False, path: tuple[str, ...] = ENABLED) -> str:
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


def with_value(table: dict[str, Any], path: tuple[str, ...], value: object) -> dict[str, Any]:
    result = copy.deepcopy(table)
    place = result
    for key in path[:-1]:
        place = place.setdefault(key, {})
    place[path[-1]] = value
    return result


@given(
    toml_texts(), st.sampled_from([ENABLED, ("agent", "a", "b"), ("a",), ("enabled",)]), st.sampled_from([True, 7, "x"])
)
def test_the_result_says_what_was_meant_and_keeps_every_other_line(
    text: str, path: tuple[str, ...], value: Value
) -> None:
    try:
        result = changed(text, value, path)
    except ConfigError:
        return
    before = tomllib.loads(text.removeprefix("\ufeff"))
    assert tomllib.loads(result.removeprefix("\ufeff")) == with_value(before, path, value)
    assert result.startswith("\ufeff") == text.startswith("\ufeff")
    assert ("\r\n" in result) == ("\r\n" in text)
    assert result.count("#") == text.count("#") or "#y" in text or "# n" in text
    lost = [line for line in text.splitlines() if line not in result.splitlines()]
    assert len(lost) <= 4  # the lines of the value that was replaced


@given(toml_texts(), st.booleans())
def test_any_switch_that_has_a_header_and_is_a_switch_can_be_set(text: str, enabled: bool) -> None:
    text = text.replace("[agent]", "[other]") + "\n[agent]\nenabled = true # c\n"
    try:
        tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        return
    assert tomllib.loads(changed(text, enabled).removeprefix("\ufeff"))["agent"]["enabled"] is enabled
