"""Renames and deletes where a directory cannot be renamed, since that would cross file systems."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.archives import result_of
from services.errors import OperationError
from services.home import Home
from services.operations import OperationState
from services.pinfold import Pinfold
from tests.services.operations.conftest import done, retried
from tests.support.estates import AGENT, estate, under
from tests.support.sessions import World


@pytest.fixture
def layered(world: World, tmp_path: Path) -> Iterator[World]:
    """The home below a layer that takes changes, as in a container: what is in the lower one cannot be renamed."""
    places = {name: tmp_path / name for name in ("upper", "work", "layered")}
    for place in places.values():
        place.mkdir()
    options = f"lowerdir={world.home.root},upperdir={places['upper']},workdir={places['work']}"
    command = ["mount", "-t", "overlay", "overlay", "-o", options, str(places["layered"])]
    if os.getuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("no overlay can be mounted here")
    yield World.existing(Home(places["layered"]))
    subprocess.run(["umount", "--lazy", str(places["layered"])], check=True)


async def test_a_directory_of_a_lower_layer_is_renamed_by_copying(layered: World):
    """Upstream, the move failed, and the workspace stayed under the old alias."""
    before = estate(layered.home)
    async with layered.pinfold(supervise=False) as pinfold:
        operation = await done(pinfold, await pinfold.operations.plan_rename(AGENT, "critic"))
    assert "copied" in operation.steps[0].detail
    assert estate(layered.home) == under("critic", before)


async def test_an_agent_of_a_lower_layer_is_deleted(layered: World):
    async with layered.pinfold(supervise=False) as pinfold:
        operation = await done(pinfold, await pinfold.operations.plan_delete(AGENT))
        assert operation.state is OperationState.DONE
        assert (await result_of(pinfold.archives.verify(operation.archive))).intact
    assert sorted(path.name for path in layered.home.agents_dir.iterdir()) == ["lead", "writer"]


class TestOtherFileSystems:
    @staticmethod
    def crossing(source: Path, target: Path) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(source))

    @pytest.fixture
    def crossed(self, pinfold: Pinfold) -> Pinfold:
        object.__setattr__(pinfold.operations._house, "rename", self.crossing)
        return pinfold

    async def test_a_directory_is_copied_compared_and_removed(self, crossed: Pinfold, world: World):
        before = estate(world.home)
        operation = await done(crossed, await crossed.operations.plan_rename(AGENT, "critic"))
        assert "copied" in operation.steps[0].detail
        assert estate(world.home) == under("critic", before)

    async def test_what_is_no_file_is_left_out_and_said(self, crossed: Pinfold, world: World):
        os.mkfifo(world.home.default_workspace(AGENT) / "pipe")
        operation = await done(crossed, await crossed.operations.plan_rename(AGENT, "critic"))
        assert operation.warnings == ("workspace/pipe is no file, folder or link, and was not copied",)

    async def test_a_copy_that_fails_leaves_all_as_it_was_and_converges(self, crossed, world, monkeypatch):
        before = estate(world.home)

        def full(*_: object) -> bool:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr("services.operations.moving._same_bytes", full)
        with pytest.raises(OperationError, match="No space left"):
            await done(crossed, await crossed.operations.plan_rename(AGENT, "critic"))
        monkeypatch.undo()
        visible = {name: kept for name, kept in estate(world.home)["files"].items() if not name.startswith(".")}
        assert visible == before["files"]
        (operation,) = await crossed.operations.unfinished()
        await retried(crossed, operation.id)
        assert estate(world.home) == under("critic", before)
