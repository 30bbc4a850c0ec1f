"""What this engine refuses to run, and why, before anything is made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from services.errors import EngineError, SessionRefused
from services.sandbox.engines.local.bubblewrap import Bubblewrap
from services.sandbox.model import SandboxSpec


def admit(spec: SandboxSpec, secrets: Mapping[str, str], bubblewrap: Bubblewrap) -> None:
    """Pass a sandbox that can be made as it should be.

    Raises:
        SessionRefused: It would run unconfined and its profile does not allow that.
        EngineError: Something it needs is not here.
    """
    if not spec.command or not spec.command[0]:
        raise EngineError(
            f"{spec.agent} has nothing to run",
            why="the local engine has no images whose own command it could take",
            fix="Name a command in agent.toml.",
        )
    if not bubblewrap.path and not spec.unconfined:
        raise SessionRefused(
            f"{spec.agent} cannot be confined",
            why=bubblewrap.problem,
            fix="Install bubblewrap, or set allow_unconfined = true in the agent's risk profile "
            "to let it run with all your rights.",
        )
    if spec.network == "allowlist" and bubblewrap.path:
        raise EngineError(
            f"{spec.agent} cannot be given a network of allowed names only",
            why="the local engine gives all of this machine's network or none",
            fix='Choose engine = "docker", or network = "none" or "open".',
        )
    _check_words(spec, secrets)
    _check_places(spec, confined=bool(bubblewrap.path))


def _check_words(spec: SandboxSpec, secrets: Mapping[str, str]) -> None:
    missing = [name for name in spec.secrets if name not in secrets]
    if missing:
        raise EngineError(f"{spec.agent} cannot be started", why=f"no value was given for {', '.join(missing)}")
    for name, value in {**spec.environment, **secrets}.items():
        if not name or "=" in name or "\0" in name:
            raise EngineError(f"{spec.agent} cannot be started", why=f"{name!r} cannot be the name of a variable")
        if "\0" in value:
            raise EngineError(f"{spec.agent} cannot be started", why=f"the value of {name} holds a NUL character")
    if any("\0" in word for word in spec.command):
        raise EngineError(f"{spec.agent} cannot be started", why="its command holds a NUL character")


def _check_places(spec: SandboxSpec, *, confined: bool) -> None:
    if not Path(spec.workspace).is_dir():
        raise EngineError(
            f"{spec.agent} cannot be started",
            why=f"its workspace {spec.workspace} is not a directory",
            fix="Make it, or name another workspace in agent.toml.",
        )
    gone = [mount.source for mount in spec.mounts if not os.path.lexists(mount.source)] if confined else []
    if gone:
        raise EngineError(f"{spec.agent} cannot be started", why=f"{', '.join(gone)} to be mounted does not exist")
