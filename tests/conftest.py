"""Fixtures every test may use; also points SVG snapshots at the top-level snapshots/ folder."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import pytest_textual_snapshot
from hypothesis import settings
from pytest_textual_snapshot import SVGImageExtension

from services.home import Home

ROOT = Path(__file__).resolve().parent.parent


class PinfoldSVG(SVGImageExtension):
    """One SVG an assertion, under snapshots/<path of the test module>/."""

    _file_extension = file_extension = "svg"  # the name differs between syrupy's versions

    @classmethod
    def dirname(cls, *, test_location) -> str:
        module = Path(test_location.filepath).with_suffix("")
        return str(ROOT / "snapshots" / module.relative_to(ROOT / "tests"))

    @classmethod
    def get_snapshot_name(cls, *, test_location, index=0) -> str:
        """A picture is called what its parameter's id says it shows."""
        _, _, shown = test_location.testname.partition("[")
        return str(shown.removesuffix("]") or super().get_snapshot_name(test_location=test_location, index=index))

    @classmethod
    def write_snapshot(cls, **kwargs) -> None:
        """Write pictures without the remark that their names are not those of tests."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "\\s*Can not relate snapshot name", UserWarning)
            super().write_snapshot(**kwargs)


pytest_textual_snapshot.SVGImageExtension = PinfoldSVG


# A busy machine makes any example slow now and then; what is wrong is wrong at any speed.
settings.register_profile("pinfold", deadline=None)
settings.load_profile("pinfold")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")
