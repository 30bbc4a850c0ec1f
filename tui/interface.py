"""The operator's own looks and keys: themes and keymap taken over while the screens run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App

from themes import DEFAULT_THEME, FOLDER, read_theme, theme_changes, theme_files, theme_named_in
from tui.keymap import Keymap, check_keymap
from tui.theming import load_themes, textual_theme

if TYPE_CHECKING:
    from services.agents import Interface


def register_builtin_themes(app: App[None]) -> None:
    """Let the app use Pinfold's own themes."""
    for file in theme_files(FOLDER):
        app.register_theme(textual_theme(read_theme(file)))


def first_theme(app: App[None], config: Path) -> str:
    """The theme of the first frame: the one `pinfold.toml` names, unless it is one of the operator's own."""
    name = theme_named_in(config)
    return name if name in app.available_themes else DEFAULT_THEME


class InterfaceSettings:
    """Takes over `[interface]` and the operator's themes, again whenever they change.

    Args:
        app: Whose looks and keys they are.
        folder: Where the operator's themes lie.
        plain: The terminal wants no colours, whatever theme is named.
    """

    def __init__(self, app: App[None], folder: Path, *, plain: bool) -> None:
        self._app = app
        self._folder = folder
        self._plain = plain
        self._wanted = ""
        self._own: set[str] = set()

    def wear_first(self, name: str) -> None:
        """Put on the theme of the first frame, before any style sheet was parsed."""
        theme = self._app.get_theme(name)
        if theme is None or theme.ansi:  # filters must know of the terminal's own colours
            self._app.theme = name
            return
        self._app.set_reactive(App.theme, name)
        self._app.add_class(f"-theme-{name}", "-dark-mode" if theme.dark else "-light-mode")
        self._app.stylesheet.set_variables(self._app.get_css_variables())

    def apply(self, interface: Interface) -> tuple[Keymap, Sequence[str]]:
        """Use theme and keys; returns the keymap and what could not be used."""
        keymap = check_keymap(interface.keys)
        self._app.set_keymap(keymap.keys)
        problems = list(keymap.problems)
        if interface.theme != self._wanted:
            self._wanted = interface.theme
            if not self._use(interface.theme):
                problems.append(f"[interface] names no theme that could be used: {interface.theme}")
        return keymap, problems

    def load_own(self) -> Sequence[str]:
        """Read the operator's themes, use the one wanted; returns what is wrong with the others."""
        loaded = load_themes(self._app, self._folder)
        for theme in loaded.themes:
            self._app.register_theme(theme)
            self._own.add(theme.name)
            if theme.name == self._app.theme:
                self._app.mutate_reactive(App.theme)
        if self._app.theme != self._wanted and self._wanted in self._own:
            self._use(self._wanted)
        return loaded.problems

    async def follow_own(self, told: Callable[[Sequence[str]], None]) -> None:
        """Read the operator's themes now and after each change, until cancelled.

        Args:
            told: Gets what is wrong with them, each time something is.
        """
        async for _ in theme_changes(self._folder):
            if problems := self.load_own():
                told(problems)

    def _use(self, name: str) -> bool:
        if self._plain:
            return True
        if name not in self._app.available_themes:
            return False
        self._app.theme = name
        return True
