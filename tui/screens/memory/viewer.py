"""The pane that shows one row, and lets it be edited."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message

from tui.glyphs import glyphs
from tui.screens.memory.editing.drafts import Draft, same
from tui.screens.memory.editing.writing import Form, Problem, typed_json, typed_text
from tui.screens.memory.facts import Content, content_lines, fact_parts
from tui.screens.memory.items import Item
from tui.widgets.lines_view import LinesView
from tui.widgets.pane import Pane
from tui.widgets.status_rule import Part, StatusRule
from tui.widgets.title_line import TitleLine

if TYPE_CHECKING:
    from textual.widgets import TextArea

    from tui.screens.memory.editing.text_editor import TextEditor


_MARGIN = 3
"""Columns beside the lines: a space on each side and the scrollbar."""


class Viewer(Pane):
    """Shows a row, or edits it.

    Args:
        now: The clock, nanoseconds since 1970.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+t", "switch_form", show=False)]

    class Edited(Message):
        """Something was typed, or editing began or ended."""

    def __init__(self, now: Callable[[], int]) -> None:
        super().__init__(id="viewer")
        self._now = now
        self._item: Item | None = None
        self._content = Content()
        self._body = LinesView(id="content")
        self._rule = StatusRule(id="facts")
        self.draft: Draft | None = None
        self._editor: TextEditor | None = None
        self._read: Any = ""
        self.diverged = False

    def compose(self) -> ComposeResult:
        """Lay out title, facts and content."""
        yield TitleLine("Value")
        yield self._rule
        yield self._body

    # ── looking ───────────────────────────────────────────────────────────────────────────────────────────────

    def show(self, item: Item | None, content: Content) -> None:
        """Show a row, or none; while something is edited it stays."""
        if self.draft is not None:
            return
        other = item is None or self._item is None or item.key != self._item.key
        self._item, self._content = item, content
        self._draw()
        if other:
            self._body.scroll_to(y=0, animate=False, force=True)

    def tick(self) -> None:
        """Count times down."""
        if self.draft is None:
            self._say_facts()

    @property
    def item(self) -> Item | None:
        """The row that is shown."""
        return self._item

    @property
    def content(self) -> Content:
        """What is shown of it."""
        return self._content

    def _draw(self) -> None:
        self.query_one(TitleLine).show(self._item.name if self._item is not None else "Value", warning="")
        self._body.show(content_lines(self._content, self.size.width - _MARGIN))
        self._say_facts()

    def _say_facts(self) -> None:
        self._rule.show(fact_parts(self._item, self._content, self._now()) if self._item is not None else [])

    def on_resize(self) -> None:
        """Break the lines anew."""
        self.call_after_refresh(self._rewrap)

    def _rewrap(self) -> None:
        if self._item is not None:
            self._body.show(content_lines(self._content, self.size.width - _MARGIN))

    # ── editing ───────────────────────────────────────────────────────────────────────────────────────────────

    async def begin(self, draft: Draft) -> None:
        """Edit a row."""
        from tui.screens.memory.editing.text_editor import TextEditor

        self.draft, self.diverged = draft, False
        if self._editor is None:
            self._editor = TextEditor(draft.typed, draft.form)
            await self.mount(self._editor)
        else:  # one that is taken away may be painted once more without its styles
            self._editor.begin(draft.typed, draft.form)
        self._turn()
        self._editor.focus()
        self._judge()

    def end(self) -> None:
        """Edit no more."""
        was_in_use = self._editor is not None and self._editor.has_focus
        self.draft, self.diverged = None, False
        self._turn()
        if was_in_use:
            self._body.focus()
        self._draw()
        self.post_message(self.Edited())

    def _turn(self) -> None:
        editing = self.draft is not None
        self.set_class(editing, "-editing")
        self._body.display = not editing
        if self._editor is not None:
            self._editor.display = editing

    def go_on_from(self, draft: Draft) -> None:
        """Keep what is typed, over something that was seen later."""
        self.draft, self.diverged = draft, False
        self._judge()

    def note_divergence(self, diverged: bool) -> None:
        """Say whether somebody changed the row since it was read."""
        if self.draft is not None and diverged is not self.diverged:
            self.diverged = diverged
            self._judge()

    @property
    def typed(self) -> str:
        """What is typed now."""
        return self._editor.text if self._editor is not None else ""

    @property
    def form(self) -> Form:
        """How it is typed."""
        return self._editor.form if self._editor is not None else "json"

    @property
    def value(self) -> Any:  # noqa: ANN401
        """What is meant by what is typed, or the problem with it."""
        return self._read

    @property
    def changed(self) -> bool:
        """Whether what is typed differs from what was seen."""
        draft = self.draft
        return draft is not None and (isinstance(self._read, Problem) or not same(self._read, draft.value))

    def action_switch_form(self) -> None:
        """Type a text as JSON, or a JSON text as text."""
        if self.draft is None or self._editor is None or not self.draft.switchable or not isinstance(self._read, str):
            return
        from dataclasses import replace

        import msgspec

        form: Form = "text" if self.form == "json" else "json"
        self.draft = replace(self.draft, form=form)
        text = typed_text(self._read) if form == "text" else typed_json(msgspec.json.encode(self._read).decode())
        self._editor.show_instead(text, form)

    def on_text_area_changed(self, message: TextArea.Changed) -> None:
        """Check what is typed."""
        message.stop()
        self._judge()

    def _judge(self) -> None:
        draft = self.draft
        if draft is None:
            return
        self._read = draft.read(self.typed)
        self.query_one(TitleLine).show(draft.name, warning="not saved" if self.changed else "")
        self._rule.show(self._parts(draft))
        self.post_message(self.Edited())

    def _parts(self, draft: Draft) -> list[Part]:
        parts: list[Part] = []
        if self.diverged:
            parts.append(Part(f"{glyphs().warning} changed meanwhile", "warn", "memory.save"))
        if isinstance(self._read, Problem):
            parts.append(Part(f"{glyphs().failed} {self._read}", "bad"))
        else:
            parts.append(Part(f"{glyphs().done} {'valid JSON' if draft.form == 'json' else 'text'}", "good"))
            parts.append(Part(draft.measure(self._read), "muted"))
        if draft.switchable and isinstance(self._read, str):
            parts.append(Part(f"^t as {'text' if draft.form == 'json' else 'JSON'}", "muted", gives_way=True))
        parts.append(Part("^s save  esc leave", "muted", gives_way=True))
        return parts
