"""An agent's colours can be read on any background, and are its own where they already can."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color, ColorSystem
from rich.style import Style
from textual._ansi_theme import DEFAULT_TERMINAL_THEME, MONOKAI

from services.output import PLAIN, TextStyle
from tui.widgets.log_pane.colours import Ground, contrast, styled

DARK = Style.parse("#d8dee6 on #0f1216")
LIGHT = Style.parse("#20242a on #fafafa")
GROUNDS = {
    "dark": Ground(DARK, MONOKAI, native=False, system=ColorSystem.TRUECOLOR),
    "light": Ground(LIGHT, DEFAULT_TERMINAL_THEME, native=False, system=ColorSystem.TRUECOLOR),
    "dark-16": Ground(DARK, MONOKAI, native=False, system=ColorSystem.STANDARD),
    "light-256": Ground(LIGHT, DEFAULT_TERMINAL_THEME, native=False, system=ColorSystem.EIGHT_BIT),
    "native": Ground(Style.parse("default on default"), MONOKAI, native=True, system=ColorSystem.STANDARD),
}
COLORS = st.one_of(st.none(), st.integers(0, 255), st.tuples(*[st.integers(0, 255)] * 3))


def ratio(style: Style, ground: Ground) -> float:
    """The contrast a person sees."""
    system = ground.system
    front, back = (style.color or Color.default(), style.bgcolor or Color.default())
    if style.reverse:
        front, back = back, front
    return contrast(
        front.downgrade(system).get_truecolor(ground.theme, foreground=not style.reverse),
        back.downgrade(system).get_truecolor(ground.theme, foreground=bool(style.reverse)),
    )


@pytest.mark.parametrize("name", GROUNDS)
@given(fg=COLORS, bg=COLORS, dim=st.booleans(), reverse=st.booleans())
def test_every_look_can_be_read(
    name: str, fg: int | tuple[int, int, int] | None, bg: int | tuple[int, int, int] | None, dim: bool, reverse: bool
) -> None:
    ground = GROUNDS[name]
    style = styled(TextStyle(fg=fg, bg=bg, dim=dim, reverse=reverse), ground)
    assert ratio(style, ground) >= 2.5


@pytest.mark.parametrize(
    "look",
    [
        TextStyle(fg=0),
        TextStyle(fg=(15, 18, 22)),
        TextStyle(fg=15, bg=15),
        TextStyle(fg=(255, 255, 255), bg=(250, 250, 250)),
        TextStyle(fg=4, bg=4),
    ],
    ids=["black-on-black", "as-the-ground", "white-on-white", "nearly-white-on-white", "blue-on-blue"],
)
@pytest.mark.parametrize("name", ["dark", "light", "dark-16"])
def test_what_would_be_invisible_is_clearly_legible(name: str, look: TextStyle) -> None:
    ground = GROUNDS[name]
    assert ratio(styled(look, ground), ground) >= 4.5 or ratio(styled(look, ground), ground) >= ratio(
        ground.style, ground
    )


def test_colours_that_can_be_read_are_left_alone() -> None:
    style = styled(TextStyle(fg=(255, 100, 0), bold=True), GROUNDS["dark"])
    assert style.color == Color.from_rgb(255, 100, 0)
    assert style.bold


def test_a_dim_grey_stays_dim() -> None:
    style = styled(TextStyle(fg=(120, 120, 120)), GROUNDS["dark"])
    assert style.color == Color.from_rgb(120, 120, 120)


def test_plain_text_is_exactly_the_panes_own() -> None:
    assert styled(PLAIN, GROUNDS["dark"]) is DARK
