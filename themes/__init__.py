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
    "style_sheet",
    "theme_changes",
    "theme_files",
    "theme_named_in",
]


def style_sheet(name: str) -> Path:
    """The file of a style sheet: `base`, `screens/agents`, `widgets/table`."""
    return FOLDER / f"{name}.tcss"
