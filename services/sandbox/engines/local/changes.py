"""Notice when a sandbox's record changes or its supervisor dies, whoever caused it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from services.home import MISSING, Stamp
from services.sandbox.engines.local.supervisor import RECORD_FILE, Process, RecordDamaged, is_alive, read_record

_YOUNG_SECONDS = 600.0


class ChangeWatch:
    """Compares what lies on disk with what lay there the last time.

    The directory of sessions is listed only when it changed, and sessions that ended are not looked at again, so that
    a look costs some microseconds for each sandbox that runs and nothing for the others.

    Args:
        sessions: The directory of all sessions.
    """

    def __init__(self, sessions: Path) -> None:
        self._sessions = sessions
        self._listed = MISSING
        self._names: set[str] = set()
        self._stamps: dict[str, Stamp] = {}
        self._supervisors: dict[str, Process] = {}

    def look(self) -> bool:
        """Whether anything changed since the last look."""
        changed = self._list_if_needed()
        for name, seen in list(self._stamps.items()):
            changed |= self._look_at(name, seen)
        return changed

    def _list_if_needed(self) -> bool:
        stamp = Stamp.of(self._sessions)
        if stamp == self._listed:
            return False
        self._listed = stamp
        names = set() if stamp == MISSING else set(os.listdir(self._sessions))  # noqa: PTH208
        gone, new = self._names - names, names - self._names
        self._names = names
        for name in gone:
            self._forget(name)
        self._stamps.update(dict.fromkeys(new, MISSING))
        return bool(gone)

    def _look_at(self, name: str, seen: Stamp) -> bool:
        stamp = Stamp.of(self._sessions / name / RECORD_FILE)
        if stamp == seen:
            return self._died(name) if stamp != MISSING else self._pass_over_if_old(name)
        self._stamps[name] = stamp
        try:
            record = read_record(self._sessions / name)
        except (RecordDamaged, OSError):
            return True  # whoever inspects it is told why
        if record is None or record.status == "exited":
            self._forget(name)
        else:
            self._supervisors[name] = record.supervisor
        return True

    def _died(self, name: str) -> bool:
        supervisor = self._supervisors.get(name)
        if supervisor is None or is_alive(supervisor):
            return False
        self._forget(name)
        return True

    def _pass_over_if_old(self, name: str) -> bool:
        """Stop looking for a record where none came in time: another engine's session, or a sandbox long removed."""
        if time.time_ns() - Stamp.of(self._sessions / name).modified_ns > _YOUNG_SECONDS * 1e9:
            self._forget(name)
        return False

    def _forget(self, name: str) -> None:
        self._stamps.pop(name, None)
        self._supervisors.pop(name, None)
