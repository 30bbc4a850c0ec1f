"""The keys that work here, and what each does."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui.actions import Action, Scope, in_scope, key_name
from tui.glyphs import glyphs
from tui.keymap import Keymap
from tui.screens.dialog import Dialog

_KEYS = 12


class HelpScreen(Dialog[None]):
    """Lists the actions of some scopes with the keys they have now.

    Args:
        purpose: What the screen is for.
        scopes: Which actions to list, in this order.
        keymap: The operator's keys.
    """

    def __init__(self, purpose: str, scopes: Sequence[Scope], keymap: Keymap) -> None:
        super().__init__(id="help")
        self._purpose = purpose
        self._scopes = tuple(scopes)
        self._keymap = keymap

    def compose(self) -> ComposeResult:
        """Lay the text out."""
        with Vertical(id="box"):
            yield Static("Help", id="heading", markup=False)
            with VerticalScroll(id="pages"):
                yield Static(help_text(self._purpose, self._scopes, self._keymap))

    def on_mount(self) -> None:
        """Let the arrows scroll."""
        self.query_one("#pages").focus()


def help_text(purpose: str, scopes: Sequence[Scope], keymap: Keymap) -> Content:
    """Write the help."""
    lines = [Content(purpose), Content("")] if purpose else []
    for scope in scopes:
        lines.append(Content.assemble((str(scope).upper(), "$muted")))
        lines += [_line(action, keymap) for action in in_scope(scope)]
        lines.append(Content(""))
    return Content("\n").join(lines[:-1])


def _line(action: Action, keymap: Keymap) -> Content:
    plain = glyphs().ascii
    keys = " ".join(key_name(key, ascii_only=plain) for key in keymap.of(action))
    return Content.assemble((keys.ljust(_KEYS), "bold $accent"), action.help)
