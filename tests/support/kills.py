"""Kills renames and deletes with SIGKILL at chosen moments and checks what the next Pinfold makes of it.

`python -m tests.support.kills COUNT SEED` prints what became of so many kills. Everything runs in forked processes: the
one that forks has everything imported and no thread, so that a kill costs a fraction of a second.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from services.home import Home
from tests.support.after_kills import check
from tests.support.doomed_operations import Kind, Moment, count, doomed
from tests.support.estates import estate, settle
from tests.support.forks import fork, forked, wait
from tests.support.sessions import World

_KINDS: tuple[Kind, ...] = ("rename", "delete")


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
        forked(lambda: settle(World(Home(self._settled)), files=4))
        for kind in _KINDS:
            self._lengths[kind] = self._length_of(kind)

    def _length_of(self, kind: Kind) -> tuple[int, int, tuple[int, int], float]:
        counts, home = self._place / f"{kind}.counts", self._copy()
        began = time.monotonic()
        forked(lambda: count(home, kind, counts))
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
        pid = fork(lambda: doomed(home, kind, moment))
        died = wait(pid, moment.seconds)
        outcome = self._place / "outcome"
        outcome.write_text("no word")
        status = forked(lambda: check(home, kind, before, outcome), raising=False)
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
