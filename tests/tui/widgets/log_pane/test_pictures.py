"""Pictures of the pane at work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from services.output import Stream
from tests.tui.widgets.log_pane.harness import NOW, PaneApp, Spool, bodies, until

SECOND = 1_000_000_000
Play = Callable[[Pilot[None]], Awaitable[None]]


def write_session(spool: Spool) -> None:
    """What an agent prints that runs tests, with all that a pane can show."""
    lines: list[tuple[str, Stream]] = [
        ("\x1b[1mpytest\x1b[0m 8.4.2, 214 tests in \x1b[36mtests/\x1b[0m", Stream.STDOUT),
        ("tests/test_parser.py \x1b[32m......................\x1b[0m", Stream.STDOUT),
        ("tests/test_total.py \x1b[32m....\x1b[31mF\x1b[32m......\x1b[0m", Stream.STDOUT),
        ("DeprecationWarning: parse() will go in 3.0", Stream.STDERR),
        ("\x1b[31mFAILED\x1b[0m tests/test_total.py::test_total - AssertionError: 41 != 42", Stream.STDOUT),
        ("DEBUG cache hit for tests/data/invoices.json", Stream.STDERR),
        ("error: could not write coverage.xml: permission denied", Stream.STDERR),
        ("\x1b[30mblack on the pane's dark\x1b[0m \x1b[97mand white on its light\x1b[0m can be read", Stream.STDOUT),
        ("日本語 wide, 👩\u200d💻 joined, 🇯🇵 flag, ⚠\ufe0f sign |all columns in place", Stream.STDOUT),
        ("a line that is longer than the pane is wide: " + "0123456789" * 12, Stream.STDOUT),
        ("progress  10%\rprogress  55%\rprogress 100%", Stream.STDOUT),
        ("\x1b]0;title\x07\x1b[2J\x1b]52;c;UEVFUlM=\x07hostile, and harmless", Stream.STDOUT),
    ]
    for number in range(20):
        spool.write(f"collecting tests/test_{number:02}.py\n", at=NOW + number * SECOND)
    for offset, (text, stream) in enumerate(lines):
        spool.write(f"{text}\n", stream, at=NOW + (20 + offset) * SECOND)
    spool.at = NOW + 40 * SECOND
    spool.writer.note("1,204 lines (98,310 bytes) lost: disk full")
    spool.write("\x1b[31mFAILED\x1b[0m tests/test_rates.py::test_round - rounding\n", at=NOW + 41 * SECOND)
    spool.write("\x1b[1;31m2 failed\x1b[0m, \x1b[32m212 passed\x1b[0m in 18.4 s\n", at=NOW + 42 * SECOND)


async def search(pilot: Pilot[None]) -> None:
    """Look at a hit while more output comes."""
    app = pilot.app
    assert isinstance(app, PaneApp)
    await until(pilot, lambda: "212 passed" in "".join(bodies(pilot)))
    await pilot.press("t", "slash", *"failed", "enter")
    await until(pilot, lambda: "3 of 3" in app.pane.info.text)
    await pilot.press("N", "N")
    await until(pilot, lambda: "1 of 3" in app.pane.info.text)


async def filter_lines(pilot: Pilot[None]) -> None:
    """Ask for the errors of one stream."""
    app = pilot.app
    assert isinstance(app, PaneApp)
    await until(pilot, lambda: "212 passed" in "".join(bodies(pilot)))
    await pilot.press("w", "ampersand", "tab", "tab", "right", "right")
    await until(pilot, lambda: "3 of 35 lines" in app.pane.info.text)


@pytest.mark.parametrize(
    ("theme", "play", "size"),
    [
        pytest.param("pinfold-dark", search, (100, 20), id="search-dark"),
        pytest.param("pinfold-light", search, (100, 20), id="search-light"),
        pytest.param("terminal", search, (100, 20), id="search-terminal"),
        pytest.param("pinfold-dark", filter_lines, (80, 24), id="filter-dark"),
    ],
)
def test_pane(snap_compare, spool: Spool, theme: str, play: Play, size: tuple[int, int]) -> None:
    write_session(spool)

    async def run(pilot: Pilot[None]) -> None:
        await play(pilot)
        spool.write_lines(0, 1_234)
        app = pilot.app
        assert isinstance(app, PaneApp)
        if not app.pane.lines.following:
            await until(pilot, lambda: app.pane.lines.unseen == 1_234)

    assert snap_compare(PaneApp(spool.reader, theme), terminal_size=size, run_before=run)
