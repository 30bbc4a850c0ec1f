"""Whatever an operator and the agent do, the rows drawn are those a plain list of lines says."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tui.widgets.log_pane.harness import PaneApp, Spool, bodies
from tui.widgets.log_pane import LogPane
from tui.widgets.log_pane.lines import LogLines

SIZE = (40, 9)
ROOM = 37
STEPS = 250


def text_of(number: int) -> str:
    """A line that says its number, of a length of its own."""
    return f"<{number}>" + "語x" * (number * 7919 % 23) + "|"


def parts_of(text: str) -> list[str]:
    """A line wrapped by a plain rule: as many columns as fit, wide characters whole."""
    parts, row, used = [], "", 0
    for character in text:
        size = 2 if character == "語" else 1
        if used + size > ROOM:
            parts.append(row)
            row, used = "", 0
        row, used = row + character, used + size
    return [*parts, row]


def columns(text: str) -> int:
    """How wide a text is."""
    return sum(2 if character == "語" else 1 for character in text)


def cut(text: str) -> str:
    """A line that is too long, cut for the sign that says so; half a wide character leaves a blank."""
    kept = ""
    while columns(kept + text[len(kept)]) < ROOM:
        kept += text[len(kept)]
    return kept.ljust(len(kept) + ROOM - 1 - columns(kept)) + "…"


@pytest.mark.parametrize("seed", range(4))
async def test_drawn_rows_are_those_of_the_model(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    spool = Spool(tmp_path / "output", limit=1_000_000)
    app = PaneApp(spool.reader)
    async with app.run_test(size=SIZE) as pilot:
        pane, lines = app.pane, app.pane.lines
        written = append(spool, pane, 0, 5)
        uses: list[Callable[[], object]] = [
            lambda: lines.scroll_rows(chance.randint(-40, 40)),
            lambda: lines.go_to(chance.randint(lines.viewport.first, lines.viewport.end - 1)),
            pane.action_page_up,
            pane.action_page_down,
            pane.action_top,
            pane.action_bottom,
            pane.action_wrap,
            pane.action_follow,
        ]
        for _ in range(STEPS):
            if chance.random() < 0.6:
                chance.choice(uses)()
            else:
                top, full, before = lines.viewport.top, "" not in bodies(pilot), bodies(pilot)[:-1]
                written = append(spool, pane, written, chance.choice([1, 3, 50, 2_000, 9_000]))
                if not lines.following and top.row >= spool.reader.first:
                    assert lines.viewport.top == top
                    assert not full or bodies(pilot)[:-1] == before
            if lines.following:
                assert lines.viewport.visible()[-1].row == written - 1
            compare(bodies(pilot), lines)
            await asyncio.sleep(0)
    spool.close()


def append(spool: Spool, pane: LogPane, written: int, count: int) -> int:
    """Write lines and let the pane notice at once; returns how many there are now."""
    spool.write("".join(f"{text_of(number)}\n" for number in range(written, written + count)))
    spool.reader.refresh()
    pane.lines.take_in()
    return written + count


def compare(drawn: list[str], lines: LogLines) -> None:
    """The rows drawn, but for one that is under the badge, are what the model says stands there."""
    view, wrap = lines.viewport, lines.view.wrap
    expected: list[str] = []
    row, part = view.top
    while len(expected) < SIZE[1] and row < view.end:
        text = text_of(row)
        expected += parts_of(text)[part:] if wrap else [text if columns(text) <= ROOM else cut(text)]
        row, part = row + 1, 0
    expected = [*expected, *[""] * SIZE[1]][: SIZE[1]]
    shown = slice(0, SIZE[1] - 1 if lines.unseen else SIZE[1])
    assert [text.rstrip() for text in drawn[shown]] == [text.rstrip() for text in expected[shown]]
