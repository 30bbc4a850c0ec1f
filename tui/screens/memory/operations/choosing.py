"""Choosing an operation, and giving it what it asks for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from services.errors import PinfoldError
from tui.host import host
from tui.screens.dialog import Dialog
from tui.screens.memory.changes.doing import Outcome, Subject
from tui.screens.memory.hiding import hidden
from tui.screens.memory.operations.operation import Operation, Parameter
from tui.text import safe
from tui.widgets.choice import Choice
from tui.widgets.field import Field
from tui.widgets.lines_view import LinesView
from tui.widgets.table import Cell, Column, Table, cell
from tui.widgets.typing_line import TypingLine

_MOST_LINES = 1000
_LONGEST = 2000
_MOST = 128 * 1024

Run = Callable[[Mapping[str, Any]], Awaitable[Outcome]]


class ChooseOperation(Dialog[Operation]):
    """Answers with one of the operations that make sense.

    Args:
        heading: What they concern, clean.
        operations: At least one.
    """

    def __init__(self, heading: str, operations: Sequence[Operation]) -> None:
        super().__init__(classes="operations")
        self._heading = heading
        self._operations = tuple(operations)
        self._table: Table[Operation] = Table(
            [
                Column("label", "WHAT", lambda operation, _: cell(operation.label, "strong"), None, 22),
                Column("help", "IT DOES", lambda operation, _: cell(operation.help, "muted"), None, 30, grow=1),
            ],
            lambda operation: operation.id,
        )

    def compose(self) -> ComposeResult:
        """Lay out the operations."""
        with Vertical(id="box"):
            yield Static(Content(self._heading), id="heading")
            yield self._table

    def on_mount(self) -> None:
        """Begin with the first."""
        self._table.styles.height = len(self._operations) + 1
        self._table.styles.max_height = "100%"
        self._table.show(self._operations)
        self._table.focus()

    @on(Table.Opened)
    def _take(self) -> None:
        self.dismiss(self._table.row)


class OperationForm(Dialog[Outcome]):
    """Asks for what an operation needs and does it; answers with what became of it.

    What it read is shown here; what goes wrong is told here, and nothing typed is lost.

    Args:
        operation: What to do.
        subject: What to do it to.
        run: Does it with the values read.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "go", show=False)]

    def __init__(self, operation: Operation, subject: Subject, run: Run) -> None:
        super().__init__(classes="operation")
        self._operation = operation
        self._run_it = run
        self._outcome: Outcome | None = None
        self._busy = False
        self._inputs: dict[str, Widget] = {
            parameter.key: _input(parameter, subject) for parameter in operation.parameters
        }
        self._lines = LinesView(id="lines")

    def compose(self) -> ComposeResult:
        """Lay out fields, what went wrong, and what was read."""
        with Vertical(id="box"):
            yield Static(Content(f"{self._operation.help}"), id="heading")
            for parameter in self._operation.parameters:
                yield Field(parameter.label, self._inputs[parameter.key])
            yield Static(id="problem", classes="problem", markup=False)
            yield self._lines
            with Horizontal(id="buttons"):
                yield Button("Close" if self._operation.harmless else "Cancel", id="cancel", compact=True)
                yield Button("Show" if self._operation.harmless else "Do it", id="yes", compact=True)

    def on_mount(self) -> None:
        """Begin with the first field that is empty; do at once what asks for nothing and changes nothing."""
        self._lines.display = False
        lines = [line for line in self._inputs.values() if isinstance(line, TypingLine)]
        first = next((line for line in lines if not line.value), next(iter(self._inputs.values()), None))
        (first or self.query_one("#yes")).focus()
        if not self._inputs and self._operation.harmless:
            self.action_go()

    @on(Input.Submitted)
    def action_go(self) -> None:
        """Do it, once however often it is asked for."""
        if not self._busy:
            self._busy = True
            host(self).begin(self, "operation", self._go)

    async def _go(self) -> None:
        try:
            outcome = await self._run_it(self._values())
        except PinfoldError as error:
            self._busy = False
            self.query_one("#problem", Static).update(Content(safe(str(error))))
            return
        self.query_one("#problem", Static).update("")
        if not outcome.lines:
            self.dismiss(outcome)
            return
        self._show(await host(self).pinfold.calls.run(_drawable, outcome.lines))
        self._busy = not self._operation.harmless
        self._outcome = outcome if self._busy else None
        if self._outcome is not None:
            self.query_one("#yes").display = False
            self.query_one("#cancel", Button).label = "Close"
            self.query_one("#cancel").focus()

    def _show(self, shown: Sequence[Cell]) -> None:
        self._lines.display = True
        self._lines.styles.height = min(len(shown), 10) + 1
        self._lines.show(shown)

    def _values(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for parameter in self._operation.parameters:
            control = self._inputs[parameter.key]
            try:
                typed = control.text if isinstance(control, TypingLine) else str(getattr(control, "value", ""))
            except ValueError as error:
                raise PinfoldError(f"{parameter.label.lower()} cannot be read", why=str(error)) from error
            values[parameter.key] = parameter.read(typed)
        return values

    def action_leave(self) -> None:
        """Close; what was done stays done."""
        self.dismiss(self._outcome)

    @on(Button.Pressed)
    def _press(self, message: Button.Pressed) -> None:
        if message.button.id == "yes":
            self.action_go()
        else:
            self.action_leave()


def _drawable(lines: Sequence[str]) -> list[Cell]:
    """What was read, in lines, secrets hidden."""
    text = "\n".join(line[:_MOST] for line in lines)
    parts = hidden(text[:_MOST], reveal=False, cut=len(text) > _MOST)[0].split("\n")
    shown = [cell(safe(line[:_LONGEST])) for line in parts[:_MOST_LINES]]
    if len(parts) > _MOST_LINES:
        shown.append(cell(f"and {len(parts) - _MOST_LINES:,} more lines", "muted"))
    return shown


def _input(parameter: Parameter, subject: Subject) -> Widget:
    begin = parameter.begin(subject)
    if parameter.options:
        return Choice(parameter.options, begin or parameter.options[0][0])
    line = TypingLine(begin, placeholder=parameter.hint)
    line.password = hidden(begin, reveal=False)[0] != begin
    return line
