"""Renames and deletes that count what they pass by, and die where they are told to."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from services.home import Home
from services.operations import Progress
from services.operations.journal import Journal
from services.pinfold import Pinfold
from tests.support.estates import AGENT
from tests.support.sessions import World

Kind = Literal["rename", "delete"]

TARGET = "critic"
_DISK_EVENTS = ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.symlink", "os.chmod", "os.scandir")


@dataclass(frozen=True)
class Moment:
    """When a process dies.

    Attributes:
        step: Behind the end of so many steps. 0 is never.
        write: Behind so many writes to the journal: when it began, each step begins, finds something, ends. 0 is never.
        call: Before so many calls to the disk. 0 is never.
        seconds: After so many seconds. 0 is never.
    """

    step: int = 0
    write: int = 0
    call: int = 0
    seconds: float = 0.0


async def carrying_out(pinfold: Pinfold, kind: Kind) -> AsyncGenerator[Progress, None]:
    """Plan an operation and carry it out."""
    if kind == "rename":
        plan = await pinfold.operations.plan_rename(AGENT, TARGET)
    else:
        plan = await pinfold.operations.plan_delete(AGENT)
    async with aclosing(pinfold.operations.carry_out(plan)) as told:
        async for progress in told:
            yield progress


async def _carried_out(home: Home, kind: Kind) -> None:
    async with World.existing(home).pinfold(supervise=False) as pinfold:
        async for _ in carrying_out(pinfold, kind):
            pass


async def count(home: Home, kind: Kind, counts: Path) -> None:
    """Carry out an operation, and write down how many steps, writes and calls it has, and calls before it began."""
    passed = [0, 0, 0, 0]

    def pass_by(number: int) -> None:
        passed[number] += 1
        if not passed[1]:
            passed[3] = passed[2]  # what was called before it was journalled

    _watch(home, pass_by)
    await _carried_out(home, kind)
    counts.write_text(" ".join(map(str, passed)))


async def doomed(home: Home, kind: Kind, moment: Moment) -> None:
    """Carry out an operation until the moment has come."""
    left = [moment.step, moment.write, moment.call]

    def pass_by(number: int) -> None:
        left[number] -= 1
        if left[number] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    _watch(home, pass_by)
    await _carried_out(home, kind)


def _watch(home: Home, pass_by: Callable[[int], None]) -> None:
    """Call behind each step (0) and write to the journal (1), and before each call to the disk (2)."""
    write, end_step = Journal._write, Journal.end_step

    async def written(self: Journal, *args: Any, **kwargs: Any) -> None:
        await write(self, *args, **kwargs)
        pass_by(1)

    async def ended(self: Journal, *args: Any) -> None:
        await end_step(self, *args)
        pass_by(0)

    Journal._write = written  # type: ignore[method-assign]
    Journal.end_step = ended  # type: ignore[method-assign, assignment]
    _before_each_call(home, lambda: pass_by(2))


def _before_each_call(home: Home, call: Callable[[], None]) -> None:
    """Call before each call to the disk that is about this home; a hook cannot be taken away, so only in a fork."""
    top = str(home.root)

    def hook(event: str, args: tuple[object, ...]) -> None:
        if event in _DISK_EVENTS and any(str(arg).startswith(top) for arg in args[:2]):
            call()

    sys.addaudithook(hook)
