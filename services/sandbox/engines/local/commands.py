"""Turn a sandbox's spec into what is executed: its main process, and further commands beside it."""

from __future__ import annotations

import math
import os
import shutil
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from services.errors import EngineError
from services.sandbox.engines.local.bubblewrap import Bubblewrap, confinement
from services.sandbox.engines.local.environment import clean_environment
from services.sandbox.engines.local.folder import SandboxFolder
from services.sandbox.engines.local.marks import SANDBOX, mark
from services.sandbox.engines.local.supervisor import Command, Order, Record
from services.sandbox.model import SandboxSpec

_SHELLS = ("bash", "sh")


@dataclass(frozen=True, slots=True)
class Setting:
    """What all commands of one sandbox have in common.

    Attributes:
        env: Pinfold's own environment.
    """

    spec: SandboxSpec
    folder: SandboxFolder
    bubblewrap: Bubblewrap
    env: Mapping[str, str]

    def order(self, secrets: Mapping[str, str]) -> Order:
        """Say all a supervisor must know to run the main process."""
        limits = self.spec.limits
        return Order(
            command=self._command(self.spec.command, secrets, confined=bool(self.bubblewrap.path)),
            memory=limits.memory,
            pids=limits.pids,
            output_limit=self.spec.output_limit,
            stop_timeout=self.spec.stop_timeout,
        )

    def further(self, command: tuple[str, ...], record: Record, *, terminal: bool) -> Command:
        """Say what to execute beside the main process, confined as that is and with its variables.

        Raises:
            EngineError: The main process is confined and bubblewrap is gone.
        """
        if record.confined and not self.bubblewrap.path:
            raise EngineError(f"cannot join sandbox {self.spec.session}", why=self.bubblewrap.problem)
        secrets = _secrets_of_main(self.spec, record)
        if terminal:
            secrets["TERM"] = self.env.get("TERM") or "xterm-256color"
        return self._command(command or (best_shell(),), secrets, confined=record.confined, terminal=terminal)

    def _command(
        self, argv: tuple[str, ...], secrets: Mapping[str, str], *, confined: bool, terminal: bool = False
    ) -> Command:
        spec, scratch = self.spec, self.folder.scratch
        environment = clean_environment(spec, secrets, self.env, home=scratch.home, confined=confined)
        return Command(
            argv=argv,
            directory=spec.workspace,
            environment={**environment, SANDBOX: mark(spec.home, spec.session)},
            bubblewrap=self.bubblewrap.path if confined else "",
            confinement=confinement(spec, scratch, terminal=terminal) if confined else (),
            cores=cores(spec),
            terminal=terminal,
        )


def best_shell() -> str:
    """The best shell there is, by its name."""
    return next((name for name in _SHELLS if shutil.which(name, path="/usr/bin:/bin")), "sh")


def cores(spec: SandboxSpec) -> tuple[int, ...]:
    """The processors a sandbox may use: its limit in whole ones, each sandbox beginning at another; empty is all."""
    here = sorted(os.sched_getaffinity(0))
    if spec.limits.cpus is None or spec.limits.cpus >= len(here):
        return ()
    wanted = max(1, math.ceil(spec.limits.cpus))
    first = zlib.crc32(spec.session.encode())
    return tuple(sorted(here[(first + n) % len(here)] for n in range(wanted)))


def _secrets_of_main(spec: SandboxSpec, record: Record) -> dict[str, str]:
    """Take the secrets from where alone they still are: the variables the main process was given."""
    if record.main is None or not spec.secrets:
        return {}
    try:
        data = Path(f"/proc/{record.main.pid}/environ").read_bytes()
    except OSError as error:
        raise EngineError(
            f"cannot take over the variables of sandbox {spec.session}", why=error.strerror or str(error)
        ) from error
    pairs = (entry.partition(b"=") for entry in data.split(b"\0"))
    given = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
    return {name: given[name] for name in spec.secrets if name in given}
