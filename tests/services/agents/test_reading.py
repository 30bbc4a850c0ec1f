"""Every kind of broken file is told with its line and key; whole ones become typed values."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agents.model import AgentConfig, PinfoldConfig
from services.agents.reading import read_config

FILE = Path("agents/reviewer/agent.toml")
AGENT = b'[agent]\ndescription = "x"\n'


def problems(data: bytes, kind: type[Any] = AgentConfig) -> list[tuple[int, str, str]]:
    reading = read_config(data, FILE, kind)
    assert (reading.config is None) == bool(reading.problems)
    assert all(problem.file == FILE and problem.severity == "error" for problem in reading.problems)
    return [(problem.line, problem.key, problem.message) for problem in reading.problems]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(AGENT, id="plain"),
        pytest.param(codecs.BOM_UTF8 + AGENT, id="BOM"),
        pytest.param(AGENT.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(codecs.BOM_UTF8 + AGENT.replace(b"\n", b"\r\n"), id="BOM and CRLF"),
        pytest.param(AGENT.removesuffix(b"\n"), id="no line end at the end"),
        pytest.param(b'agent.description = "x"\n', id="dotted key"),
        pytest.param(b'agent = { description = "x" }\n', id="inline table"),
        pytest.param(b'[ "agent" ]\n\'description\' = """x"""\n', id="quoted keys"),
    ],
)
def test_reads_a_file_however_it_is_written(data: bytes) -> None:
    config = read_config(data, FILE, AgentConfig).config
    assert config is not None
    assert config.agent.description == "x"


def test_reads_the_complete_example_of_the_design() -> None:
    config = read_config(COMPLETE.encode(), FILE, AgentConfig).config
    assert config is not None
    assert config.workspace.access == {"researcher": "read"}
    assert config.sandbox.prepare is not None
    assert config.sandbox.prepare[0].once


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        pytest.param(b"", 0, "the file is empty", id="empty"),
        pytest.param(b" \r\n\t\n", 0, "the file is empty", id="blank"),
        pytest.param(codecs.BOM_UTF8, 0, "the file is empty", id="only a BOM"),
        pytest.param("[agent]\n".encode("utf-16"), 0, "the file is UTF-16", id="UTF-16"),
        pytest.param(AGENT + b'a = "\xe9"\n', 3, "the byte 0xe9 is not UTF-8", id="latin-1"),
        pytest.param(codecs.BOM_UTF8 + codecs.BOM_UTF8 + AGENT, 1, "not TOML", id="two BOMs"),
        pytest.param(b"[agent\n", 1, "not TOML", id="truncated header"),
        pytest.param(AGENT + b"enabled", 3, "a key needs an = and a value", id="truncated key"),
        pytest.param(AGENT + b"enabled = ", 3, "this is not a value", id="truncated value"),
        pytest.param(AGENT + b'risk_profile = "hard', 3, "not TOML", id="truncated text"),
        pytest.param(AGENT + b'roles = { default = "a"', 3, "not TOML", id="truncated table"),
        pytest.param(AGENT + b"[sandbox]\ncommand = [\n'a',\n", 5, "not TOML", id="truncated list"),
        pytest.param(AGENT + b'description = "y"\n', 3, "this key is there already", id="duplicate key"),
        pytest.param(AGENT + b"[agent]\n", 3, "not TOML", id="duplicate table"),
        pytest.param(b"agent.enabled = true\n[agent]\n", 2, "not TOML", id="dotted key, then its table"),
        pytest.param(AGENT + b'risk_profile = "\\e[0m"\n', 3, "this escape is unknown", id="escape of TOML 1.1"),
        pytest.param(AGENT + b"enabled = yes\n", 3, "this is not a value", id="word"),
        pytest.param(AGENT + b"enabled = true false\n", 3, "something follows", id="two values"),
        pytest.param(AGENT + b"nothing here\n", 3, "not TOML", id="prose"),
        pytest.param(AGENT + b"# bell \x07\n", 3, "not TOML", id="control character"),
        pytest.param(AGENT + b"# lone \r return\n", 3, "not TOML", id="lone carriage return"),
        pytest.param(b"a = " + b"[" * 5000 + b"]" * 5000, 0, "nested too deeply", id="deep lists"),
    ],
)
def test_says_where_a_file_stops_being_toml(data: bytes, line: int, message: str) -> None:
    ((found, _, said),) = problems(data)
    assert found == line
    assert message in said


@pytest.mark.parametrize("end", ["", "]", "\n]\n[[["], ids=["whole", "in a list", "more faults follow"])
def test_a_number_of_five_thousand_digits_is_told_by_its_key(end: str) -> None:
    start = "[" if end else ""
    text = f'[sandbox]\n# {"9" * 5000}\nimage = "{"8" * 5000}"\npids = {start}\n{"9" * 5000}{end}\n'
    if not end:
        text = text.replace("pids = \n", "pids = ")
    ((line, key, message),) = problems(text.encode())
    assert (line, key) == ((4, "sandbox.pids") if not end else (5, "sandbox.pids[0]"))
    assert message == "the number is far too long"


@pytest.mark.parametrize(
    ("text", "line", "key", "message"),
    [
        ("[agent]\nenabled = 1", 2, "agent.enabled", "must be true or false, not a whole number"),
        ("[agent]\n\nrisk_profile = ['a']", 3, "agent.risk_profile", "must be text, not a list"),
        ("agent = 1", 1, "agent", "must be a table, not a whole number"),
        ("[sandbox]\npids = 1.5", 2, "sandbox.pids", "must be a whole number from 1 up to 4194304, not a number"),
        ("[sandbox]\npids = 0", 2, "sandbox.pids", "must be a whole number from 1 up to 4194304"),
        ("[sandbox]\npids = 99999999999999999999999", 2, "sandbox.pids", "up to 4194304"),
        ("[sandbox]\ncpus = 0", 2, "sandbox.cpus", "must be a number above 0"),
        ("[sandbox]\ncpus = inf", 2, "sandbox.cpus", "must be a number above 0"),
        ("[sandbox]\ncpus = nan", 2, "sandbox.cpus", "must be a number above 0"),
        (f"[sandbox]\ncpus = {'9' * 400}", 2, "sandbox.cpus", "must be a number above 0"),
        ("[sandbox]\nmemory = '2x'", 2, "sandbox.memory", 'must be a size, such as "512m", "2g", "1.5GiB"'),
        ("[sandbox]\nmemory = 512", 2, "sandbox.memory", "must be a size"),
        ("[sandbox]\nidle_timeout = '5'", 2, "sandbox.idle_timeout", "must be a duration"),
        ("[sandbox]\nstop_timeout = 'never'", 2, "sandbox.stop_timeout", "must be a duration"),
        ("[sandbox]\ncommand = []", 2, "sandbox.command", "must not be an empty list"),
        ("[sandbox]\ncommand = 'ls'", 2, "sandbox.command", "must be a list, not text"),
        ("[sandbox]\ncommand = [\n'sh',\n'-c',\n3]", 5, "sandbox.command[2]", "not a whole number"),
        ('[sandbox]\nimage = "a\\u0000b"', 2, "sandbox.image", "must be text without NUL characters"),
        ("[sandbox]\nsecrets = ['A', 'sk-1']", 2, "sandbox.secrets[1]", "must be the name of an environment variable"),
        ("[sandbox]\nenvironment = { 'A B' = 'x' }", 2, 'sandbox.environment."A B"', "the key must be the name of"),
        ("[sandbox.environment]\nA = 1", 2, "sandbox.environment.A", "must be text"),
        ("[[sandbox.prepare]]\nonce = true", 1, "sandbox.prepare[0]", 'the key "cmd" is missing'),
        ("[[sandbox.prepare]]\ncmd = ['a']\n[[sandbox.prepare]]\ncmd = []", 4, "sandbox.prepare[1].cmd", "empty list"),
        ("[workspace]\naccess = { a = 'reed' }", 2, "workspace.access.a", 'not "reed"'),
        ("[agent]\nenabled = 2024-02-29", 2, "agent.enabled", "must be true or false, not a date or time"),
        ("[agent.roles]\nhuge = 'x'", 2, "agent.roles.huge", 'the key must be one of "default", "heavy"'),
    ],
)
def test_says_which_value_is_wrong_and_on_which_line(text: str, line: int, key: str, message: str) -> None:
    ((found_line, found_key, found_message),) = problems(text.encode())
    assert (found_line, found_key) == (line, key)
    assert message in found_message


@pytest.mark.parametrize(
    ("text", "line", "key", "fix"),
    [
        ("[agent]\nenabeld = true", 2, "agent.enabeld", 'Did you mean "enabled"?'),
        ("[snadbox]\n", 1, "snadbox", 'Did you mean "sandbox"?'),
        ("[agent]\nlifecycle = 'session'", 2, "agent.lifecycle", "It belongs in [sandbox]."),
        ("[agent]\nread = true", 2, "agent.read", "It belongs in [memory]."),
        ("enabled = true", 1, "enabled", "It belongs in [agent]."),
        ("[memory.layout]\nzzz = 1", 2, "memory.layout.zzz", "Known here: memories, sessions."),
        ("[agent]\ndelegates = [\n{ agent = 'a', mood = 'x' }]", 3, "agent.delegates[0].mood", 'Did you mean "mode"?'),
    ],
)
def test_names_the_known_key_nearest_to_an_unknown_one(text: str, line: int, key: str, fix: str) -> None:
    (problem,) = read_config(text.encode(), FILE, AgentConfig).problems
    assert (problem.line, problem.key, problem.fix) == (line, key, fix)
    assert "unknown key" in problem.message


def test_names_the_choice_nearest_to_a_wrong_one() -> None:
    (problem,) = read_config(b"[sandbox]\nlifecycle = 'sesion'", FILE, AgentConfig).problems
    assert problem.fix == 'Did you mean "session"?'


def test_lists_all_faults_of_a_file_by_line() -> None:
    text = b"[sandbox]\ncpus = -1\nmemroy = '1g'\n\n[agent]\nenabled = 'no'\n"
    assert [(line, key) for line, key, _ in problems(text)] == [
        (2, "sandbox.cpus"),
        (3, "sandbox.memroy"),
        (6, "agent.enabled"),
    ]


def test_lines_are_right_with_bom_and_crlf() -> None:
    data = codecs.BOM_UTF8 + b"# one\r\n[agent]\r\n\r\nenabled = 3\r\n"
    assert [line for line, _, _ in problems(data)] == [4]


def test_a_wrong_value_is_never_quoted_where_it_may_be_a_secret() -> None:
    text = (
        b"[sandbox]\nsecrets = ['sk-live-4242']\nenvironment = { KEY = ['sk-live-4242'] }\nimage = ['sk-live-4242']\n"
    )
    assert "sk-live" not in str(read_config(text, FILE, AgentConfig).problems)


@pytest.mark.parametrize("name", ["Hardened", "a__b", "-a", "x" * 64, "a b"])
def test_profiles_have_names_like_aliases(name: str) -> None:
    ((line, _, message),) = problems(f'[risk_profiles."{name}"]\n'.encode(), PinfoldConfig)
    assert line == 1
    assert "the key must be a name" in message


def test_a_problem_reads_as_one_sentence() -> None:
    (problem,) = read_config(b"[agent]\nenabeld = true", FILE, AgentConfig).problems
    assert str(problem) == f'{FILE}:2: agent.enabeld: unknown key "enabeld". Did you mean "enabled"?'


toml_values = st.recursive(
    st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
known_words = st.sampled_from(
    [
        "agent",
        "sandbox",
        "workspace",
        "memory",
        "enabled",
        "command",
        "prepare",
        "access",
        "roles",
        "cmd",
        "environment",
    ]
)


@given(st.dictionaries(known_words | st.text(max_size=6), toml_values, max_size=4))
def test_any_table_is_a_config_or_has_faults_with_keys(table: dict[str, Any]) -> None:
    import tomli_w

    try:
        text = tomli_w.dumps(table).encode("utf-8")
    except (TypeError, ValueError, UnicodeEncodeError):
        return
    reading = read_config(text, FILE, AgentConfig)
    try:
        msgspec.convert(table, AgentConfig)
    except msgspec.ValidationError:
        assert reading.problems
        if table:
            assert all(problem.line and problem.key for problem in reading.problems)


@given(st.binary(max_size=200))
def test_any_bytes_give_a_config_or_a_problem(data: bytes) -> None:
    reading = read_config(data, FILE, AgentConfig)
    assert (reading.config is None) == bool(reading.problems)


COMPLETE = """
[agent]
enabled = true
description = "Reviews pull requests"
risk_profile = "hardened"          # a [risk_profiles.<name>] of pinfold.toml
roles = { default = "local", heavy = "big" }   # optional; else pinfold.toml's
delegates = [{ agent = "researcher", mode = "bounded" }]

[permissions]                      # overrides of the profile; each key optional
allowed_commands = ["git", "ls", "cat"]
allowed_tools = []                 # empty: unrestricted
excluded_tools = []
allowed_roots = ["~/projects/shared"]
forbidden_paths = ["~/.ssh"]
allowed_domains = ["docs.example.org", "*.example.com"]
env_passthrough = ["LANG"]

[workspace]
path = "/srv/reviewer"             # optional
unrestricted_filesystem = false
[workspace.access]                 # this agent's grants on siblings' workspaces
researcher = "read"                # read | write | read_write

[memory]
backend = "sqlite"                 # sqlite | postgres | markdown | qdrant | lucid | none
read_memory_from = ["researcher"]
layout = { memories = "memories", sessions = "sessions" }
read = true
generate = true
live_update = true

[sandbox]
runner = "claude"                  # claude | opencode | codex | tai | yaocode | command
engine = "docker"                  # docker | local; empty: the first that answers
image = "pinfold/agent:latest"
lifecycle = "session"              # oneshot | session | longrunning | persistent
idle_timeout = "30m"
memory = "2g"
cpus = 2.0
pids = 512
network = "none"                   # none | allowlist | open
secrets = ["ANTHROPIC_API_KEY"]
prepare = [{ action = "exec", cmd = ["git", "clone", "x"], once = true }]
command = ["sh", "-c", "x"]        # runner = "command" only
"""
