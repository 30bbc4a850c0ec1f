"""A form: fields in rows, each with its value, where that comes from, and what is wrong with it."""

from tui.widgets.form.form import Form
from tui.widgets.form.rows import FormRow, Kind, Note

__all__ = ["Form", "FormRow", "Kind", "Note"]
