"""Where a value is typed: several lines in which no character acts on a terminal."""

from __future__ import annotations

from textual.document._document import EditResult
from textual.document._edit import Edit
from textual.widgets import TextArea

from tui.screens.memory.editing.writing import Form, drawable


class TextEditor(TextArea):
    """Takes JSON or text; what would act on a terminal is written out, however it got here.

    Args:
        text: To begin with, drawable.
        form: Which of the two it is.
    """

    def __init__(self, text: str, form: Form) -> None:
        self.form: Form = form
        super().__init__(
            drawable(text, form),
            soft_wrap=True,
            tab_behavior="focus",
            show_line_numbers=True,
            compact=True,
            highlight_cursor_line=False,
            id="editor",
        )
        self.cursor_blink = False

    def edit(self, edit: Edit) -> EditResult:
        """Change the text, writing out what must not be drawn."""
        edit.text = drawable(edit.text, self.form)
        return super().edit(edit)

    def begin(self, text: str, form: Form) -> None:
        """Take in another text; nothing of the one before can be brought back."""
        self.form = form
        self.load_text(drawable(text, form))

    def show_instead(self, text: str, form: Form) -> None:
        """Show another text in place of this one; undoing reaches back behind it."""
        self.form = form
        self.replace(text, self.document.start, self.document.end)
