"""What every runner can do, and the list of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, get_args

import msgspec

from services.agents import Runner as RunnerName
from services.errors import SessionRefused
from services.sandbox.runners.command import CommandRunner
from services.sandbox.runners.program import Program


class RunnerStatus(msgspec.Struct, frozen=True):
    """Whether a runner can be chosen; `reason` says why not."""

    name: str
    usable: bool
    reason: str = ""


class Runner(Protocol):
    """Turns what an operator asks for into the main process of a sandbox."""

    def program(self, command: tuple[str, ...], prompt: str) -> Program:
        """Say what to run.

        Args:
            command: argv from the request or the agent; empty when neither names one.
            prompt: What the operator wants done; may be empty.
        """
        ...


_RUNNERS: Mapping[str, Runner] = {"command": CommandRunner()}
_NOT_YET = "this version of Pinfold cannot run it"


def runners() -> tuple[RunnerStatus, ...]:
    """All runners, in the order agent.toml documents them."""
    return tuple(
        RunnerStatus(name, usable=name in _RUNNERS, reason="" if name in _RUNNERS else _NOT_YET)
        for name in get_args(RunnerName)
    )


def runner(name: str) -> Runner:
    """Hand out a runner.

    Raises:
        SessionRefused: It is unknown or cannot run here.
    """
    found = _RUNNERS.get(name)
    if found is not None:
        return found
    usable = ", ".join(status.name for status in runners() if status.usable)
    known = any(status.name == name for status in runners())
    raise SessionRefused(
        f"the runner {name} is not available" if known else f"there is no runner {name!r}",
        why=_NOT_YET if known else "",
        fix=f"Choose one of: {usable}.",
    )
