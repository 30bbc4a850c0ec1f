"""The rules of the house: who imports whom at run time, what files are called and hold, what the README promises."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tui.actions import key_table
from tui.verbs import VERBS

PACKAGES = ("tui", "services", "themes")
LONGEST_FILE = 450
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "manager", "managers", "misc", "common", "shared", "base"}


def python(code: str) -> str:
    """Run code in a fresh interpreter and return what it printed."""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    ).stdout


def modules_of(package: str) -> list[str]:
    files = sorted((ROOT / package).rglob("*.py"))
    dotted = (".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files)
    return [name.removesuffix(".__init__") for name in dotted]


def source_files() -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


# who imports whom, which the static contracts cannot see when an import is deferred

WITHOUT_SCREENS = """
import importlib, sys
for module in {modules!r}:
    importlib.import_module(module)
    found = {{"textual", "rich", "click", "tui"}} & sys.modules.keys()
    if found:
        print(module, "loads", *sorted(found))
        break
"""


SPEAK_MCP = {
    f"services.sandbox.tools.serving.{name}"
    for name in ("conversation", "http", "http_connection", "lines", "protocol")
}
"""The SDK they load brings a web server with a command line of its own."""


def test_no_module_of_services_loads_the_screens() -> None:
    modules = [name for name in modules_of("services") if not name.endswith("__main__") and name not in SPEAK_MCP]
    assert python(WITHOUT_SCREENS.format(modules=modules)) == ""


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("tui.cli", {"textual", "docker", "watchfiles", "tomlkit", "msgspec", "sqlite3", "asyncio"}),
        ("services.pinfold", {"docker", "watchfiles", "tomlkit", "requests", "services.memory", "mcp"}),
        ("services.sandbox.tools.serving", {"mcp", "pydantic"}),
        ("tui.app", {"docker", "watchfiles", "tomlkit", "requests", "services.memory", "mcp"}),
        ("tui.verbs.run", {"textual", "docker", "watchfiles", "tomlkit"}),
        ("tui.verbs.sessions", {"textual", "docker", "watchfiles", "tomlkit"}),
        ("tui.verbs.agents", {"textual", "docker", "watchfiles", "tomlkit"}),
        ("tui.terminal", {"textual", "docker", "click"}),
        ("tui.actions", {"textual"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_import_loads_nothing_that_slows_the_start(module: str, forbidden: set[str]) -> None:
    assert python(f"import sys, {module}; print(*sorted({forbidden!r} & sys.modules.keys()))").split() == []


# packaging


def test_no_other_distribution_has_packages_of_our_names() -> None:
    owners = packages_distributions()
    assert {owner for name in PACKAGES for owner in owners.get(name, [])} <= {"pinfold"}


# names and sizes


@pytest.mark.parametrize("package", PACKAGES)
def test_no_file_outgrows_its_room(package: str) -> None:
    lengths = {file: len(file.read_text().splitlines()) for file in (ROOT / package).rglob("*.py")}
    assert {str(file): length for file, length in lengths.items() if length > LONGEST_FILE} == {}


def test_names_say_what_a_thing_is() -> None:
    assert [file for file in source_files() if {file.stem, file.parent.name} & VAGUE_NAMES] == []


def test_every_module_says_what_it_is_for() -> None:
    assert [file for file in source_files() if not file.read_text().startswith(('"""', "#!"))] == []


def test_no_handler_of_an_event_calls_the_one_it_extends() -> None:
    """Textual calls the handlers of all classes: one that is called by hand runs twice, and listens to all twice."""
    calls = re.compile(r"super\(\)\.(on|_on)_\w+\(")
    assert [str(file) for file in (ROOT / "tui").rglob("*.py") if calls.search(file.read_text())] == []


def test_style_sheets_name_colours_by_variable_only() -> None:
    declared = re.compile(r"^\s*[\w-]+\s*:[^;{]*#[0-9a-fA-F]{3,8}\b", re.MULTILINE)
    sheets = sorted((ROOT / "themes").rglob("*.tcss"))
    assert sheets
    assert {sheet.name: found for sheet in sheets if (found := declared.findall(sheet.read_text()))} == {}


# the README

README = (ROOT / "README.md").read_text()


def test_the_readme_starts_with_exactly_two_commands_of_one_line_each() -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert [len(block.splitlines()) for block in blocks[:2]] == [1, 1]
    assert "--demo" in blocks[0]
    assert "-m tests" in blocks[1]


def test_the_readme_has_the_keys_as_they_are() -> None:
    assert key_table() in README


def test_the_readme_names_every_verb() -> None:
    assert [verb for verb in VERBS if f"pinfold {verb}" not in README] == []


def test_the_pictures_of_the_readme_are_snapshots_that_exist() -> None:
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", README)
    assert pictures
    assert [picture for picture in pictures if not (ROOT / picture).is_file()] == []
    assert all(picture.startswith("snapshots/") for picture in pictures)
