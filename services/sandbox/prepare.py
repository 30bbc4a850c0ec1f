"""An agent's prepare steps: run inside the session's own sandbox, before its main process.

A sandbox with prepare steps starts with its main process held back behind a gate: `sh` waits for a file in the
directory that Pinfold shares read-only with the sandbox, and then becomes the command. The steps run meanwhile, so what
they leave in the sandbox's temporary files is there for the command too, and a step that fails ends the session before
the command did anything. A Pinfold that dies in between leaves the gate shut.
"""

from __future__ import annotations

from collections.abc import Sequence

from services.agents import PrepareStep
from services.errors import SessionError
from services.sandbox.engines.engine import Engine
from services.sandbox.model import Mount
from services.sandbox.session_files import SessionFiles

SHARED = "/run/pinfold"
"""Where a confined sandbox finds the directory Pinfold shares with it."""

_GATE = "go"
_WAIT_FOR_GATE = 'while [ ! -e "$1" ]; do sleep 0.1 2>/dev/null || sleep 1; done; shift; exec "$@"'
_TOLD_OF_OUTPUT = 500


def shared_mount(files: SessionFiles) -> Mount:
    """The mount that shows a session's shared directory inside its sandbox."""
    return Mount(str(files.shared), SHARED, writable=False)


def held_back(command: Sequence[str], files: SessionFiles, *, confined: bool) -> tuple[str, ...]:
    """Put a command behind the session's gate.

    Args:
        command: argv, not empty.
        files: The session's files; `shared` must be mounted when confined.
        confined: Whether the sandbox sees mounts at their targets instead of this machine's paths.
    """
    gate = f"{SHARED}/{_GATE}" if confined else str(files.shared / _GATE)
    return ("/bin/sh", "-c", _WAIT_FOR_GATE, "pinfold-gate", gate, *command)


def make_shared(files: SessionFiles) -> None:
    """Make the shared directory, readable by whatever user the sandbox runs as."""
    files.shared.mkdir(exist_ok=True)
    files.shared.chmod(0o755)


def open_gate(files: SessionFiles) -> None:
    """Let the main process go."""
    (files.shared / _GATE).touch(mode=0o644)


async def run_step(engine: Engine, sandbox: str, step: PrepareStep) -> str:
    """Run one step and return "", or what went wrong when the step's errors are to be ignored.

    Raises:
        SessionError: It failed; quotes the end of what it printed.
        EngineError: The engine could not run it.
    """
    status, output = await engine.run(sandbox, tuple(step.cmd))
    if status == 0:
        return ""
    told = output[-_TOLD_OF_OUTPUT:].decode("utf-8", "replace").strip()
    reason = f"status {status}: {told}" if told else f"status {status}"
    if step.ignore_error:
        return reason
    raise SessionError(f"prepare step {step_name(step)} failed", why=reason)


def step_name(step: PrepareStep) -> str:
    """The step's command as one line for people."""
    return " ".join(step.cmd)
