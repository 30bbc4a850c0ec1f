"""An operation while it is carried out: its steps live, and how to stop it."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static

from tui.figures import SECOND, duration
from tui.glyphs import glyphs
from tui.host import host, key_of
from tui.screens.dialog import Dialog
from tui.screens.operations.steps import step_lines, summary
from tui.text import safe
from tui.underway import Undertaking
from tui.widgets.lines_view import LinesView
from tui.widgets.table import cell

_TICK_SECONDS = 0.1


class RunningOperation(Dialog[None]):
    """Shows an undertaking until it has ended; closing it lets the operation go on.

    Args:
        undertaking: What is carried out.
        clause: What it is, clean: `delete worker`.
    """

    def __init__(self, undertaking: Undertaking, clause: str) -> None:
        super().__init__(id="running")
        self._undertaking = undertaking
        self._clause = clause
        self._lines = LinesView(id="lines")
        self._left = False

    def compose(self) -> ComposeResult:
        """Lay out steps and buttons."""
        with Vertical(id="box"):
            yield Static(Content(self._clause), id="heading")
            yield self._lines
            yield Static(id="consequence", markup=False)
            with Horizontal(id="buttons"):
                yield Button("Stop it", id="stop", compact=True)
                yield Button("Hide", id="yes", compact=True)

    def on_mount(self) -> None:
        """Follow it."""
        host(self).underway.changed.subscribe(self, self._show)
        self.set_interval(_TICK_SECONDS, lambda: self._show(None))
        self.query_one("#yes").focus()
        self._show(None)

    def _show(self, _: None) -> None:
        undertaking = self._undertaking
        operation = undertaking.operation
        if self._left or not self.is_current:
            return
        if undertaking.ended and undertaking.failure is None and operation is not None and operation.state == "done":
            self._leave()
            return
        now = host(self).now()
        lines = list(step_lines(operation, undertaking.told, now)) if operation is not None else []
        if undertaking.failure is not None:
            lines = [*lines, cell(""), cell(safe(str(undertaking.failure)), "bad")]
        self._lines.show(lines or [cell(f"taking its locks {glyphs().ellipsis}", "muted")])
        if operation is not None:
            end = operation.ended_at or now
            took = duration((end - operation.created_at) / SECOND)
            self.query_one("#heading", Static).update(Content(f"{summary(operation)}  {took}"))
        self.query_one("#consequence", Static).update(Content(self._standing()))
        stop = self.query_one("#stop", Button)
        stop.disabled = not undertaking.cancellable
        if stop.disabled and self.focused is stop:
            self.query_one("#yes").focus()
        if undertaking.ended:
            self.query_one("#yes", Button).label = "Close"

    def _standing(self) -> str:
        undertaking, operation = self._undertaking, self._undertaking.operation
        if undertaking.failure is not None and operation is None:
            return "It was not begun, and nothing was changed."
        if undertaking.failure is not None:
            return f"It failed; screen {key_of(self, 'app.archives')} lists it, and retries it."
        if undertaking.ended and operation is not None and operation.committed:
            return f"It was left on the way; screen {key_of(self, 'app.archives')} lists it, and retries it."
        if undertaking.ended:
            return "It is stopped, and nothing was changed."
        if undertaking.stopping:
            return "It is being stopped."
        if operation is not None and operation.committed:
            return "Past its point of no return: it can only be completed."
        return "It can be stopped until its point of no return. Hidden, it goes on."

    @on(Button.Pressed)
    def _press(self, message: Button.Pressed) -> None:
        if message.button.id == "stop":
            host(self).underway.stop(self._undertaking)
        else:
            self._leave()

    def action_leave(self) -> None:
        """Close; the operation goes on."""
        self._leave()

    def _leave(self) -> None:
        if not self._left:
            self._left = True
            self.dismiss(None)
