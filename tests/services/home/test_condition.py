"""Whether a home is fit for use, found out without changing it."""

from __future__ import annotations

from pathlib import Path

from services.home import Database, Home
from services.home.condition import examine


async def test_of_a_home_in_use(home: Home) -> None:
    async with Database(home.database_file):
        pass
    home.agents_dir.mkdir()
    found = examine(home)
    assert (found.exists, found.problems) == (True, ())
    assert found.database_version is not None
    assert found.free > 0


def test_of_none_makes_none(home: Home) -> None:
    found = examine(home)
    assert (found.exists, found.database_version, found.problems) == (False, None, ())
    assert not home.root.exists()


def test_names_a_home_that_others_may_change(home: Home) -> None:
    home.agents_dir.mkdir(parents=True)
    home.root.chmod(0o777)
    assert any("others may change it" in problem for problem in examine(home).problems)


def test_names_a_database_that_is_none(home: Home) -> None:
    home.state_dir.mkdir(parents=True)
    home.database_file.write_bytes(b"text, and a lot of it. " * 100)
    found = examine(home)
    assert found.database_version is None
    assert any("not a database" in problem for problem in found.problems)
    assert Path(home.database_file).read_bytes().startswith(b"text")
