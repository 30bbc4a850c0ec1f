"""Where the operator answers calls that wait, one at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input, Static

from services.errors import PinfoldError, SessionRefused
from tui.actions import Scope
from tui.host import Host, host, key_of
from tui.keymap import bindings
from tui.screens.approvals.questions import GONE, Question, QuestionTable, describe, heading, question_columns
from tui.screens.dialog import Dialog
from tui.text import safe
from tui.widgets.field import Field
from tui.widgets.table import Table
from tui.widgets.typing_line import TypingLine

_MOST_ROWS = 8
_LONGEST_WORDS = 400


class ApprovalsDialog(Dialog[None]):
    """Lists what waits, shows the call under the cursor whole, and answers that one only.

    The cursor moves when the operator moves it and at no other time: a call that waits no more keeps its line, and
    takes no answer, until the operator goes on. Nor does a call that is not drawn yet, whatever was typed ahead.

    Args:
        number: The approval to begin with; 0 is the oldest.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*Dialog.BINDINGS, *bindings(Scope.APPROVALS)]

    def __init__(self, number: int = 0) -> None:
        super().__init__(id="approvals")
        self._first = number
        self._fates: dict[int, str] = {}
        self._refusing: Question | None = None
        self._drawn = 0
        self._table = QuestionTable(question_columns(self._now), lambda asked: asked.key)
        self._words = TypingLine(placeholder="told to the agent; may be empty", id="words")
        self._words.max_length = _LONGEST_WORDS

    def compose(self) -> ComposeResult:
        """Lay out the calls, the one under the cursor, and the answers."""
        with Vertical(id="box"):
            yield Static(id="heading", markup=False)
            yield self._table
            with VerticalScroll(id="facts", can_focus=False):
                yield Static(id="described", markup=False)
                with Horizontal(id="arguments"):
                    yield Static("arguments", classes="label", markup=False)
                    yield Static(id="value", markup=False)
            yield Field("Reason", self._words)
            yield Static(id="problem", classes="problem", markup=False)
            with Horizontal(id="buttons"):
                for action, label in (
                    ("allow", "Allow once"),
                    ("allow_session", "Whole session"),
                    ("refuse", "Refuse"),
                    ("next", "Next"),
                ):
                    key = key_of(self, f"approval.{action}")
                    yield Button(Content(f"{label}  {key}"), id=action, compact=True)

    def on_mount(self) -> None:
        """Show what waits, and what changes."""
        host(self).store.approvals_changed.subscribe(self, self._update)
        self.set_interval(1.0, self._tick)
        self._update(None)
        self._table.move_to(str(self._first))
        self._table.focus()
        self._end_refusing()

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────

    def _now(self) -> int:
        return host(self).now()

    @property
    def _asked(self) -> Question | None:
        """The call under the cursor."""
        return self._table.row

    def _update(self, _: None) -> None:
        """Take over what waits; the call under the cursor stays where it is, whatever became of it."""
        now = self._now()
        waiting = {row.number: Question(row) for row in host(self).store.approvals if row.until > now}
        waiting = {number: asked for number, asked in waiting.items() if number not in self._fates}
        held = self._asked
        if held is not None and held.row.number not in waiting:
            waiting[held.row.number] = replace(held, fate=self._fates.get(held.row.number, GONE))
        rows = [waiting[number] for number in sorted(waiting)]
        self._table.styles.height = min(max(len(rows), 1), _MOST_ROWS) + 1
        self._table.show(rows)
        self._show()

    def _tick(self) -> None:
        now = self._now()
        if any(asked.row.until <= now and not asked.fate for asked in self._table.rows):
            self._update(None)
        self._table.redraw()
        self._describe()

    @on(Table.Moved)
    def _moved(self) -> None:
        self.query_one("#problem", Static).update("")
        self._end_refusing()
        self._update(None)

    def _show(self) -> None:
        asked = self._asked
        waiting = [each for each in self._table.rows if not each.fate]
        self.query_one("#heading", Static).update(heading(len(waiting)))
        open_ = asked is not None and not asked.fate
        self.query_one("#allow").disabled = self.query_one("#refuse").disabled = not open_
        self.query_one("#allow_session").disabled = asked is None or not open_ or asked.row.every_time
        self.query_one("#next").disabled = not [each for each in waiting if each != asked]
        self._describe()

    def _describe(self) -> None:
        asked = self._asked
        content = describe(asked, self._now()) if asked is not None else Content("")
        self.query_one("#described", Static).update(content)
        self.query_one("#value", Static).update(Content(asked.row.arguments if asked is not None else ""))
        if asked is not None:
            self.call_after_refresh(setattr, self, "_drawn", asked.row.number)

    # ── answers ───────────────────────────────────────────────────────────────────────────────────────────────

    def action_allow(self) -> None:
        """Allow the call under the cursor."""
        self._answer(self._asked, allow=True)

    def action_allow_session(self) -> None:
        """Allow its tool for the whole session."""
        if self._asked is not None and self._asked.row.every_time:
            self._complain(f"{self._asked.row.tool} is asked about every time")
        else:
            self._answer(self._asked, allow=True, whole_session=True)

    def action_refuse(self) -> None:
        """Ask why first."""
        if self._refusing is not None:
            self._refuse()
        elif self._asked is not None and not self._asked.fate and self._asked.row.number == self._drawn:
            self._refusing = self._asked
            self.query_one(Field).display = True
            self._words.focus()

    @on(Input.Submitted)
    def _refuse(self) -> None:
        try:
            words = self._words.text
        except ValueError as error:
            self._complain(str(error))
            return
        asked = self._refusing
        self._end_refusing()
        self._answer(asked, allow=False, words=words)

    def _end_refusing(self) -> None:
        self._refusing = None
        self._words.value = ""
        self.query_one(Field).display = False
        if self._words.has_focus:
            self._table.focus()

    def _answer(self, asked: Question | None, *, allow: bool, whole_session: bool = False, words: str = "") -> None:
        """Answer a call that was read, once however often it is asked for."""
        if asked is None or asked.row.number != self._drawn:
            return
        number = asked.row.number
        now_asked = self._asked
        if number in self._fates or now_asked is None or now_asked.key != asked.key or now_asked.fate:
            self._complain(f"nothing was answered: {asked.row.tool} {GONE}")
            return
        self._fates[number] = "answering"
        self._update(None)
        host(self).begin(self.app, "approval", self._give, asked, allow, whole_session, words)

    async def _give(self, asked: Question, allow: bool, whole_session: bool, words: str) -> None:
        number, app = asked.row.number, host(self)
        try:
            await app.pinfold.approvals.answer(number, allow=allow, whole_session=whole_session, words=words)
        except SessionRefused as error:
            self._fates[number] = GONE
            self._fail(app, error)
        except PinfoldError as error:
            del self._fates[number]
            self._fail(app, error)
        else:
            done = "allowed" if allow else "refused"
            self._fates[number] = done
            for_what = " for the whole session" if whole_session else ""
            app.told(f"{done} {asked.row.tool} of {asked.row.agent}{for_what}")
            self._go_on()

    def _fail(self, app: Host, error: PinfoldError) -> None:
        if self.is_current:
            self._update(None)
            self._complain(str(error))
        else:
            app.report(error)

    def _go_on(self) -> None:
        """Close when nothing waits any more, else stay on what was answered."""
        if not self.is_current:
            return
        self._update(None)
        if all(asked.fate for asked in self._table.rows):
            self.dismiss(None)

    def action_next(self) -> None:
        """Go to the next call that waits."""
        here = int(self._asked.key) if self._asked is not None else 0
        waiting = [asked.row.number for asked in self._table.rows if not asked.fate and asked.row.number != here]
        later = [number for number in waiting if number > here]
        if waiting:
            self._table.move_to(str((later or waiting)[0]))

    def action_leave(self) -> None:
        """Refuse no more, else close."""
        if self._refusing is not None:
            self._end_refusing()
        else:
            self.dismiss(None)

    def _complain(self, why: str) -> None:
        self.query_one("#problem", Static).update(Content(safe(why)))

    @on(Button.Pressed)
    async def _press(self, message: Button.Pressed) -> None:
        await self.run_action(str(message.button.id))
