"""A line to type in that draws no character which acts on a terminal, however it got there."""

from __future__ import annotations

from textual.widgets import Input

from tui.typed import harmless, read_back, written_out


class TypingLine(Input):
    """An input for foreign text: what is pasted or given in it is written out where it would act on a terminal.

    Args:
        text: To begin with.
        placeholder: Clean text, shown while nothing is typed.
        id: Textual's id.
    """

    def __init__(self, text: str = "", *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(written_out(text), placeholder=placeholder, id=id, compact=True, select_on_focus=False)
        self.cursor_blink = False

    def validate_value(self, value: str) -> str:
        """Write out what must not be drawn."""
        return harmless(value)

    @property
    def text(self) -> str:
        """What is meant by what is typed.

        Raises:
            ValueError: An escape in it is unknown.
        """
        return read_back(self.value)
