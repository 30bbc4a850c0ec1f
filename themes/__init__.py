"""How Pinfold looks: style sheets and the built-in themes, shipped as data files, and reading of theme files."""

from pathlib import Path

from themes.files import COLORS, ThemeFile, read_theme, theme_files, theme_named_in
from themes.watching import theme_changes

FOLDER = Path(__file__).parent
DEFAULT_THEME = "pinfold-dark"

__all__ = [
    "COLORS",
    "DEFAULT_THEME",
    "FOLDER",
    "ThemeFile",
    "read_theme",
    "style_sheets",
    "theme_changes",
    "theme_files",
    "theme_named_in",
]


def style_sheets() -> list[Path]:
    """All style sheets, the base first; in one go, since each that comes later has all of them parsed again."""
    return [FOLDER / "base.tcss", *sorted(FOLDER.glob("*/*.tcss"))]
