"""Text that Pinfold did not write reaches no widget as markup, nor past `safe`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.conftest import ROOT

FILES = sorted((ROOT / "tui").rglob("*.py"))
TAKES_MARKUP = {"Static", "Label", "Button", "notify", "update", "Select", "Checkbox", "from_markup"}
"""What reads markup in a plain string."""


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def offences(source: str) -> list[int]:
    found = []
    for call in calls(ast.parse(source)):
        if called(call) not in TAKES_MARKUP or not call.args:
            continue
        without_markup = any(
            keyword.arg == "markup" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False
            for keyword in call.keywords
        )
        if isinstance(call.args[0], ast.JoinedStr | ast.BinOp) and not without_markup:
            found.append(call.lineno)
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix().replace("/", "."))
def test_no_built_text_is_read_as_markup(file) -> None:
    assert offences(file.read_text()) == []


@pytest.mark.parametrize(
    ("source", "caught"),
    [
        ('Static(f"{name}")', True),
        ('self.notify("agent " + name)', True),
        ('label.update(f"{name}", layout=False)', True),
        ('Static(f"{name}", markup=False)', False),
        ('Static(Content(f"{name}"))', False),
        ('Static("fixed")', False),
    ],
    ids=["f-string", "sum", "method", "no-markup", "content", "constant"],
)
def test_the_check_itself_finds_what_it_should(source, caught) -> None:
    assert bool(offences(source)) is caught


def test_every_toast_says_whether_it_is_markup() -> None:
    missing = [
        f"{file.relative_to(ROOT)}:{call.lineno}"
        for file in FILES
        for call in calls(ast.parse(file.read_text()))
        if called(call) == "notify" and not any(keyword.arg == "markup" for keyword in call.keywords)
    ]
    assert missing == []
