"""Whenever the writer of an archive is killed, another one goes on, and what comes of it is whole."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from services.archives import Archives, ArchiveState, result_of
from services.home import Home
from tests.services.archives.killing import alias_of
from tests.services.archives.workspaces import described
from tests.services.home.processes import ROOT

ROUNDS = 6


async def test_killed_writers_are_gone_on_with(archives: Archives, home: Home, workspace: Path, tmp_path: Path) -> None:
    (workspace / "large").write_bytes(b"0123456789abcdef" * 300_000)
    command = [sys.executable, "-W", "error", "-m", "tests.services.archives.killing", str(ROUNDS)]
    await asyncio.to_thread(
        subprocess.run, [*command, str(home.root), str(workspace)], cwd=ROOT, check=True, timeout=120
    )
    found = await archives.list()
    assert sorted(archive.alias for archive in found) == sorted(alias_of(number) for number in range(ROUNDS))
    assert {archive.state for archive in found} == {ArchiveState.SEALED}
    assert {entry.name for entry in home.archives_dir.iterdir()} == {archive.id for archive in found}
    for archive in found:
        assert (await result_of(archives.verify(archive.id))).findings == ()
        opened = await archives.open(archive.id)
        assert sum([len(page) async for page in opened.memory()]) == 700
    await result_of(opened.extract(tmp_path / "back"))
    assert described(tmp_path / "back") == described(workspace)
