"""An answer goes to the call the operator read, whatever happens meanwhile."""

from __future__ import annotations

import pytest

from services.sandbox.tools import Answer, Reply
from tests.tui.conftest import shown
from tests.tui.screens.approvals.conftest import Counter


@pytest.mark.parametrize(
    ("keys", "reply", "for_session"),
    [
        (("y",), Reply(Answer.ALLOWED), False),
        (("s",), Reply(Answer.ALLOWED), True),
        (("r", "enter"), Reply(Answer.REFUSED), False),
        (("r", *"no", "space", *"way", "enter"), Reply(Answer.REFUSED, "no way"), False),
    ],
    ids=["once", "session", "refuse", "refuse-with-reason"],
)
async def test_each_answer_reaches_who_asked_and_the_last_one_closes(
    counter: Counter, keys, reply, for_session
) -> None:
    tool = f"tool_{keys}"
    number = await counter.ask(tool)
    await counter.open()
    await counter.pilot.press(*keys)
    assert await counter.reply(number) == reply
    assert await counter.pinfold.approvals.allowed_before(counter.session, tool) is for_session
    await counter.until_closed()
    await counter.until(lambda: "waiting" not in shown(counter.app))


async def test_a_call_answered_elsewhere_takes_no_answer_and_gives_none_to_the_next(counter: Counter) -> None:
    first, second = await counter.ask("first"), await counter.ask("second")
    await counter.open()
    await counter.pinfold.approvals.answer(first, allow=False)
    await counter.until(lambda: counter.under_cursor == "first waits no more")
    await counter.pilot.press("y", "s", "r", "enter")
    assert counter.under_cursor == "first waits no more"
    assert [each.number for each in await counter.pinfold.approvals.waiting()] == [second]
    await counter.pilot.press("n")
    await counter.until(lambda: [asked.row.tool for asked in counter.dialog._table.rows] == ["second"])
    await counter.pilot.press("y")
    assert await counter.reply(first) == Reply(Answer.REFUSED)
    assert await counter.reply(second) == Reply(Answer.ALLOWED)


async def test_a_call_whose_time_is_up_stays_under_the_cursor_until_the_operator_goes_on(counter: Counter) -> None:
    await counter.ask("later")
    await counter.ask("sooner", seconds=2.5)
    await counter.open()
    await counter.pilot.press("j")
    await counter.until(lambda: counter.under_cursor == "sooner waits no more")
    await counter.until_shown("1 call waits for your answer")
    await counter.pilot.press("y")
    await counter.until_shown("nothing was answered: sooner waits no more")
    await counter.pilot.press("k")
    await counter.until(lambda: [asked.row.tool for asked in counter.dialog._table.rows] == ["later"])
    assert len(await counter.pinfold.approvals.waiting()) == 1


async def test_who_answers_at_the_same_moment_is_told_that_nothing_came_of_it(counter: Counter) -> None:
    number = await counter.ask()
    await counter.open()
    answering = counter.pinfold.approvals.answer(number, allow=False)
    counter.dialog.action_allow()  # the dialog has not heard of the other answer yet
    await answering
    await counter.until_shown("cannot be answered")
    assert await counter.reply(number) == Reply(Answer.REFUSED)


async def test_a_call_that_goes_while_its_refusal_is_typed_takes_no_other_along(counter: Counter) -> None:
    first, second = await counter.ask("first"), await counter.ask("second")
    await counter.open()
    await counter.pilot.press("r", *"bad")
    counter.asking[first].cancel()
    await counter.until(lambda: counter.under_cursor == "first waits no more")
    await counter.pilot.press("enter")
    await counter.until_shown("nothing was answered")
    assert [each.number for each in await counter.pinfold.approvals.waiting()] == [second]


async def test_a_new_call_and_an_answer_leave_the_cursor_where_it_is(counter: Counter) -> None:
    await counter.ask("first")
    second = await counter.ask("second")
    await counter.open()
    await counter.pilot.press("n")
    await counter.ask("third")
    assert counter.under_cursor == "second"
    await counter.pilot.press("y", "y", "y")
    await counter.until(lambda: counter.under_cursor == "second allowed")
    assert await counter.reply(second) == Reply(Answer.ALLOWED)
    assert [each.tool for each in await counter.pinfold.approvals.waiting()] == ["first", "third"]
    await counter.pilot.press("n")
    await counter.until(lambda: counter.under_cursor == "third")


async def test_what_is_asked_every_time_is_not_allowed_for_the_session(counter: Counter) -> None:
    number = await counter.ask(every_time=True, rule="always_ask memory_store: asked every time, agent.toml:4")
    await counter.open()
    await counter.until_shown("always_ask memory_store: asked every time, agent.toml:4")
    await counter.pilot.press("s")
    await counter.until_shown("memory_store is asked about every time")
    assert counter.dialog.query_one("#allow_session").disabled
    await counter.pilot.press("y")
    assert await counter.reply(number) == Reply(Answer.ALLOWED)


async def test_escape_gives_up_the_reason_first_then_the_dialog_and_answers_nothing(counter: Counter) -> None:
    await counter.ask()
    await counter.open()
    await counter.pilot.press("r", "y", "escape")
    assert not counter.dialog.query_one("Field").display
    await counter.pilot.press("escape")
    await counter.until_closed()
    assert len(await counter.pinfold.approvals.waiting()) == 1


async def test_buttons_answer_what_is_under_the_cursor(counter: Counter) -> None:
    await counter.ask("first")
    second = await counter.ask("second")
    await counter.open()
    await counter.pilot.click("#next")
    await counter.until(lambda: counter.under_cursor == "second")
    await counter.pilot.click("#allow")
    assert await counter.reply(second) == Reply(Answer.ALLOWED)
    assert [each.tool for each in await counter.pinfold.approvals.waiting()] == ["first"]


async def test_what_was_typed_ahead_answers_no_call_that_was_never_drawn(counter: Counter) -> None:
    await counter.ask("first")
    await counter.ask("second")
    await counter.open()
    counter.dialog.action_next()
    counter.dialog.action_allow()
    counter.dialog.action_refuse()
    await counter.pilot.pause()
    assert counter.under_cursor == "second"
    assert len(await counter.pinfold.approvals.waiting()) == 2
