"""Keys on all four screens while the same process deletes an agent of thousands of files and memories.

The real program runs on a real terminal. Measured is from a key to the row painted that the cursor went to, and from
the key of a screen to its row under the cursor; the baseline is the same keys before anything is deleted.
"""

from __future__ import annotations

import asyncio
import re
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.operations import AGENT, fill
from benchmarks.result import Result
from services.home import Home
from tests.support.sessions import World, ran
from tests.support.terminal import Terminal
from themes import DEFAULT_THEME, FOLDER, read_theme

MEGABYTES = 200
ROUNDS = 5
"""How often each screen is visited before the delete; during it, as often as it lasts."""

MOST = 100.0
"""Milliseconds that 99 of 100 keys may take."""

_STEPS = 4
_OTHERS = 12
_GONE = 6
_KEY_PAUSE = 0.02
_PROGRAM = (sys.executable, "-c", "from tui.cli import main; main()", "--home")


@dataclass(frozen=True)
class Place:
    """A screen, and rows its cursor goes over.

    Attributes:
        key: Shows the screen.
        heading: Is on that screen only.
        start: Keys that put the cursor on the first row.
        rows: A text of each, one after the other.
        forth: The key to the next row.
        back: The key to the row before.
    """

    name: str
    key: str
    heading: str
    start: tuple[str, ...]
    rows: tuple[str, ...]
    forth: str
    back: str


def _others() -> list[str]:
    """Agents that stay; they stand above the one that is deleted."""
    return [f"a{number:02}" for number in range(_OTHERS)]


def _gone() -> list[str]:
    """Agents that were deleted before."""
    return [f"gone{number}" for number in range(_GONE)]


def places() -> tuple[Place, ...]:
    """The four screens; their rows keep their places whatever comes and goes meanwhile."""
    others = tuple(_others()[: _STEPS + 1])
    return (
        Place("agents", "1", "ALIAS", ("g",), others, "j", "k"),
        Place("memory", "2", "PLACE", ("g", *"jjjjj"), others, "j", "k"),
        Place("sandboxes", "3", "LIFECYCLE", ("G",), others, "k", "j"),
        Place("archives", "4", "VERIFIED", ("G",), tuple(_gone()[: _STEPS + 1]), "k", "j"),
    )


class Presser:
    """Presses keys and waits for what each brings to the screen.

    Args:
        terminal: The program runs there.
    """

    def __init__(self, terminal: Terminal) -> None:
        red, green, blue = bytes.fromhex(read_theme(FOLDER / f"{DEFAULT_THEME}.toml").colors["cursor"].lstrip("#"))
        self._cursor = f"48;2;{red};{green};{blue}m"
        self._terminal = terminal

    def visit(self, place: Place, times: Times) -> None:
        """Show a screen, go over its rows, and back."""
        times.add_screen(place.name, self.press(place.key, place.rows[0]))
        rows = [*place.rows[1:], *reversed(place.rows[:-1])]
        keys = [place.forth] * _STEPS + [place.back] * _STEPS
        for key, row in zip(keys, rows, strict=True):
            times.add_row(place.name, self.press(key, row))

    def begin(self, place: Place) -> None:
        """Show a screen for the first time, with the cursor on the first row."""
        self._terminal.press(place.key)
        self._terminal.wait_for(place.heading)
        self._terminal.wait_for(place.rows[0])
        self._terminal.press(*place.start)
        self._terminal.wait_until(lambda: self._is_on(place.rows[0]), f"the cursor on {place.rows[0]}")

    def _is_on(self, row: str) -> bool:
        """Whether the cursor is on a row."""
        return any(f"▶ {row}" in line or f"▶   ▶ {row}" in line for line in self._terminal.lines())

    def press(self, key: str, row: str) -> float:
        """Press a key and wait until the cursor is painted on a row; milliseconds."""
        painted = re.compile(rf"{self._cursor}(?:[^\x1b]*\W)?{row}\b".encode())
        seen, pressed = self._terminal.written, time.perf_counter()
        self._terminal.press(key)
        self._terminal.wait_until(lambda: bool(painted.search(self._terminal.since(seen))), f"the cursor on {row}")
        took = (time.perf_counter() - pressed) * 1000
        time.sleep(_KEY_PAUSE)
        return took


class Times:
    """Milliseconds from key to screen.

    Attributes:
        rows: Of keys that go to another row.
        screens: Of keys that show another screen.
    """

    def __init__(self) -> None:
        self.rows: list[float] = []
        self.screens: list[float] = []
        self._by_place: defaultdict[str, list[float]] = defaultdict(list)

    def add_row(self, place: str, took: float) -> None:
        """Take in a key that went to another row."""
        self.rows.append(took)
        self._by_place[f"{place}, rows"].append(took)

    def add_screen(self, place: str, took: float) -> None:
        """Take in a key that showed another screen."""
        self.screens.append(took)
        self._by_place[f"{place}, shown"].append(took)

    def print(self, when: str) -> None:
        """Say what each screen did, for people."""
        for place, times in sorted(self._by_place.items()):
            print(
                f"{when}, {place}: {len(times)} keys, median {statistics.median(times):.0f}, most {max(times):.0f} ms"
            )


async def furnish(world: World, megabytes: int) -> None:
    """Make the agent that is deleted, and rows for every screen."""
    await fill(world, megabytes)
    for alias in (*_others(), *_gone()):
        world.agent(alias, "true")
    async with world.pinfold() as pinfold:
        for alias in _others():
            await ran(pinfold, alias)
        for alias in _gone():
            async for _ in pinfold.operations.carry_out(await pinfold.operations.plan_delete(alias)):
                pass


def measure(home: Home) -> list[Result]:
    """Press the keys before and during the delete."""
    quiet, busy = Times(), Times()
    with Terminal([*_PROGRAM, str(home.root)], columns=160, rows=45) as terminal:
        presser = Presser(terminal)
        terminal.wait_for(_others()[0])
        for place in places():
            presser.begin(place)
        for _ in range(ROUNDS):
            for place in places():
                presser.visit(place, quiet)
        _begin_delete(terminal)
        while not any(home.archives_dir.glob(f"{AGENT}-*")):
            for place in places():
                presser.visit(place, busy)
    quiet.print("before")
    busy.print("during the delete")
    return [*_rows("row", busy.rows, quiet.rows), *_rows("screen", busy.screens, quiet.screens)]


def _begin_delete(terminal: Terminal) -> None:
    """Delete the agent as an operator does, and hide how far it is."""
    terminal.press("1", "G", "D")
    terminal.wait_for("Point of no return")
    terminal.press("right")
    terminal.wait_until_quiet()
    terminal.press("enter")
    terminal.wait_for("It can be stopped")
    terminal.press("escape")
    terminal.wait_until(lambda: "It can be stopped" not in terminal.text(), "the dialog hidden")
    terminal.press("g")


def _rows(what: str, busy: Sequence[float], quiet: Sequence[float]) -> list[Result]:
    p99 = _percentile(busy, 99)
    return [
        Result(f"delete-{what}-key-p50", _percentile(busy, 50), "ms", _percentile(quiet, 50)),
        Result(f"delete-{what}-key-p99", p99, "ms", _percentile(quiet, 99), f"<{MOST:g}ms", p99 < MOST),
        Result(f"delete-{what}-key-max", max(busy), "ms", max(quiet)),
    ]


def _percentile(times: Sequence[float], percent: int) -> float:
    return statistics.quantiles(times, n=100, method="inclusive")[percent - 1]


def main() -> int:
    """Print one row a figure."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else MEGABYTES
    with tempfile.TemporaryDirectory(prefix="pinfold-keys-") as place:
        world = World(Home(Path(place) / "home"))
        asyncio.run(furnish(world, megabytes))
        for result in measure(world.home):
            print(result.line())
    return 0


if __name__ == "__main__":
    sys.exit(main())
