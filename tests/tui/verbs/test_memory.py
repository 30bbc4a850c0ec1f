"""`pinfold memory`: every operation from a script, with its exit status, as text and as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from services.home import BlockingCalls, Database, Home
from services.memory import Memory, Namespace, Scope, StepType
from tests.tui.verbs.conftest import COMMAND, Command

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def memory(pinfold: Command) -> Run:
    return lambda *arguments, **options: pinfold("memory", *arguments, **options)


def inside(home: Home, work: Callable[[Memory], Coroutine[Any, Any, Any]]) -> Any:
    """Do something as another Pinfold on the same home would."""

    async def main() -> Any:
        calls = BlockingCalls()
        async with Database(home.database_file) as database:
            memory = Memory(home, database, calls)
            result = await work(memory)
            await memory.close()
        calls.close()
        return result

    return asyncio.run(main())


def values(pinfold: Command, scope: str = "user:1") -> dict[str, Any]:
    async def work(memory: Memory) -> Any:
        return (await memory.namespace(Scope.parse(scope)).snapshot()).values()

    found: dict[str, Any] = inside(pinfold.home, work)
    return found


SECRET = "ghp_" + "a1B2" * 9
HOSTILE_KEY = "k\x1b[2J"
KEY, OTHER, USER = ("user:1", "k"), ("user:1", "other"), "user:1"
WAYS: list[tuple[str, list[tuple[tuple[str, ...], str]]]] = [
    ("set and get", [(("set", *KEY, "Ann"), ""), (("get", *KEY), "Ann\n")]),
    ("numbers", [(("set", *KEY, "-5"), ""), (("get", *KEY), "-5\n")]),
    ("text", [(("set", *KEY, "5", "--text"), ""), (("get", *KEY, "--json"), '"5"')]),
    ("objects", [(("set", *KEY, '{"b":1,"a":[]}'), ""), (("get", *KEY, "--json"), '"b": 1')]),
    ("has", [(("set", *KEY, "null"), ""), (("has", *KEY), "yes\n")]),
    ("del", [(("set-many", "user:1", '{"k":1,"*":2}'), "2\n"), (("del", *KEY, "*", "none"), "2\n")]),
    ("del-matching", [(("set-many", USER, '{"ab":1,"ac":2}'), "2\n"), (("del-matching", USER, "a*"), "2\n")]),
    ("keys", [(("set-many", USER, '{"b":1,"a":[2]}'), "2\n"), (("keys", USER), "a\tlist of 1\t3\tnever\t[2]\n")]),
    ("count", [(("set-many", "user:1", '{"b":1,"a":2}'), "2\n"), (("count", "user:1", "a*"), "1\n")]),
    ("get-many", [(("set", *KEY, "1"), ""), (("get-many", *KEY, "none"), '"none": null')]),
    ("get-or-set", [(("get-or-set", *KEY, "1"), "1\n"), (("get-or-set", *KEY, "2"), "1\n")]),
    ("get-or-set-many", [(("get-or-set-many", "user:1", '{"k":1}'), '"k": 1'), (("get", *KEY), "1\n")]),
    ("get-del", [(("set", *KEY, "1"), ""), (("get-del", *KEY), "1\n"), (("count", "user:1"), "0\n")]),
    ("incr and decr", [(("incr", *KEY), "1\n"), (("incr", *KEY, "-4"), "-3\n"), (("decr", *KEY, "2"), "-5\n")]),
    ("push and pop", [(("push", *KEY, "1", "b"), "2\n"), (("pop", *KEY, "--first"), "1\n"), (("pop", *KEY), "b\n")]),
    ("pull", [(("push", *KEY, "1", "2", "1"), "3\n"), (("pull", *KEY, "1"), "2\n")]),
    ("pull-all", [(("push", *KEY, "1", "2", "3"), "3\n"), (("pull-all", *KEY, "1", "3"), "2\n")]),
    ("add-to-set", [(("add-to-set", *KEY, "a", "a", "b"), "2\n"), (("add-to-set", *KEY, "b"), "0\n")]),
    ("array", [(("set", *KEY, "[1,2,3]"), ""), (("array-len", *KEY), "3\n"), (("array-get", *KEY, "-1"), "3\n")]),
    ("array-set", [(("set", *KEY, "[1,2]"), ""), (("array-set", *KEY, "0", "x"), ""), (("array-all", *KEY), '"x"')]),
    ("array-slice", [(("set", *KEY, "[1,2,3]"), ""), (("array-slice", *KEY, "1", "9"), "2\n3\n")]),
    ("array-page", [(("set", *KEY, "[1,2,3]"), ""), (("array-page", *KEY, "2", "2"), "3\n")]),
    ("scopes", [(("set", *KEY, "1"), ""), (("scopes", "user"), "user:1\t1\n")]),
    ("stats", [(("set", *KEY, "1"), ""), (("stats", "user:1"), "user:1\t1 keys\t")]),
    ("expire", [(("set", *KEY, "1"), ""), (("expire", *KEY, "90m"), ""), (("keys", "user:1"), "\t1h29m\t")]),
    ("ttl", [(("push", *KEY, "1", "--ttl", "30"), "1\n"), (("keys", "user:1"), "\t29s\t")]),
    ("a second scope", [(("set", *KEY, "1"), ""), (("count", "team:1"), "0\n")]),
]  # fmt: skip


@pytest.mark.parametrize("way", [way for _, way in WAYS], ids=[name for name, _ in WAYS])
def test_every_operation_prints_what_came_of_it(memory: Run, way: list[tuple[tuple[str, ...], str]]) -> None:
    for arguments, printed in way:
        out = memory(*arguments).stdout
        assert printed in out if printed else out == ""


JSON: list[tuple[tuple[str, ...], Any]] = [
    (("get", *KEY), {"scope": "user:1", "key": "k", "found": True, "value": [1, "a"]}),
    (("array-get", *KEY, "1"), {"scope": "user:1", "key": "k", "found": True, "value": "a"}),
    (("array-len", *KEY), {"scope": "user:1", "key": "k", "count": 2}),
    (("array-slice", *KEY, "0", "1"), {"scope": "user:1", "key": "k", "items": [1]}),
    (("count", "user:1"), {"scope": "user:1", "key": None, "count": 2}),
    (("scopes",), [{"scope": "user:1", "key": None, "count": 2}]),
    (("get-many", *KEY, "x"), {"scope": "user:1", "values": {"k": [1, "a"], "x": None}, "missing": ["x"]}),
    (("set", "user:1", "new", "1"), {"scope": "user:1", "key": "new", "found": True, "value": 1}),
    (("incr", "user:1", "n"), {"scope": "user:1", "key": "n", "found": True, "value": 6}),
    (("push", *KEY, "z"), {"scope": "user:1", "key": "k", "count": 3}),
    (("pop", *KEY), {"scope": "user:1", "key": "k", "found": True, "value": "a"}),
    (("clear", "user:1", "--yes"), {"scope": "user:1", "key": None, "count": 2}),
    (("steps",), []),
    (("forget", "chat"), {"chat": "chat", "count": 0}),
]


@pytest.mark.parametrize(("arguments", "document"), JSON, ids=[arguments[0] for arguments, _ in JSON])
def test_every_operation_prints_json(pinfold: Command, arguments: tuple[str, ...], document: Any) -> None:
    pinfold("memory", "set-many", "user:1", '{"k":[1,"a"],"n":5}')
    assert pinfold.json("memory", *arguments) == document


def test_keys_as_json_tell_kind_size_and_times(pinfold: Command) -> None:
    pinfold("memory", "push", *KEY, "1", "2", "--ttl", "1h")
    (key,) = pinfold.json("memory", "keys", "user:1")
    assert key["expires_at"] > key["updated_at"]
    assert {name: key[name] for name in ("key", "kind", "preview", "size", "length")} == {
        "key": "k", "kind": "list", "preview": "[1,2]", "size": 6, "length": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "status", "reason"),
    [
        (("get", *OTHER), 1, "nothing is stored under 'other' of user:1"),
        (("get", *OTHER, "--json"), 1, ""),
        (("has", *OTHER), 1, ""),
        (("get-del", *OTHER), 1, "nothing is stored"),
        (("expire", *OTHER, "5"), 1, "nothing is stored"),
        (("pop", *OTHER), 1, "no list 'other'"),
        (("array-get", *KEY, "0"), 1, "'k' is not a list: it holds text"),
        (("incr", *KEY), 1, "'k' is not an integer: it holds text"),
        (("set", *KEY, "NaN"), 1, "not JSON"),
        (("set", *KEY, "{broken"), 1, "Add --text to store it as text"),
        (("set", *KEY, "9223372036854775808"), 1, "64 bits"),
        (("set", *KEY, "1", "--ttl", "-5"), 1, "negative"),
        (("set", *KEY, "1", "--ttl", "soon"), 1, "cannot live that long"),
        (("set", "user:1", "", "1"), 1, "the key is empty"),
        (("set-many", "user:1", "[1]"), 1, "JSON object"),
        (("restore", "user:1", "/nowhere"), 1, "cannot read /nowhere"),
        (("import", "/nowhere"), 1, "cannot read /nowhere"),
        (("get", "user", "k"), 2, "is no scope"),
        (("get", "project:1", "k"), 2, "user, team, chat, context"),
        (("get", "user:", "k"), 2, "empty"),
        (("export", "user:1", "nobody"), 2, "is no scope"),
        (("set", *KEY, "1", "--tll", "5"), 2, "unexpected"),
        (("push", *KEY, "1", "--tll", "5"), 2, "--tll"),
        (("incr", *KEY, "many"), 2, "integer"),
        (("get", "user:1"), 2, "KEY"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_is_refused_changes_nothing_and_says_why(
    pinfold: Command, memory: Run, arguments: tuple[str, ...], status: int, reason: str
) -> None:
    memory("set", *KEY, "before")
    assert reason in memory(*arguments, status=status).stderr
    assert values(pinfold) == {"k": "before"}


def test_m18_clearing_a_user_or_a_team_asks_and_without_somebody_to_answer_refuses(
    pinfold: Command, memory: Run
) -> None:
    for scope in ("user:1", "team:1", "chat:1", "context:1"):
        memory("set", scope, "k", "1")
    for scope in ("user:1", "team:1"):
        assert "Add --yes" in memory("clear", scope, status=1).stderr
        assert memory("count", scope).stdout == "1\n"
        assert memory("clear", scope, "--yes").stdout == "1\n"
    for scope in ("chat:1", "context:1"):
        assert memory("clear", scope).stdout == "1\n"
    memory("set", "user:1", "k", "1")
    with pinfold.on_terminal("memory", "clear", "user:1") as terminal:
        terminal.wait_for("Delete 1 keys of user:1 for good?")
        terminal.press("n", "enter")
        assert terminal.wait_for_exit() == 1
    assert memory("count", "user:1").stdout == "1\n"


def test_a_value_may_come_from_standard_input_and_goes_to_a_pipe_as_it_is(pinfold: Command) -> None:
    text = "two\nlines \x1b[31m\t日本"
    environment = {**os.environ, **pinfold.environment}
    run = [*COMMAND, "memory"]
    subprocess.run([*run, "set", *KEY, "-"], input=text.encode() + b"\n", env=environment, check=True, timeout=60)
    assert values(pinfold) == {"k": text}
    got = subprocess.run([*run, "get", *KEY], env=environment, capture_output=True, check=True, timeout=60)
    assert got.stdout == text.encode() + b"\n"


def test_nothing_stored_acts_on_a_terminal(pinfold: Command) -> None:
    async def work(memory: Memory) -> None:
        await memory.namespace(Scope.parse("user:1")).set(HOSTILE_KEY, "shown\x1b]0;title\x07\nb\x9b31m")

    inside(pinfold.home, work)
    for arguments in (("get", "user:1", HOSTILE_KEY), ("keys", "user:1"), ("export",), ("snapshot", "user:1")):
        with pinfold.on_terminal("memory", *arguments) as terminal:
            assert terminal.wait_for_exit() == 0
            assert "title" not in terminal.text() or "\\u001b" in terminal.text()
            assert "\x9b" not in terminal.text()
            assert "shown" in terminal.text()


def test_a_snapshot_is_restored_elsewhere_and_replaces_only_when_told(
    pinfold: Command, memory: Run, tmp_path: Path
) -> None:
    memory("set-many", "context:1", '{"a":1,"l":[1,{"x":null}]}')
    file = tmp_path / "snapshot.json"
    file.write_text(memory("snapshot", "context:1").stdout)
    assert memory("restore", "context:2", str(file)).stdout == "2\n"
    assert values(pinfold, "context:2") == {"a": 1, "l": [1, {"x": None}]}
    memory("set", "context:2", "b", "2")
    assert "Add --yes" in memory("restore", "context:2", str(file), status=1).stderr
    assert memory("restore", "context:2", str(file), "--yes").stdout == "2\n"
    assert values(pinfold, "context:2") == {"a": 1, "l": [1, {"x": None}]}
    file.write_text("[]")
    assert "is no snapshot" in memory("restore", "context:2", str(file), "--yes", status=1).stderr


def test_what_is_exported_is_imported_with_its_times_into_its_own_scopes_or_one(
    pinfold: Command, memory: Run, tmp_path: Path
) -> None:
    memory("set-many", "user:a:b", '{"k":[1],"*":"\\u0000"}')
    memory("set", "team:t", "k", "true")
    memory("set", "chat:c", "k", "1", "--ttl", "1h")
    file = tmp_path / "export.jsonl"
    file.write_text(memory("export").stdout)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["scope"], line["id"], line["key"]) for line in lines] == [
        ("user", "a:b", "*"), ("user", "a:b", "k"), ("team", "t", "k"), ("chat", "c", "k"),
    ]  # fmt: skip
    assert 3590 < lines[-1]["ttl"] <= 3600
    assert len(memory("export", "user:a:b", "--matching", "k*").stdout.splitlines()) == 1
    for scope in ("user:a:b", "team:t", "chat:c"):
        memory("clear", scope, "--yes")
    assert memory("import", str(file)).stdout == "4\n"
    assert values(pinfold, "user:a:b") == {"k": [1], "*": "\0"}
    assert memory("import", str(file), "--into", "user:all").stdout == "4\n"
    assert values(pinfold, "user:all") == {"*": "\0", "k": 1}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("no JSON", "no key of an export"),
        ('{"scope":"user","id":"1","key":"k"}', "missing required field `value`"),
        ('{"scope":"project","id":"1","key":"k","value":1}', "project"),
        ('{"scope":"user","id":"","key":"k","value":1}', "empty"),
        ('{"scope":"user","id":"1","key":"","value":1}', "empty"),
        ('{"scope":"user","id":"1","key":"k","value":1,"ttl":-1}', "cannot live"),
        ('{"scope":"user","id":"1","key":"k","value":1,"more":1}', "more"),
        ("[" * 5000, "no key of an export"),
    ],
)
def test_a_line_that_cannot_be_imported_is_named_and_nothing_of_its_part_is_stored(
    pinfold: Command, memory: Run, tmp_path: Path, line: str, why: str
) -> None:
    file = tmp_path / "export.jsonl"
    good = '{"scope":"user","id":"1","key":"good","value":1}\n'
    file.write_text(f"{good}\n{line}\n{good}")
    done = memory("import", str(file), status=1)
    assert "line 3" in done.stderr
    assert why in done.stderr
    assert "0 keys before it are stored" in done.stderr
    assert values(pinfold) == {}


def test_a_large_export_is_imported_part_by_part(pinfold: Command, memory: Run, tmp_path: Path) -> None:
    async def fill(memory: Memory) -> None:
        await memory.namespace(Scope.parse("user:1")).set_many({f"k{n:04}": {"n": n} for n in range(3000)})

    inside(pinfold.home, fill)
    file = tmp_path / "export.jsonl"
    file.write_text(memory("export", "user:1").stdout + "broken\n")
    done = memory("import", str(file), "--into", "user:2", status=1)
    assert "line 3,001" in done.stderr
    assert "3,000 keys before it are stored" in done.stderr
    assert values(pinfold, "user:2") == values(pinfold, "user:1")


def test_what_was_changed_is_logged_without_its_value(pinfold: Command, memory: Run) -> None:
    memory("set", *KEY, "confidential")
    memory("get", *KEY)
    memory("incr", *KEY, status=1)
    entries = [entry for entry in pinfold.json("activity") if entry["verb"].startswith("memory.")]
    assert [(entry["verb"], entry["detail"]) for entry in entries] == [("memory.set", "user:1 k")]


def test_steps_that_were_interrupted_are_listed_until_they_are_forgotten(pinfold: Command, memory: Run) -> None:
    async def work(memory: Memory) -> None:
        context = await memory.contexts.open(chat="chat", request="request")
        await memory.contexts.begin(context.id, StepType.LLM, {"prompt": "p"})
        await memory.contexts.begin(context.id, StepType.TOOL)

    inside(pinfold.home, work)  # which ended without releasing its context
    steps = pinfold.json("memory", "steps", "--chat", "chat")
    assert [(step["type"], step["state"], step["depth"], step["resumable"]) for step in steps] == [
        ("llm", "interrupted", 0, True), ("tool", "interrupted", 1, True),
    ]  # fmt: skip
    assert steps[0]["input"] == {"prompt": "p"}
    assert "interrupted" in memory("steps", "--resumable").stdout
    assert memory("forget", "chat").stdout == "2\n"
    assert memory("steps").stdout == ""


def test_another_process_is_seen_at_once(pinfold: Command, memory: Run) -> None:
    async def work(memory: Memory) -> Any:
        namespace: Namespace = memory.namespace(Scope.parse("user:1"))
        return await namespace.incr("k")

    assert memory("incr", *KEY).stdout == "1\n"
    assert inside(pinfold.home, work) == 2
    assert memory("get", *KEY).stdout == "2\n"


def test_a_secret_in_a_key_is_not_in_the_activity(pinfold: Command) -> None:
    pinfold("memory", "set", "user:42", SECRET, "1")
    assert SECRET not in pinfold("activity").stdout
    assert "memory.set" in pinfold("activity").stdout


def test_the_list_of_keys_hides_secrets_until_they_are_asked_for(pinfold: Command) -> None:
    token = "ghp_" + "k7Qx" * 9
    pinfold("memory", "set", "user:1", "login", f'{{"token":"{token}"}}')
    assert token not in pinfold("memory", "keys", "user:1").stdout
    (hidden,) = pinfold.json("memory", "keys", "user:1")
    assert hidden["preview"] == '{"token":"••••[api_key]"}'
    (shown,) = pinfold.json("memory", "keys", "user:1", "--reveal")
    assert token in shown["preview"]
