"""Every row of the checklist and every wart has a test that names it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

PLACES = (Path(__file__).parent, ROOT / "tests" / "tui" / "verbs")
ROWS = (
    *(f"m{number:02}" for number in range(1, 53)),
    *(f"r{number:02}" for number in range(1, 13)),
    *(f"w{number:02}" for number in range(1, 27)),
)


@pytest.fixture(scope="module")
def named() -> set[str]:
    texts = [file.read_text() for place in PLACES for file in place.glob("test_*.py")]
    tests = re.findall(r"def test_((?:[mrw]\d\d_)+)", "\n".join(texts))
    return {row for names in tests for row in names.split("_")}


@pytest.mark.parametrize("row", ROWS)
def test_a_test_names(named: set[str], row: str) -> None:
    assert row in named
