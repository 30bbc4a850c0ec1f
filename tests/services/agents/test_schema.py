"""The JSON Schemas describe every key, and nothing TOML cannot say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from services.agents import agent_schema, config_schema
from services.agents.model import AgentConfig, PinfoldConfig
from services.agents.schema import write_schemas
from services.home import Home

SCHEMAS = [
    pytest.param(agent_schema, AgentConfig, id="agent.toml"),
    pytest.param(config_schema, PinfoldConfig, id="pinfold.toml"),
]


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object inside a schema, itself included."""
    if isinstance(schema, dict):
        yield schema
        for part in schema.values():
            yield from parts(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from parts(part)


@pytest.mark.parametrize(("make", "kind"), SCHEMAS)
def test_every_key_is_there_and_described(make: Any, kind: type[msgspec.Struct]) -> None:
    schema = json.loads(make())
    assert set(schema["properties"]) == set(kind.__struct_fields__)
    tables = [schema, *schema["definitions"].values()]
    for table in tables:
        assert table["additionalProperties"] is False
        assert table["description"]
        for key, property_ in table["properties"].items():
            assert property_["description"].endswith("."), key
    assert len(tables) > 5


@pytest.mark.parametrize(("make", "kind"), SCHEMAS)
def test_nothing_leads_nowhere_or_is_null(make: Any, kind: type[msgspec.Struct]) -> None:
    schema = json.loads(make())
    for part in parts(schema):
        assert part.get("type") != "null"
        if "$ref" in part:
            assert part["$ref"].removeprefix("#/definitions/") in schema["definitions"]
            assert set(part) == {"$ref"}  # draft 7 reads nothing beside a reference
        if "pattern" in part:
            assert isinstance(part["pattern"], str)
            re.compile(part["pattern"])
            for example in part.get("examples", ()):
                assert re.search(part["pattern"], example)


def test_choices_and_limits_are_told() -> None:
    sandbox = json.loads(agent_schema())["definitions"]["SandboxSection"]["properties"]
    assert set(sandbox["lifecycle"]["enum"]) == {"oneshot", "session", "longrunning", "persistent"}
    assert (sandbox["pids"]["minimum"], sandbox["pids"]["maximum"]) == (1, 4194304)
    assert sandbox["idle_timeout"]["examples"] == ["30m", "1h30m", "never"]
    assert sandbox["environment"]["propertyNames"]["pattern"].startswith("^[A-Za-z_]")


def test_they_are_the_same_bytes_every_time() -> None:
    assert agent_schema() == agent_schema()
    assert config_schema().endswith(b"}\n")


def test_are_written_once_and_again_when_they_differ(home: Home) -> None:
    first = write_schemas(home)
    assert [file.name for file in first] == ["agent.json", "pinfold.json"]
    assert write_schemas(home) == ()
    first[0].write_text("{}")
    assert write_schemas(home) == (first[0],)
    assert first[0].read_bytes() == agent_schema()
