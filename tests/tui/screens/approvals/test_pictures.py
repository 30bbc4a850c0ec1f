"""A picture of answering, compared with the one in snapshots/."""

from __future__ import annotations

from textual.pilot import Pilot

from services.home import Home
from services.sandbox import Approval
from tests.tui.conftest import shown, until
from tests.tui.screens.scene import NOW, SECOND, SESSIONS, Scene
from tests.tui.screens.test_pictures import Picture, fixed_surroundings, way_to

__all__ = ["fixed_surroundings"]

REVIEWER, MIGRATOR = SESSIONS[0], SESSIONS[3]
PICTURE = Picture("approvals", (160, 45), "pinfold-dark", ("3", "j", "j"), ("2 failed",))
WAITING = [
    Approval(
        number=7,
        session=REVIEWER.id,
        agent=REVIEWER.agent,
        tool="memory_store",
        summary="key=review-482 (10 characters), content=The comment belongs to the item before it; _attach() looks at "
        "the one after. Same cause in both tests… (214 characters)",
        reason="always_ask names it",
        asked_at=NOW - 12 * SECOND,
        until=NOW + 108 * SECOND,
        rule="always_ask memory_store: asked every time, agent.toml:11",
        every_time=True,
    ),
    Approval(
        number=8,
        session=MIGRATOR.id,
        agent=MIGRATOR.agent,
        tool="memory_forget",
        summary="key=draft (5 characters)",
        reason="no list approves it",
        asked_at=NOW - 2 * SECOND,
        until=NOW + 21 * SECOND,
        rule="level: asks first, pinfold.toml:6 (profile trusted)",
    ),
]


def test_picture(tmp_path, snap_compare) -> None:
    scene = Scene(Home(tmp_path / ".pinfold"))
    scene.write()
    scene.app.animation_level = "none"

    async def go(pilot: Pilot[None]) -> None:
        await way_to(PICTURE, scene)(pilot)
        scene.app.store.put_approvals(WAITING)
        await until(lambda: "A  answer" in shown(scene.app), pilot)
        scene.app.clear_notifications()
        await until(lambda: "A  answer" not in shown(scene.app), pilot)
        await pilot.press("A")
        await until(lambda: "2 calls wait for your answer" in shown(scene.app), pilot)
        await pilot.pause()

    try:
        assert snap_compare(scene.app, terminal_size=PICTURE.size, run_before=go)
    finally:
        scene.close()
