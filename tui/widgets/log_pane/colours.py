"""An agent's colours on the pane's background: what cannot be read is made readable."""

from __future__ import annotations

from dataclasses import dataclass

from rich.color import Color, ColorSystem
from rich.color_triplet import ColorTriplet
from rich.style import Style
from rich.terminal_theme import TerminalTheme

from services.output import PLAIN, TextStyle

_TOO_LITTLE = 2.6
"""Contrast below which text counts as unreadable; programs use dim greys on purpose, so this is less than 4.5."""

_ENOUGH = 4.5
_DIMMED = 0.6
_STEPS = 12
_EXTREMES = (ColorTriplet(255, 255, 255), ColorTriplet(0, 0, 0))


@dataclass(frozen=True)
class Ground:
    """What text is drawn on.

    Attributes:
        style: Colour and background of plain text.
        theme: How the terminal's numbered colours look, or are taken to look.
        native: Numbered colours go to the terminal as numbers; else as what `theme` says they are.
        system: What colours the terminal can show.
    """

    style: Style
    theme: TerminalTheme
    native: bool
    system: ColorSystem


def styled(look: TextStyle, ground: Ground) -> Style:
    """How text of an agent's look is drawn; the plain look is exactly `ground.style`."""
    if look == PLAIN:
        return ground.style
    colors = _native(look, ground) if ground.native else _exact(look, ground)
    return colors + Style(
        bold=look.bold or None,
        italic=look.italic or None,
        underline=look.underline or None,
        strike=look.strike or None,
    )


def contrast(first: ColorTriplet, second: ColorTriplet) -> float:
    """The contrast of two colours as WCAG defines it: 1 for none, 21 for black on white."""
    bright, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _exact(look: TextStyle, ground: Ground) -> Style:
    """Colours as red, green and blue, with dim and reverse carried out."""
    front = _own(look.fg, ground.style.color).get_truecolor(ground.theme, foreground=True)
    back = _own(look.bg, ground.style.bgcolor).get_truecolor(ground.theme, foreground=False)
    if look.reverse:
        front, back = back, front
    if look.dim:
        front = _mix(back, front, _DIMMED)
    if contrast(*_reduced(front, back, ground)) < _TOO_LITTLE:
        front = _lifted(front, back, ground)
    return Style.from_color(Color.from_triplet(front), Color.from_triplet(back))


def _native(look: TextStyle, ground: Ground) -> Style:
    """Colours as the terminal knows them; what they look like can only be guessed."""
    front, back = _own(look.fg, ground.style.color), _own(look.bg, ground.style.bgcolor)
    seen_front = front.downgrade(ground.system).get_truecolor(ground.theme, foreground=True)
    seen_back = back.downgrade(ground.system).get_truecolor(ground.theme, foreground=False)
    if contrast(seen_front, seen_back) < _TOO_LITTLE:
        front = Color.default() if back.is_default else Color.from_ansi(15 if _luminance(seen_back) < 0.2 else 0)
    return Style(color=front, bgcolor=back, dim=look.dim or None, reverse=look.reverse or None)


def _own(color: int | tuple[int, int, int] | None, default: Color | None) -> Color:
    if color is None:
        return default or Color.default()
    return Color.from_ansi(color) if isinstance(color, int) else Color.from_rgb(*color)


def _reduced(front: ColorTriplet, back: ColorTriplet, ground: Ground) -> tuple[ColorTriplet, ColorTriplet]:
    """Both colours as a terminal with few colours shows them."""
    if ground.system is ColorSystem.TRUECOLOR:
        return front, back
    reduced = (Color.from_triplet(color).downgrade(ground.system) for color in (front, back))
    first, second = (color.get_truecolor(ground.theme) for color in reduced)
    return first, second


def _lifted(front: ColorTriplet, back: ColorTriplet, ground: Ground) -> ColorTriplet:
    """A colour as near to `front` as can be read on `back`."""
    goal = max(_EXTREMES, key=lambda extreme: contrast(*_reduced(extreme, back, ground)))
    for step in range(1, _STEPS):
        candidate = _mix(front, goal, step / _STEPS)
        if contrast(*_reduced(candidate, back, ground)) >= _ENOUGH:
            return candidate
    return goal


def _mix(first: ColorTriplet, second: ColorTriplet, share: float) -> ColorTriplet:
    red, green, blue = (round(one + (other - one) * share) for one, other in zip(first, second, strict=True))
    return ColorTriplet(red, green, blue)


def _luminance(color: ColorTriplet) -> float:
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
