"""The sandboxes of a home as they lie on disk. Everything here blocks."""

from __future__ import annotations

import os

from services.errors import EngineError, SandboxGone
from services.home import Home
from services.sandbox.engines.engine import SandboxState
from services.sandbox.engines.local.folder import SandboxFolder
from services.sandbox.engines.local.marks import mark
from services.sandbox.engines.local.removal import remove_sandbox
from services.sandbox.engines.local.settling import settled
from services.sandbox.engines.local.supervisor import Record, is_alive
from services.sandbox.model import SandboxSpec

_NEVER_STARTED = "the Pinfold that created it ended before it was started"


class KeptSandboxes:
    """Reads and removes what earlier calls, of any Pinfold on this home, left.

    Args:
        home: Where they lie.
        home_id: Sandboxes of another home that lie here all the same do not exist.
    """

    def __init__(self, home: Home, home_id: str) -> None:
        self._home = home
        self._home_id = home_id

    def read(self, sandbox: str) -> tuple[SandboxSpec, Record | None]:
        """Read a sandbox's spec, and its record if its supervisor ever came up.

        Raises:
            SandboxGone: There is none.
            EngineError: A file is damaged.
        """
        folder = SandboxFolder.of(self._home, sandbox)
        return folder.spec(self._home_id), folder.record()

    def is_taken(self, sandbox: str) -> bool:
        """Whether a sandbox of this id was started, or can still be."""
        try:
            _, record = self.read(sandbox)
        except SandboxGone:
            return False
        return record is not None and (record.status != "created" or is_alive(record.supervisor))

    def state(self, sandbox: str) -> SandboxState:
        """Say what became of a sandbox, and put right first what a dead supervisor left.

        Raises:
            SandboxGone: There is none.
            EngineError: A file is damaged.
        """
        spec, record = self.read(sandbox)
        if record is None:
            return SandboxState(spec.session, spec.session, spec.agent, "created", error=_NEVER_STARTED)
        record = settled(SandboxFolder.of(self._home, sandbox), spec, record)
        forgotten = record.status == "created" and not is_alive(record.supervisor)
        return SandboxState(
            id=spec.session,
            session=spec.session,
            agent=spec.agent,
            status=record.status,
            exit_code=record.exit_code,
            out_of_memory=record.out_of_memory,
            error=_NEVER_STARTED if forgotten else record.error,
            started_at=record.started_at,
            ended_at=record.ended_at,
        )

    def states(self) -> list[SandboxState]:
        """Say what became of all; one with damaged files is shown as ended, so that it can be seen and removed."""
        try:
            names = sorted(os.listdir(self._home.sessions_dir))  # noqa: PTH208 - names only
        except FileNotFoundError:
            return []
        found: list[SandboxState] = []
        for name in names:
            try:
                found.append(self.state(name))
            except SandboxGone:
                continue  # the session of another engine, or of another home
            except EngineError as error:
                found.append(SandboxState(name, name, "", "exited", error=str(error)))
        return found

    def remove(self, sandbox: str) -> None:
        """End what still runs and remove all but the output; does nothing when it is gone.

        Raises:
            EngineError: Something cannot be ended or removed.
        """
        folder = SandboxFolder.of(self._home, sandbox)
        try:
            folder.spec(self._home_id)
            record = folder.record()
        except SandboxGone:
            return
        except EngineError:  # damaged files are no reason to keep what they once described
            record = None
        remove_sandbox(folder, mark(self._home_id, sandbox), record)
