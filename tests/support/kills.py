"""Kills renames and deletes with SIGKILL at chosen moments and checks what the next Pinfold makes of it.

`python -m tests.support.kills COUNT SEED` prints what became of so many kills. Everything runs in forked processes: the
one that forks has everything imported and no thread, so that a kill costs a fraction of a second.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from services.archives import ArchiveState, result_of
from services.home import Home
from services.operations import Operation, OperationState, Progress
from services.operations.journal import Journal
from services.pinfold import Pinfold
from tests.support.estates import AGENT, Estate, estate, settle, under
from tests.support.sessions import World

Kind = Literal["rename", "delete"]

TARGET = "critic"
_KINDS: tuple[Kind, ...] = ("rename", "delete")
_PATIENCE = 60.0
_FAULT = 3
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


@dataclass
class Report:
    """What became of kills.

    Attributes:
        outcomes: How many left the old state, the new one, or an operation that a retry completed; and how many of the
            processes were done before they were killed.
        losses: What was lost or doubled, with the kind and the moment.
    """

    kills: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    losses: list[str] = field(default_factory=list)


class Killing:
    """Kills operations on copies of one home.

    Args:
        place: A directory for the copies.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._settled = place / "settled"
        self._number = 0
        self.report = Report()
        self._lengths: dict[Kind, tuple[int, int, tuple[int, int], float]] = {}

    def prepare(self) -> None:
        """Make the home, and carry out each operation once to know how long it is."""
        _forked(lambda: settle(World(Home(self._settled)), files=4))
        for kind in _KINDS:
            self._lengths[kind] = self._length_of(kind)

    def _length_of(self, kind: Kind) -> tuple[int, int, tuple[int, int], float]:
        counts, home = self._place / f"{kind}.counts", self._copy()
        began = time.monotonic()
        _forked(lambda: _count(home, kind, counts))
        seconds = time.monotonic() - began
        shutil.rmtree(home.root)
        steps, writes, calls, before = map(int, counts.read_text().split())
        return steps, writes, (before + 1, calls), seconds

    def steps(self, kind: Kind) -> Iterator[Moment]:
        """Behind every step."""
        return (Moment(step=number) for number in range(1, self._lengths[kind][0] + 1))

    def writes(self, kind: Kind) -> Iterator[Moment]:
        """Behind every write to the journal."""
        return (Moment(write=number) for number in range(1, self._lengths[kind][1] + 1))

    def random_moment(self, kind: Kind, chance: random.Random) -> Moment:
        """Any call to the disk since it was planned, or any time."""
        _, _, (first, last), seconds = self._lengths[kind]
        if chance.random() < 0.75:
            return Moment(call=chance.randint(first, last))
        return Moment(seconds=chance.uniform(seconds / 3, seconds))

    def kill(self, kind: Kind, moment: Moment) -> None:
        """Carry out an operation in a process that dies, and check what is left of it in another."""
        home = self._copy()
        before = estate(home)
        pid = _fork(lambda: _doomed(home, kind, moment))
        died = _wait(pid, moment.seconds)
        outcome = self._place / "outcome"
        outcome.write_text("no word")
        status = _forked(lambda: _check(home, kind, before, outcome), raising=False)
        told = outcome.read_text()
        self.report.kills += 1
        if status:
            self.report.losses.append(f"{kind} {moment}: {told}")
            shutil.copytree(home.root, self._place / f"loss-{len(self.report.losses)}", symlinks=True)
        self.report.outcomes[told if died else f"{told}, and it was done before it was killed"] += 1
        shutil.rmtree(home.root)

    def _copy(self) -> Home:
        self._number += 1
        root = self._place / "home"
        shutil.copytree(self._settled, root, symlinks=True)
        return Home(root)


def _world(home: Home) -> World:
    return World.existing(home)


async def _operation(pinfold: Pinfold, kind: Kind) -> AsyncGenerator[Progress, None]:
    if kind == "rename":
        plan = await pinfold.operations.plan_rename(AGENT, TARGET)
    else:
        plan = await pinfold.operations.plan_delete(AGENT)
    async with aclosing(pinfold.operations.carry_out(plan)) as told:
        async for progress in told:
            yield progress


async def _carried_out(home: Home, kind: Kind) -> None:
    async with _world(home).pinfold(supervise=False) as pinfold:
        async for _ in _operation(pinfold, kind):
            pass


async def _count(home: Home, kind: Kind, counts: Path) -> None:
    passed = [0, 0, 0, 0]

    def pass_by(number: int) -> None:
        passed[number] += 1
        if not passed[1]:
            passed[3] = passed[2]  # what was called before it was journalled

    _watch(home, pass_by)
    await _carried_out(home, kind)
    counts.write_text(" ".join(map(str, passed)))


async def _doomed(home: Home, kind: Kind, moment: Moment) -> None:
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


async def _check(home: Home, kind: Kind, before: Estate, outcome: Path) -> None:
    """Complete what was begun, and raise unless all is as it was or as it was to be."""
    async with _world(home).pinfold(supervise=False) as pinfold:
        unfinished = await pinfold.operations.unfinished()
        told = "nothing was begun" if not await pinfold.operations.all() else "it was done"
        if unfinished:
            (operation,) = unfinished
            assert operation.state is OperationState.INTERRUPTED, operation.state
            told = "retried once committed" if operation.committed else "retried from the start"
            await _completed(pinfold, operation, kind)
        elif told == "nothing was begun":
            assert estate(home) == before, "something changed although nothing was begun"
            outcome.write_text(told)
            return
        assert await pinfold.operations.unfinished() == []
        if kind == "rename":
            assert estate(home) == under(TARGET, before), _difference(estate(home), under(TARGET, before))
        else:
            await _check_deleted(pinfold, home, before)
    outcome.write_text(told)


async def _completed(pinfold: Pinfold, operation: Operation, kind: Kind) -> None:
    """Go on by the same command or by retry, as the operation's id has it."""
    if operation.created_at % 2 and operation.committed:
        async for _ in _operation(pinfold, kind):
            pass
        return
    async for _ in pinfold.operations.retry(operation.id):
        pass


async def _check_deleted(pinfold: Pinfold, home: Home, before: Estate) -> None:
    """Nothing of the agent is left; one archive has all of it, intact; and restoring that gives all of it back."""
    left = estate(home)
    for what in ("memories", "core memory", "sessions", "keys"):
        assert not any(AGENT in map(str, row) for row in left[what] if what != "keys"), (what, left[what])
    assert not any(name.startswith((AGENT, f".{AGENT}")) for name in left["files"]), left["files"].keys()
    (archive,) = await pinfold.archives.list()
    assert archive.state is ArchiveState.SEALED, archive
    assert [path for path in home.archives_dir.iterdir() if path.name.startswith(".")] == []
    assert (await result_of(pinfold.archives.verify(archive.id))).intact
    plan = await pinfold.operations.plan_restore(archive.id, references=["*"])
    async for _ in pinfold.operations.carry_out(plan):
        pass
    after = estate(home)
    for found in (before, after):  # put back, but not to the letter
        del found["files"]["lead/agent.toml"], found["shared"]
    assert after == before, _difference(after, before)
    references = await pinfold.operations.references(AGENT)
    named = sorted((one.owner, one.kind) for one in references if one.file and one.owner != AGENT)
    assert named == [("", "read_memory_from"), ("lead", "access"), ("lead", "delegate"), ("lead", "read_memory_from")]


def _difference(found: Estate, wanted: Estate) -> str:
    told = []
    for key in wanted:
        one, other = (set(_pieces(side[key])) for side in (found, wanted))
        if one != other:
            told.append(f"{key}: too much {sorted(one - other)}, missing {sorted(other - one)}")
    return "; ".join(told)


def _pieces(value: object) -> Iterator[str]:
    match value:
        case dict():
            return (f"{key}: {item!r}" for key, item in value.items())
        case list():
            return map(repr, value)
    return iter([repr(value)])


# --- processes


def _fork(work: Callable[[], Awaitable[None]]) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = _FAULT
    try:
        asyncio.run(work())  # type: ignore[arg-type]
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _forked(work: Callable[[], Awaitable[None]], *, raising: bool = True) -> int:
    """Do something in a process of its own, and return its status."""
    _, status = os.waitpid(_fork(work), 0)
    if raising and status:
        raise RuntimeError("a process failed; its traceback is above")
    return status


def _wait(pid: int, seconds: float) -> bool:
    """Wait for a process to die, and kill it after some seconds; return whether it was killed."""
    deadline = time.monotonic() + (seconds or _PATIENCE)
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.WIFSIGNALED(status)
        if time.monotonic() >= deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return True
        time.sleep(0.0005)


def killed(place: Path, count: int, seed: int) -> Report:
    """Kill behind every write to the journal, then at random moments until there are so many kills.

    Args:
        place: A directory for the homes.
        count: How many kills; few are one behind every step and the rest at random.
        seed: Of the random moments.
    """
    killing = Killing(place)
    killing.prepare()
    chance = random.Random(seed)
    planned = [(kind, moment) for kind in _KINDS for moment in killing.writes(kind)]
    if count < len(planned):
        planned = [(kind, moment) for kind in _KINDS for moment in killing.steps(kind)]
    for kind, moment in planned[:count]:
        killing.kill(kind, moment)
    for number in range(count - len(planned)):
        kind = _KINDS[number % 2]
        killing.kill(kind, killing.random_moment(kind, chance))
    return killing.report


def in_memory() -> str | None:
    """A disk in memory, where there is one: a kill, unlike a power failure, leaves what was written."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def main(count: int, seed: int) -> int:
    """Kill, and print what became of it."""
    with tempfile.TemporaryDirectory(prefix="pinfold-kills-", dir=in_memory()) as place:
        report = killed(Path(place), count, seed)
    print(f"{report.kills} kills, {len(report.losses)} losses")  # noqa: T201
    for outcome, number in report.outcomes.most_common():
        print(f"{number:>6}  {outcome}")  # noqa: T201
    for loss in report.losses:
        print(loss)  # noqa: T201
    return 1 if report.losses else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
