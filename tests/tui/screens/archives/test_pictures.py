"""Pictures of archives and plans, compared with those in snapshots/."""

from __future__ import annotations

import pytest

from services.home import Home
from tests.tui.screens.archives.kept import KeptScene
from tests.tui.screens.test_pictures import SMALL, WIDE, Picture, fixed_surroundings, way_to

__all__ = ["fixed_surroundings"]

PICTURES = [
    Picture("archives-160x45-dark", WIDE, "pinfold-dark", ("4", "j"), ("WHAT IS KEPT", "a socket")),
    Picture(
        "contents-80x24-light", SMALL, "pinfold-light", ("4", "j", "enter", "j", "j", "j"), ("1,204 pages", "scrape.py")
    ),
    Picture("delete-plan-dark", (120, 36), "pinfold-dark", ("1", "G", "k", "D"), ("WHAT HAPPENS",)),
    Picture("delete-plan-80x24-light", SMALL, "pinfold-light", ("1", "G", "k", "D"), ("WHAT HAPPENS",)),
    Picture("restore-plan-80x24-dark", SMALL, "pinfold-dark", ("4", "j", "u"), ("PUT BACK IN", "verify the archive")),
]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_picture(picture, tmp_path, snap_compare) -> None:
    scene = KeptScene(Home(tmp_path / ".pinfold"))
    scene.write()
    scene.app.animation_level = "none"
    try:
        assert snap_compare(scene.app, terminal_size=picture.size, run_before=way_to(picture, scene))
    finally:
        scene.close()
