"""Theme files become Textual themes, tried out before the app may use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.color import Color, ColorParseError
from textual.css.errors import StylesheetError, StyleValueError
from textual.css.tokenizer import TokenError
from textual.theme import Theme

from services.errors import ConfigError
from themes import ThemeFile, read_theme, theme_files

if TYPE_CHECKING:
    from textual.app import App

TERMINAL_THEME = "terminal"

VARIABLE_DEFAULTS = {
    "line": "#808080",
    "muted": "#808080",
    "cursor": "#808080 30%",
    "mark": "#808080 20%",
    "good": "#808080",
    "warn": "#808080",
    "bad": "#808080",
    "muted-style": "none",
    "cursor-style": "bold",
    "mark-style": "none",
    "ansi-background": "ansi_default",
    "ansi-foreground": "ansi_default",
}
"""What style sheets need and some themes lack; `defaults_for` fits them to a theme."""


@dataclass(frozen=True)
class LoadedThemes:
    """Themes that may be used, and one sentence for each that may not."""

    themes: tuple[Theme, ...]
    problems: tuple[str, ...]


def textual_theme(file: ThemeFile) -> Theme:
    """Say a theme file in Textual's words."""
    colors = file.colors
    variables = {
        "line": colors["line"],
        "muted": colors["muted"],
        "cursor": colors["cursor"],
        "mark": colors["mark"],
        "good": colors["good"],
        "warn": colors["warn"],
        "bad": colors["bad"],
        **{f"{name}-style": style for name, style in file.styles.items()},
        "border": colors["accent"],
        "border-blurred": colors["line"],
        "text-accent": colors["accent"],
        "text-primary": colors["accent"],
        "text-secondary": colors["accent"],
        "text-success": colors["good"],
        "text-warning": colors["warn"],
        "text-error": colors["bad"],
        "text-muted": colors["muted"],
        "text-disabled": colors["muted"],
        "foreground-muted": colors["muted"],
        "block-cursor-background": colors["cursor"],
        "block-cursor-foreground": colors["text"],
        "block-cursor-blurred-background": colors["cursor"],
        "block-cursor-blurred-foreground": colors["text"],
        "scrollbar": colors["line"],
        "scrollbar-hover": colors["muted"],
        "scrollbar-active": colors["accent"],
        "scrollbar-background": colors["background"],
        "scrollbar-background-hover": colors["background"],
        "scrollbar-background-active": colors["background"],
        "scrollbar-corner-color": colors["background"],
        "input-cursor-background": colors["text"],
        "input-cursor-foreground": colors["background"],
        "input-selection-background": colors["cursor"],
        "link-color": colors["accent"],
    }
    return Theme(
        name=file.name,
        primary=colors["accent"],
        secondary=colors["accent"],
        accent=colors["accent"],
        foreground=colors["text"],
        background=colors["background"],
        surface=colors["surface"],
        panel=colors["panel"],
        success=colors["good"],
        warning=colors["warn"],
        error=colors["bad"],
        dark=file.dark,
        ansi=file.terminal_colors,
        variables=variables,
    )


def defaults_for(theme: Theme) -> Mapping[str, str]:
    """Values for our own variables that suit a theme which does not set them, such as those Textual brings."""
    colors = theme.to_color_system().generate()
    return VARIABLE_DEFAULTS | {
        "line": colors["surface-lighten-2" if theme.dark else "surface-darken-2"],
        "muted": colors["foreground-muted"],
        "cursor": colors["primary-muted"],
        "mark": colors["warning-muted"],
        "good": colors["text-success"],
        "warn": colors["text-warning"],
        "bad": colors["text-error"],
    }


def load_themes(app: App[Any], folder: Path) -> LoadedThemes:
    """Read all themes of a folder and try each out; a bad one is left out with its reason."""
    themes: list[Theme] = []
    problems: list[str] = []
    for path in theme_files(folder):
        try:
            file = read_theme(path)
            themes.append(_tried(app, file))
        except ConfigError as error:
            problems.append(str(error))
    return LoadedThemes(tuple(themes), tuple(problems))


def _tried(app: App[Any], file: ThemeFile) -> Theme:
    """Parse all style sheets with the colours of a theme, leaving the app alone; a bad theme in use would end it.

    Raises:
        ConfigError: A colour or a style is none.
    """
    for name, value in file.colors.items():
        try:
            Color.parse(value)
        except ColorParseError:
            raise ConfigError(f"{value!r} is not a colour", file=file.file, key=f"colors.{name}") from None
    theme = textual_theme(file)
    try:
        sheet = app.stylesheet.copy()
        sheet.set_variables({**defaults_for(theme), **theme.to_color_system().generate(), **theme.variables})
        sheet.reparse()
    except (StylesheetError, StyleValueError, TokenError, ValueError) as error:
        raise ConfigError(f"cannot be used: {type(error).__name__}", file=file.file, key="styles") from error
    return theme
