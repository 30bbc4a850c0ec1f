"""JSON Schemas of the two TOML files, for editors that complete and check them."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import msgspec

from services.agents.model import AgentConfig, PinfoldConfig
from services.home import Home, make_directory, read_file, write_whole

_ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n     .*)*)", re.MULTILINE)


def agent_schema() -> bytes:
    """The JSON Schema of `agent.toml`, as indented JSON."""
    return _schema(AgentConfig, "agent.toml of Pinfold")


def config_schema() -> bytes:
    """The JSON Schema of `pinfold.toml`, as indented JSON."""
    return _schema(PinfoldConfig, "pinfold.toml")


def write_schemas(home: Home) -> tuple[Path, ...]:
    """Write both schemas to where the first lines of the TOML files look for them; blocks on the disk.

    Returns:
        The files that were missing or differed.

    Raises:
        PinfoldError: They cannot be written.
    """
    make_directory(home.schema_dir)
    written: list[Path] = []
    for name, schema in (("agent.json", agent_schema()), ("pinfold.json", config_schema())):
        file = home.schema_dir / name
        try:
            current = read_file(file).data
        except FileNotFoundError:
            current = b""
        if current != schema:
            write_whole(file, schema, mode=0o644)
            written.append(file)
    return tuple(written)


def _schema(kind: type[msgspec.Struct], title: str) -> bytes:
    _, definitions = msgspec.json.schema_components((kind,), ref_template="#/definitions/{name}")
    for definition in definitions.values():
        _describe(definition)
    root = definitions.pop(kind.__name__)
    document = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **root,
        "title": title,
        "definitions": definitions,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _describe(definition: dict[str, Any]) -> None:
    """Spread a docstring over a table and its keys, and drop what TOML does not have: null."""
    summary, _, attributes = definition["description"].partition("\n\nAttributes:\n")
    definition["description"] = summary
    descriptions = {key: inspect.cleandoc(text) for key, text in _ATTRIBUTE.findall(attributes)}
    for key, property_ in definition["properties"].items():
        definition["properties"][key] = {"description": descriptions[key], **_without_null(property_)}


def _without_null(property_: dict[str, Any]) -> dict[str, Any]:
    """Also wraps references, beside which draft 7 reads no description."""
    if "anyOf" in property_:
        (property_,) = (choice for choice in property_["anyOf"] if choice != {"type": "null"})
    return {"allOf": [property_]} if "$ref" in property_ else property_
