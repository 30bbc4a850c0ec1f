"""Specs of sandboxes for the tests: small, quick, and each with a session id of its own."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import msgspec

from services.sandbox.model import Limits, Mount, SandboxSpec


class Sandboxes:
    """Makes specs for one home.

    Args:
        home_id: The home they belong to.
        image: What they run.
        workspace: Made when missing.
    """

    def __init__(self, home_id: str, image: str, workspace: Path) -> None:
        self.home_id = home_id
        self.image = image
        self.workspace = workspace
        self._numbers = itertools.count(1)

    def spec(self, *command: str, **changes: Any) -> SandboxSpec:
        """Describe a sandbox that runs `command`; `changes` replace fields of the spec."""
        workspace = Path(str(changes.get("workspace", self.workspace)))
        if "mounts" not in changes:
            workspace.mkdir(parents=True, exist_ok=True)
        plain = SandboxSpec(
            session=f"session-{next(self._numbers)}",
            home=self.home_id,
            agent="reviewer",
            lifecycle="session",
            image=self.image,
            command=command,
            environment={},
            secrets=(),
            workspace=str(workspace),
            mounts=(Mount(str(workspace), "/workspace", writable=True),),
            limits=Limits(memory=64 * 1024 * 1024, cpus=1.0, pids=64),
            network="none",
            unconfined=False,
            stop_timeout=2.0,
            output_limit=64 * 1024 * 1024,
        )
        return msgspec.structs.replace(plain, **changes)

    def script(self, text: str, **changes: Any) -> SandboxSpec:
        """Describe a sandbox that runs a shell script."""
        return self.spec("sh", "-c", text, **changes)
