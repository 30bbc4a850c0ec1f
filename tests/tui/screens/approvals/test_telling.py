"""What waits is told wherever the operator looks: in the bar, on the session's row, in a toast."""

from __future__ import annotations

import asyncio
import sys
import time

from textual.widgets._toast import Toast

from tests.conftest import ROOT
from tests.tui.conftest import shown
from tests.tui.screens.approvals.conftest import Counter
from tui.screens.approvals import ApprovalsDialog

ASK = """
import asyncio, sys
from pathlib import Path
from services.home import Home
from services.pinfold import Pinfold

async def ask(root, session):
    async with Pinfold.open(Home(Path(root)), supervise=False, engines={}) as pinfold:
        asking = dict(summary="key=a", reason="no list approves it", seconds=60)
        print((await pinfold.approvals.ask(session, "worker", "memory_forget", **asking)).answer.value)

asyncio.run(ask(*sys.argv[1:]))
"""
HOSTILE = "\x1b]0;owned\x07\x1b[31m[red]r\u202em\n-rf[/] [@click=app.quit]x[/] \U0001f1e9\U0001f1ea"


async def test_what_another_process_asks_shows_in_the_bar_and_on_its_session(counter: Counter) -> None:
    await counter.pilot.press("3")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ASK, str(counter.app.home.root), counter.session, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    await counter.until_shown("1 waiting ⚑", "⚑ waiting", "asks: memory_forget", "memory_forget key=a, ")
    await counter.open()
    await counter.pilot.press("y")
    out, _ = await process.communicate()
    assert out == b"allowed\n"
    await counter.until_shown("● running")
    assert "waiting" not in shown(counter.app)


async def test_what_is_asked_and_withdrawn_elsewhere_is_known_soon(counter: Counter) -> None:
    async with counter.world.pinfold(supervise=False) as other:
        asking = asyncio.ensure_future(
            other.approvals.ask(counter.session, "worker", "shell", summary="", reason="", seconds=60)
        )
        while not await other.approvals.waiting():
            await asyncio.sleep(0.01)
        began = time.monotonic()
        await counter.until(lambda: counter.app.store.approvals)
        came = time.monotonic() - began
        asking.cancel()
        await asyncio.wait({asking})
        began = time.monotonic()
        await counter.until(lambda: not counter.app.store.approvals)
        assert max(came, time.monotonic() - began) < 5.0, "polling every 0.25 s; generous for a busy machine"


async def test_nothing_is_offered_while_nothing_waits(counter: Counter) -> None:
    await counter.pilot.press("A")
    assert not isinstance(counter.app.screen, ApprovalsDialog)
    assert "A answer" not in shown(counter.app)
    await counter.ask()
    await counter.until_shown("A answer")
    await counter.pilot.resize_terminal(50, 12)
    await counter.until_shown("1 waiting ⚑")
    await counter.pilot.resize_terminal(160, 45)


async def test_it_opens_over_every_screen_and_everything_fits(counter: Counter) -> None:
    await counter.ask(summary="content=" + "word " * 60, rule="always_ask shell: asked every time, agent.toml:12")
    for screen, size in (("1", (80, 24)), ("2", (160, 45)), ("3", (80, 24)), ("4", (160, 45))):
        await counter.pilot.resize_terminal(*size)
        await counter.pilot.press(screen)
        await counter.until_shown("1 waiting ⚑")
        await counter.open()
        await counter.until_shown(
            "worker", counter.session, "asked every time, agent.toml:12", "word word", "Allow once"
        )
        await counter.pilot.press("r")
        await counter.until_shown("Reason", "Refuse  r", "Next  n")
        await counter.pilot.press("escape", "escape")
        await counter.until_closed()


async def test_the_dialog_begins_with_the_oldest_or_the_one_that_was_told_of(counter: Counter) -> None:
    await counter.ask("first")
    await counter.ask("second")
    await counter.open()
    assert counter.under_cursor == "first"
    await counter.pilot.press("escape")
    await counter.until_closed()
    counter.app.action_approvals(max(counter.asking))
    await counter.until_open()
    assert counter.under_cursor == "second"


async def test_hostile_text_stays_text(counter: Counter) -> None:
    await counter.ask(HOSTILE, summary=HOSTILE, reason=HOSTILE, rule=HOSTILE)
    await counter.pilot.press("3")
    await counter.until_shown("asks: [red]r<202E>m -rf[/]")
    await counter.open()
    await counter.until_shown("[red]r<202E>m -rf[/] [@click=app.quit]x[/] DE")
    drawn = shown(counter.app)
    assert not [character for character in drawn if character in "\x1b\x07\u202e"]


async def test_a_toast_tells_of_a_new_call_and_jumps_to_it(counter: Counter) -> None:
    await counter.ask("first")
    await counter.until_shown("worker asks: first", "A  answer")
    toast = counter.app.screen.query(Toast).last()
    last = toast.content_region
    await counter.pilot.click(offset=(last.x + 1, last.bottom - 1))
    await counter.until(lambda: isinstance(counter.app.screen, ApprovalsDialog))
    await counter.ask("second")
    await counter.until(lambda: counter.dialog._table.total == 2)
    assert "worker asks: second" not in shown(counter.app)


async def test_many_calls_at_once_are_told_of_together(counter: Counter) -> None:
    for tool in ("one", "two", "three", "four"):
        await counter.ask(tool)
    await counter.until_shown("calls wait for your answer")
    assert len(counter.app._notifications) <= 2
