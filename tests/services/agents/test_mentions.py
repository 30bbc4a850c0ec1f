"""Every place that names an agent is found, renamed, dropped and put back, and nothing around it is touched."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from services.agents import (
    Dropped,
    Mention,
    mention_dropped,
    mention_renamed,
    mention_restored,
    mentions_in_agent,
    mentions_in_shared,
)
from services.errors import ConfigError

FILE = Path("agents/lead/agent.toml")

LEAD = """\
# who leads
[agent]
delegates = [
    { agent = 'reviewer', mode = "independent" },  # reads what others wrote
    { agent = "writer" },
]
[workspace]
path = "../reviewer/workspace"
access.writer = "read"   # for drafts
access."reviewer" = "read_write"   # for findings
[memory]
read_memory_from = ["writer", "reviewer"]  # both
[permissions]
allowed_roots = ["/srv"]
forbidden_paths = ["~/.ssh"]
"""


def mentions(text: str) -> list[Mention]:
    return list(mentions_in_agent(tomllib.loads(text)))


def naming(text: str, alias: str = "reviewer") -> list[Mention]:
    return [mention for mention in mentions(text) if mention.is_alias and mention.text == alias]


def renamed(text: str, alias: str = "critic") -> str:
    for mention in naming(text):
        text = mention_renamed(text.encode(), mention, alias, FILE).decode()
    return text


def dropped(text: str) -> tuple[str, list[Dropped]]:
    found: list[Dropped] = []
    while naming(text):
        data, one = mention_dropped(text.encode(), naming(text)[0], FILE)
        text = data.decode()
        found.append(one)
    return text, found


def test_every_kind_is_found_with_where_it_stands():
    assert [(mention.kind, mention.path, mention.text, mention.value) for mention in mentions(LEAD)] == [
        ("delegate", ("agent", "delegates", 0, "agent"), "reviewer", "independent"),
        ("delegate", ("agent", "delegates", 1, "agent"), "writer", "bounded"),
        ("access", ("workspace", "access", "writer"), "writer", "read"),
        ("access", ("workspace", "access", "reviewer"), "reviewer", "read_write"),
        ("read_memory_from", ("memory", "read_memory_from", 0), "writer", ""),
        ("read_memory_from", ("memory", "read_memory_from", 1), "reviewer", ""),
        ("workspace", ("workspace", "path"), "../reviewer/workspace", ""),
        ("path", ("permissions", "allowed_roots", 0), "/srv", ""),
        ("path", ("permissions", "forbidden_paths", 0), "~/.ssh", ""),
    ]


def test_pinfold_toml_names_agents_in_its_defaults_and_paths_in_its_profiles():
    shared = """
    [defaults.memory]
    read_memory_from = ["reviewer"]
    [risk_profiles.open]
    forbidden_paths = ["/x"]
    """
    found = [(mention.kind, mention.path) for mention in mentions_in_shared(tomllib.loads(shared))]
    assert found == [
        ("read_memory_from", ("defaults", "memory", "read_memory_from", 0)),
        ("path", ("risk_profiles", "open", "forbidden_paths", 0)),
    ]


def test_values_of_a_wrong_kind_are_passed_over():
    assert mentions("agent = 3\nworkspace = { access = [], path = 4 }\n[memory]\nread_memory_from = [1, {}]\n") == []


def test_a_rename_touches_the_names_alone():
    after = LEAD.replace("'reviewer'", "'critic'").replace('"reviewer" = ', "critic = ")
    assert renamed(LEAD) == after.replace('"writer", "reviewer"', '"writer", "critic"')


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "[workspace.access]\nreviewer = 'read' # c\n", "[workspace.access]\ncritic = 'read' # c\n", id="table"
        ),
        pytest.param(
            "workspace = { access = { a = 'read', reviewer = 'read' } }\n",
            "workspace = { access = { a = 'read', critic = 'read' } }\n",
            id="in braces",
        ),
        pytest.param("workspace . access . reviewer='read'\r\n", "workspace . access . critic='read'\r\n", id="dots"),
        pytest.param(
            "[[agent.delegates]] # one\nagent = '''reviewer'''\n",
            '[[agent.delegates]] # one\nagent = "critic"\n',
            id="a table of its own",
        ),
        pytest.param("\ufeff[workspace]\naccess.reviewer='read'", "\ufeff[workspace]\naccess.critic='read'", id="BOM"),
    ],
)
def test_a_rename_follows_how_the_file_is_written(before, after):
    data = before.encode()
    table = tomllib.loads(before.removeprefix("\ufeff"))
    for mention in mentions_in_agent(table):
        if mention.text != "reviewer":
            continue
        data = mention_renamed(data, mention, "critic", FILE)
    assert data.decode() == after


def test_a_name_that_is_there_already_is_not_overwritten():
    text = "[workspace.access]\nreviewer = 'read'\ncritic = 'write'\n"
    with pytest.raises(ConfigError, match="without touching other lines"):
        renamed(text)


def test_what_is_dropped_goes_with_its_own_comment_and_the_rest_stays():
    text, found = dropped(LEAD)
    assert naming(text) == []
    assert "# who leads" in text
    assert 'access.writer = "read"   # for drafts' in text
    assert 'read_memory_from = ["writer"]  # both' in text
    assert [(one.key, one.entry) for one in found] == [
        ("agent.delegates[0]", '{ agent = "reviewer", mode = "independent" }'),
        ("workspace.access.reviewer", '"read_write"'),
        ("memory.read_memory_from[1]", '"reviewer"'),
    ]


def test_what_was_dropped_is_put_back_under_the_alias_of_now():
    text, found = dropped(LEAD)
    data = text.encode()
    for one in found:
        data = mention_restored(data, Dropped.read(one.key, one.entry), "critic", FILE)
    expected = tomllib.loads(renamed(LEAD))
    assert tomllib.loads(data.decode()) == expected


def test_putting_back_twice_names_it_once():
    text, found = dropped(LEAD)
    once = text.encode()
    for one in found:
        once = mention_restored(once, one, "reviewer", FILE)
    twice = once
    for one in found:
        twice = mention_restored(twice, one, "reviewer", FILE)
    assert twice == once


def test_the_last_of_a_list_leaves_the_list_empty_and_of_tables_leaves_none():
    assert dropped("[memory]\nread_memory_from = ['reviewer'] # all\n")[0] == "[memory]\nread_memory_from = [] # all\n"
    text, _ = dropped("[agent]\nenabled = true\n[[agent.delegates]]\nagent = 'reviewer'\n")
    assert tomllib.loads(text) == {"agent": {"enabled": True}}


@pytest.mark.parametrize("key", ["", "a b", "memory[x]", "= 1"])
def test_a_key_that_is_none_is_refused(key):
    with pytest.raises(ConfigError):
        Dropped.read(key, '"x"')


@pytest.mark.parametrize("entry", ["", "1\nx = 2", "]"])
def test_a_value_that_is_none_is_refused(entry):
    with pytest.raises(ConfigError):
        mention_restored(b"[agent]\n", Dropped(("workspace", "access", "x"), entry), "x", FILE)


@pytest.mark.parametrize(
    "key", ["permissions.level", "agent.risk_profile", "permissions.allowed_roots[0]", "sandbox.secrets[0]"]
)
def test_what_names_no_agent_is_not_put_back(key):
    """An archive may say anything."""
    with pytest.raises(ConfigError, match="is no place that names an agent"):
        mention_restored(b"[agent]\n", Dropped.read(key, '"full"'), "x", FILE)
