"""Which prepare steps with `once` were done: `state/prepared/<alias>/<workspace>/<step>`, an empty file for each.

They lie outside the workspace, where the agent cannot forge or lose them. A workspace is known by its device and inode,
since one made anew under its old path is another one; a step by its command and image.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import msgspec

from services.agents import PrepareStep
from services.home import Home, make_directory
from services.sandbox.model import SandboxSpec


class OnceMarkers:
    """The markers of one home; all of it blocks.

    Args:
        home: Where they lie.
    """

    def __init__(self, home: Home) -> None:
        self._top = home.state_dir / "prepared"

    def done(self, step: PrepareStep, spec: SandboxSpec) -> bool:
        """Whether a step need not run again."""
        return step.once and (self._place(spec.agent, Path(spec.workspace)) / _name(step, spec)).exists()

    def remember(self, step: PrepareStep, spec: SandboxSpec) -> None:
        """Note that a step has succeeded."""
        if step.once:
            self.restore(spec.agent, Path(spec.workspace), (_name(step, spec),))

    def of(self, alias: str, workspace: Path) -> tuple[str, ...]:
        """The names of the markers of an agent's workspace as it is now; none when it is missing."""
        try:
            return tuple(sorted(marker.name for marker in self._place(alias, workspace).iterdir()))
        except FileNotFoundError:
            return ()

    def restore(self, alias: str, workspace: Path, names: tuple[str, ...]) -> None:
        """Mark steps as done in a workspace that has what they left."""
        for name in names:
            place = self._place(alias, workspace)
            make_directory(place)
            (place / name).touch(mode=0o600)

    def settle(self, alias: str, workspace: Path, new: str) -> None:
        """Before an agent is renamed: leave only what is true of its workspace, and nothing under the new alias."""
        self.forget(new)
        for found in self._top.glob(f"{alias}/*") if workspace.is_dir() else ():
            if found != self._place(alias, workspace):
                shutil.rmtree(found)

    def rename(self, alias: str, new: str, workspace: Path) -> None:
        """After `settle`: give all to the new alias, and to its workspace, which may have been copied to its place.

        Done again, it changes nothing.
        """
        if (self._top / alias).is_dir():
            (self._top / alias).rename(self._top / new)
        for found in self._top.glob(f"{new}/*") if workspace.is_dir() else ():
            if found != self._place(new, workspace):
                found.rename(self._place(new, workspace))

    def forget(self, alias: str) -> None:
        """Remove all markers of an agent, if it has any."""
        if (self._top / alias).is_dir():
            shutil.rmtree(self._top / alias)

    def _place(self, alias: str, workspace: Path) -> Path:
        found = workspace.stat()
        return self._top / alias / f"{found.st_dev}-{found.st_ino}"


def _name(step: PrepareStep, spec: SandboxSpec) -> str:
    return hashlib.sha256(msgspec.json.encode((spec.image, step.cmd))).hexdigest()
