"""Themes: legible, tried out before use, and never the end of the screens."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from services.home import Home
from tests.tui.conftest import until
from themes import COLORS, FOLDER, read_theme, theme_files, theme_named_in
from tui.app import PinfoldApp
from tui.theming import load_themes, textual_theme

BUILT_IN = [read_theme(file) for file in theme_files(FOLDER)]
GROUNDS = ("background", "surface", "panel", "cursor", "mark")
INKS = ("text", "muted", "accent", "good", "warn", "bad")


def contrast(first: str, second: str) -> float:
    bright, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def luminance(color: str) -> float:
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in Color.parse(color).normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(
    "theme", [theme for theme in BUILT_IN if not theme.terminal_colors], ids=lambda theme: theme.name
)
@pytest.mark.parametrize("ground", GROUNDS)
def test_text_stands_out_from_everything_it_is_written_on(theme, ground) -> None:
    least = 4.5
    too_faint = {ink: contrast(theme.colors[ink], theme.colors[ground]) for ink in INKS}
    assert {ink: ratio for ink, ratio in too_faint.items() if ratio < least} == {}


def test_there_is_a_dark_a_light_a_contrasting_theme_and_one_of_the_terminal_s_own_colours() -> None:
    assert {theme.name for theme in BUILT_IN} == {"pinfold-dark", "pinfold-light", "pinfold-contrast", "terminal"}
    assert [theme.name for theme in BUILT_IN if not theme.dark] == ["pinfold-light"]


def test_the_terminal_theme_uses_only_the_terminal_s_sixteen_colours() -> None:
    (terminal,) = [theme for theme in BUILT_IN if theme.terminal_colors]
    colors = [Color.parse(color) for color in terminal.colors.values()]
    assert all(color.ansi is not None and -1 <= color.ansi < 16 for color in colors)


GOOD = dict.fromkeys(COLORS, "#808080")


def theme_text(colors: dict[str, str], head: str = "") -> str:
    lines = [head, "[colors]", *(f'{name} = "{value}"' for name, value in colors.items())]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[colors", "not TOML"),
        ("dark = 3\n" + theme_text(GOOD), "dark: must be a bool"),
        ("drak = true\n" + theme_text(GOOD), "drak: no such key. Did you mean dark?"),
        (theme_text({name: color for name, color in GOOD.items() if name != "muted"}), "lacks muted"),
        (theme_text(GOOD | {"acent": "red"}), "colors.acent: no such key. Did you mean accent?"),
        (theme_text(GOOD).replace('accent = "#808080"', "accent = 7"), "colors.accent: must be a text"),
        (theme_text(GOOD | {"muted": "notacolour"}), "'notacolour' is not a colour"),
        (theme_text(GOOD | {"accent": "#12"}), "'#12' is not a colour"),
        (theme_text(GOOD) + '[styles]\ncursor = "loud"\n', "cannot be used"),
        ("x = " + "9" * 5000, "not TOML"),
    ],
    ids=["toml", "type", "key", "missing", "colour-name", "colour-type", "colour", "short-colour", "style", "digits"],
)
async def test_a_theme_that_cannot_be_used_is_left_out_with_its_reason(tmp_path, text, reason) -> None:
    folder = tmp_path / "themes"
    folder.mkdir()
    (folder / "good.toml").write_text(theme_text(GOOD))
    (folder / "wrong.toml").write_text(text)
    app = PinfoldApp(Home(tmp_path), services=False)
    async with app.run_test():
        loaded = load_themes(app, folder)
        assert [theme.name for theme in loaded.themes] == ["good"]
        assert len(loaded.problems) == 1
        assert "wrong.toml" in loaded.problems[0]
        assert reason in loaded.problems[0]


async def test_every_built_in_theme_and_textual_s_own_can_be_worn(tmp_path) -> None:
    app = PinfoldApp(Home(tmp_path), services=False)
    async with app.run_test() as pilot:
        for name in [theme.name for theme in BUILT_IN] + list(BUILTIN_THEMES):
            app.theme = name
            await pilot.pause()
            assert app.theme == name


def test_a_theme_says_its_colours_in_textual_s_words() -> None:
    dark = next(theme for theme in BUILT_IN if theme.name == "pinfold-dark")
    theme = textual_theme(dark)
    assert (theme.accent, theme.error, theme.background) == (
        dark.colors["accent"],
        dark.colors["bad"],
        dark.colors["background"],
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('[interface]\ntheme = "pinfold-light"\n', "pinfold-light"),
        ("", ""),
        ("[interface]\ntheme = 3\n", ""),
        ("interface = 3\n", ""),
        ("[[[", ""),
    ],
    ids=["named", "none", "no-text", "no-table", "broken"],
)
def test_the_first_frame_wears_the_theme_the_operator_named(tmp_path, text, name) -> None:
    file = tmp_path / "pinfold.toml"
    file.write_text(text)
    assert theme_named_in(file) == name
    assert PinfoldApp(Home(tmp_path), services=False).theme == (name or "pinfold-dark")


@pytest.mark.parametrize("name", ["pinfold-dark", "pinfold-light"])
async def test_the_first_screen_is_painted_in_the_colours_of_its_theme(tmp_path, name) -> None:
    (tmp_path / "pinfold.toml").write_text(f'[interface]\ntheme = "{name}"\n')
    (theme,) = [theme for theme in BUILT_IN if theme.name == name]
    app = PinfoldApp(Home(tmp_path), services=False)
    async with app.run_test():
        assert near(app.screen.styles.background, theme.colors["background"])


async def test_an_operator_s_theme_is_reloaded_when_its_file_changes(demo_home) -> None:
    config = demo_home.config_file.read_text()
    demo_home.config_file.write_text(config.replace('theme = "pinfold-dark"', 'theme = "mine"'))
    assert config != demo_home.config_file.read_text()
    demo_home.themes_dir.mkdir(exist_ok=True)
    mine = demo_home.themes_dir / "mine.toml"
    mine.write_text(theme_text(GOOD | {"background": "#102030"}))
    app = PinfoldApp(demo_home)
    async with app.run_test() as pilot:
        await until(lambda: app.theme == "mine", pilot)
        assert near(app.screen.styles.background, "#102030")
        replace(mine, theme_text(GOOD | {"background": "#302010"}))
        await until(lambda: near(app.screen.styles.background, "#302010"), pilot)
        replace(mine, theme_text(GOOD | {"background": "nonsense"}))
        await until(lambda: any("nonsense" in note.message for note in app._notifications), pilot)
        assert near(app.screen.styles.background, "#302010")


def near(color: Color, text: str) -> bool:
    """Whether two colours are the same but for what Textual rounds away."""
    return all(abs(one - other) <= 1 for one, other in zip(color.rgb, Color.parse(text).rgb, strict=True))


def replace(file: Path, text: str) -> None:
    """Write a file the way editors do."""
    beside = file.with_suffix(".new")
    beside.write_text(text)
    beside.replace(file)
