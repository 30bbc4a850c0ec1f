"""The bar at the top of every screen: name, screens, engines, what runs and what waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.style import Style
from textual.widget import Widget

from tui.glyphs import glyphs
from tui.widgets.component import component_style

SCREENS = (("agents", "Agents"), ("memory", "Memory"), ("sandboxes", "Sandboxes"), ("archives", "Archives"))
"""The screens by the name of their mode, in the order of their keys 1 to 4."""


@dataclass(frozen=True)
class EngineMark:
    """An engine in the bar."""

    name: str
    usable: bool


@dataclass(frozen=True)
class BarFacts:
    """What the bar says.

    Attributes:
        awaiting: What the screens wait for; "" once they are there.
        waiting: How many calls wait for the operator's answer.
    """

    current: str
    engines: Sequence[EngineMark] = field(default_factory=tuple)
    running: int = 0
    waiting: int = 0
    awaiting: str = ""


class TopBar(Widget):
    """One line; a click on a screen's name shows it, a click on an engine asks it again, on what waits opens it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "top-bar--name",
        "top-bar--tab",
        "top-bar--current",
        "top-bar--good",
        "top-bar--bad",
        "top-bar--waiting",
    }

    def __init__(self, facts: BarFacts) -> None:
        super().__init__()
        self._facts = facts

    def show(self, facts: BarFacts) -> None:
        """Say something else; paints only when it is something else."""
        if facts != self._facts:
            self._facts = facts
            self.refresh()

    def render(self) -> Content:
        """Draw the bar; the figures on the right give way before the screens do, what waits last."""
        width = self.size.width
        status, short = self._status(), self._tabs(named=False)
        for left, right in ((self._tabs(named=True), status), (short, status), (short, self._waiting())):
            spare = width - left.cell_length - right.cell_length
            if spare >= 1:
                return Content.assemble(left, " " * spare, right)
        return short.truncate(width)

    def _part(self, text: str, component: str, call: str = "") -> tuple[str, Style]:
        style = component_style(self, f"top-bar--{component}")
        return text, style + Style.from_meta({"call": call}) if call else style

    def _tabs(self, *, named: bool) -> Content:
        parts: list[str | tuple[str, Style]] = [self._part(" pinfold ", "name"), " "]
        for number, (mode, label) in enumerate(SCREENS, start=1):
            current = mode == self._facts.current
            text = f" {number} {label} " if named or current else f" {number} "
            parts.append(self._part(text, "current" if current else "tab", f"app.screen('{mode}')"))
        return Content.assemble(*parts)

    def _status(self) -> Content:
        facts, signs = self._facts, glyphs()
        if facts.awaiting:
            return Content.assemble(self._part(f"{signs.busy} {facts.awaiting}", "tab"), " ")
        parts: list[str | tuple[str, Style]] = []
        for engine in facts.engines:
            sign = signs.running if engine.usable else signs.failed
            parts += [f"{engine.name} ", self._part(sign, "good" if engine.usable else "bad", "app.engines"), "  "]
        parts += [f" {facts.running} running "]
        return Content.assemble(*parts, self._waiting())

    def _waiting(self) -> Content:
        if not self._facts.waiting:
            return Content("")
        text = f"{self._facts.waiting} waiting {glyphs().waiting} "
        return Content.assemble(" ", self._part(text, "waiting", "app.approvals"))

    async def on_click(self, event: events.Click) -> None:
        """Do what was clicked."""
        if call := event.style.meta.get("call"):
            await self.run_action(call)
