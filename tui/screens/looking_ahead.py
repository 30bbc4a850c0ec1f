"""Forms that look at what an answer would do while it is typed."""

from __future__ import annotations

from typing import TypeVar

from textual.widgets import Button

from tui.screens.dialog import Dialog

T = TypeVar("T")


class LooksAhead(Dialog[T]):
    """A form whose button `#yes` can be pressed only once it was looked at what that would do.

    Enter in a field that is pressed meanwhile counts as soon as that is known, unless something is changed again.
    """

    _looking = False
    _entered = False

    def begin_to_look(self) -> None:
        """Let nothing be answered until `looked`."""
        self._looking, self._entered = True, False
        self.query_one("#yes", Button).disabled = True

    def looked(self, *, allowed: bool) -> None:
        """Say whether it can be done as it was looked at."""
        self._looking = False
        self.query_one("#yes", Button).disabled = not allowed
        if self._entered:
            self._entered = False
            self.enter()

    def on_input_submitted(self) -> None:
        """Do what Enter does in a field, or remember to."""
        if self._looking:
            self._entered = True
        else:
            self.enter()

    def enter(self) -> None:
        """Go to the button, or to the harmless one where it cannot be pressed."""
        self.query_one("#cancel" if self.query_one("#yes", Button).disabled else "#yes").focus()
