"""A plan shown before anything is done, made anew whenever a choice changes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from services.errors import PinfoldError
from tui.glyphs import glyphs
from tui.host import host
from tui.screens.looking_ahead import LooksAhead
from tui.screens.operations.plan_lines import commitment, plan_lines
from tui.text import safe
from tui.widgets.choice import Choice
from tui.widgets.lines_view import LinesView
from tui.widgets.table import cell

if TYPE_CHECKING:
    from services.operations import Operations, Plan

_SETTLING_SECONDS = 0.15


class PlanDialog(LooksAhead["Plan"]):
    """Answers with the plan that is to be carried out; starts on *cancel*.

    Args:
        heading: What is planned, clean.
        verb: The label of the button that does it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("pagedown", "scroll(8)", show=False),
        Binding("pageup", "scroll(-8)", show=False),
    ]

    def __init__(self, heading: str, verb: str) -> None:
        super().__init__(id="plan")
        self._heading = heading
        self._verb = verb
        self._plan: Plan | None = None
        self._looked = False
        self._lines = LinesView(id="lines")

    def compose(self) -> ComposeResult:
        """Lay out choices, plan and buttons."""
        with Vertical(id="box", classes="danger" if self.destructive else ""):
            yield Static(Content(self._heading), id="heading")
            yield from self.choices()
            yield self._lines
            yield Static(id="consequence", markup=False)
            with Horizontal(id="buttons"):
                yield Button("Cancel", id="cancel", compact=True)
                yield Button(Content(self._verb), id="yes", compact=True, disabled=True)

    @property
    def destructive(self) -> bool:
        """Whether it takes something away."""
        return False

    def choices(self) -> Iterable[Widget]:
        """The fields with what can be chosen."""
        return ()

    async def make_plan(self, operations: Operations) -> Plan:
        """Plan what is chosen.

        Raises:
            PinfoldError: It cannot be planned.
        """
        raise NotImplementedError

    def begin_at(self) -> Widget:
        """What has the focus at first."""
        return self.query_one("#cancel")

    def on_mount(self) -> None:
        """Begin with the harmless answer, or where something is missing."""
        self.begin_at().focus()
        self.look_ahead()

    @on(Input.Changed)
    @on(Choice.Changed)
    def look_ahead(self) -> None:
        """Plan anew."""
        self.begin_to_look()
        self._plan = None
        if not self._looked:
            self._lines.show([cell(f"looking at everything that is concerned {glyphs().ellipsis}", "muted")])
        host(self).begin(self, "plan", self._look)

    async def _look(self) -> None:
        if self._looked:
            await asyncio.sleep(_SETTLING_SECONDS)
        self._looked = True
        try:
            plan = await self.make_plan(await host(self).underway.operations())
        except PinfoldError as error:
            self._lines.show([cell(safe(str(error)), "bad")])
            self.looked(allowed=False)
            return
        self._plan = plan
        width = self._lines.size.width
        self._lines.show(await host(self).pinfold.calls.run(lambda: list(plan_lines(plan, width))))
        self.query_one("#consequence", Static).update(Content(commitment(plan)))
        if not plan.allowed and self.focused is self.query_one("#yes"):
            self.query_one("#cancel").focus()
        self.looked(allowed=plan.allowed)

    def action_scroll(self, by: int) -> None:
        """Scroll the plan."""
        self._lines.scroll_relative(y=by, animate=False)

    @on(Button.Pressed)
    def _answer(self, message: Button.Pressed) -> None:
        self.dismiss(self._plan if message.button.id == "yes" else None)
