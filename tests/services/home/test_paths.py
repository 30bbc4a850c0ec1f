"""Where a home is, and what tells it from every other."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.errors import PinfoldError
from services.home import Home
from tests.services.home.processes import outputs, start

IDENTITY = """
import sys
from pathlib import Path
from services.home import Home
sys.stdin.readline()
print(Home(Path(sys.argv[1])).identity())
"""


class TestLocating:
    def test_prefers_the_option_to_the_variable_to_the_default(self, tmp_path: Path) -> None:
        env = {"PINFOLD_HOME": str(tmp_path / "variable")}
        assert Home.locate(tmp_path / "option", env).root == tmp_path / "option"
        assert Home.locate(None, env).root == tmp_path / "variable"
        assert Home.locate("", env).root == tmp_path / "variable"
        assert Home.locate(None, {}).root == Path.home() / ".pinfold"

    def test_expands_and_makes_absolute_without_following_links(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to("real")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("HOME", str(tmp_path))
        assert Home.locate("link", {}).root == tmp_path / "link"
        assert Home.locate("~/x/../y", {}).root == tmp_path / "y"

    @pytest.mark.parametrize(
        ("option", "why"),
        [
            ("~no-such-user/x", "home directory"),
            ("x" * 5000, "File name too long"),
        ],
    )
    def test_says_why_a_place_cannot_be_a_home(self, option: str, why: str) -> None:
        with pytest.raises(PinfoldError, match=why):
            Home.locate(option, {})

    def test_refuses_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(PinfoldError, match="it is not a directory"):
            Home.locate(tmp_path / "file", {})

    def test_makes_nothing(self, tmp_path: Path) -> None:
        assert not Home.locate(tmp_path / "home", {}).exists
        assert list(tmp_path.iterdir()) == []


class TestIdentity:
    def test_is_made_once_and_stays(self, home: Home) -> None:
        first = home.identity()
        assert len(first) == 16
        assert Home(home.root).identity() == first

    def test_differs_between_homes(self, tmp_path: Path) -> None:
        assert Home(tmp_path / "a").identity() != Home(tmp_path / "b").identity()

    def test_is_the_same_for_processes_that_make_it_at_once(self, home: Home) -> None:
        processes = [start(IDENTITY, home.root) for _ in range(6)]
        for process in processes:
            assert process.stdin is not None
            process.stdin.write(b"go\n")
            process.stdin.flush()
        assert set(outputs(processes)) == {home.identity()}

    @pytest.mark.parametrize("damaged", ["", "0123456789abcde", "0123456789abcdeg", "\xff" * 16, "0" * 4096])
    def test_that_is_damaged_is_never_replaced(self, home: Home, damaged: str) -> None:
        home.state_dir.mkdir(parents=True)
        file = home.state_dir / "home-id"
        file.write_bytes(damaged.encode("latin-1"))
        with pytest.raises(PinfoldError):
            home.identity()
        assert file.read_bytes() == damaged.encode("latin-1")

    def test_says_when_the_home_cannot_be_written(self, home: Home) -> None:
        home.root.parent.mkdir(parents=True, exist_ok=True)
        home.root.touch()
        with pytest.raises(PinfoldError):
            home.identity()
