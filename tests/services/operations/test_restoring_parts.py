"""One file, the memory or the configuration of an archive, restored to an agent that is there."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from services.archives import ArchiveKind, result_of
from services.errors import OperationRefused
from services.home import Home
from services.memory import Draft
from services.pinfold import Pinfold
from tests.services.operations.conftest import done
from tests.support.estates import AGENT
from tests.support.sessions import World


@pytest.fixture
def world(revived: Path, tmp_path: Path) -> World:
    root = tmp_path / "home"
    shutil.copytree(revived, root, symlinks=True)
    return World.existing(Home(root))


@pytest.fixture
def archive(world: World) -> str:
    """An archive of the agent, which was restored from it."""
    (path,) = world.home.archives_dir.iterdir()
    return path.name


@pytest.fixture
def twin(world: World) -> Path:
    """The workspace of the agent that is there."""
    return world.home.default_workspace(AGENT)


async def refusal(pinfold: Pinfold, archive: str, **options: Any) -> str:
    plan = await pinfold.operations.plan_restore(archive, **options)
    with pytest.raises(OperationRefused) as raised:
        await done(pinfold, plan)
    return str(raised.value)


async def test_one_file_or_folder(pinfold: Pinfold, archive: str, twin: Path):
    (twin / "src" / "1.txt").unlink()
    await done(pinfold, await pinfold.operations.plan_restore(archive, part="files", path="workspace/src/1.txt"))
    assert (twin / "src" / "1.txt").read_text() == "line 1\n" * 50


async def test_files_that_are_there_are_replaced_only_when_that_is_allowed(pinfold, archive, twin):
    (twin / "src" / "1.txt").write_text("newer")
    told = await refusal(pinfold, archive, part="files", path="workspace/src")
    assert "and 5 more would be replaced" in told
    assert (twin / "src" / "1.txt").read_text() == "newer"
    plan = await pinfold.operations.plan_restore(archive, part="files", path="workspace/src/1.txt", overwrite=True)
    assert any(effect.what == "files that are there" for effect in plan.effects)
    await done(pinfold, plan)
    assert (twin / "src" / "1.txt").read_text() == "line 1\n" * 50


@pytest.mark.parametrize("path", ["workspace/none", "memory.jsonl", "../lead", "workspace/../lead"])
async def test_what_is_not_in_the_workspace_is_refused(pinfold, archive, twin, path):
    assert "is not in the workspace of the archive" in await refusal(pinfold, archive, part="files", path=path)


async def test_memory_of_another_agent(pinfold: Pinfold, archive: str):
    told = await refusal(pinfold, archive, alias="writer", part="memory")
    assert "memories with the same key are there: 1" in told
    plan = await pinfold.operations.plan_restore(archive, alias="writer", part="memory", overwrite=True)
    await done(pinfold, plan)
    memory = pinfold.agent_memories.of("writer")
    row = await memory.get("key 0")
    assert row is not None
    assert row.content == "what was learned, 0"
    await memory.store(Draft(key="after", content="still its own"))


async def test_config_keeps_what_it_replaces(pinfold: Pinfold, world: World, archive: str, twin: Path):
    file = world.home.agent_file(AGENT)
    old = file.read_text()
    file.write_text("# newer\n" + old)
    assert "says something else" in await refusal(pinfold, archive, part="config")
    plan = await pinfold.operations.plan_restore(archive, part="config", overwrite=True)
    assert "-# newer" in plan.rewrites[0].diff
    await done(pinfold, plan)
    assert file.read_text() == old
    (replaced,) = [one for one in await pinfold.archives.list() if one.kind is ArchiveKind.RESTORE]
    opened = await pinfold.archives.open(replaced.id)
    assert (await opened.agent_file()).decode() == "# newer\n" + old
    assert (await result_of(pinfold.archives.verify(replaced.id))).intact


async def test_a_part_needs_an_agent(pinfold: Pinfold, archive: str):
    assert "there is no agent nobody" in await refusal(pinfold, archive, alias="nobody", part="memory")
