"""Tells of calls that begin to wait for the operator, whichever screen is shown."""

from __future__ import annotations

from textual.app import App
from textual.markup import escape
from textual.timer import Timer

from tui.figures import counted
from tui.host import host, key_of

_PAUSE_SECONDS = 5.0
"""The least time between two toasts, so that an agent which asks again and again does not fill the screen."""

_SHOWN_SECONDS = 10.0
_LONGEST = 100


class Announcing:
    """Shows a toast for what is new; the screen that answers tells of it by itself.

    Args:
        app: Where toasts are shown.
    """

    def __init__(self, app: App[None]) -> None:
        self._app = app
        self._told = 0
        self._pausing: Timer | None = None

    def look(self, _: None = None) -> None:
        """Tell of the calls nobody was told of yet; those that come soon after are told of together, later."""
        new = [row for row in host(self._app).store.approvals if row.number > self._told]
        if not new or self._pausing is not None:
            return
        self._told = new[-1].number
        if self._app.screen.id == "approvals":
            return
        self._pausing = self._app.set_timer(_PAUSE_SECONDS, self._go_on)
        first = new[0]
        asks = f"{first.agent} asks: {first.tool} {first.arguments}"
        title = asks if len(new) == 1 else f"{counted(len(new), 'call')} wait for your answer"
        jump = f"[@click=app.approvals({first.number})]{escape(key_of(self._app, 'app.approvals'))}  answer[/]"
        self._app.notify(jump, title=_cut(title), severity="warning", timeout=_SHOWN_SECONDS, markup=True)

    def _go_on(self) -> None:
        self._pausing = None
        self.look()


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
