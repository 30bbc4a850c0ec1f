"""The style of a part of a widget, for drawing it as content."""

from __future__ import annotations

from textual.style import Style
from textual.widget import Widget


def component_style(widget: Widget, name: str) -> Style:
    """Take a component's own colours and text style; Textual's partial style lacks backgrounds and `reverse`.

    Args:
        widget: Has the component among its `COMPONENT_CLASSES`.
        name: The component.
    """
    styles = widget.get_component_styles(name)
    text = styles.text_style
    return Style(
        background=styles.background if styles.has_rule("background") else None,
        foreground=styles.color if styles.has_rule("color") else None,
        bold=text.bold,
        dim=text.dim,
        italic=text.italic,
        underline=text.underline,
        reverse=text.reverse,
        strike=text.strike,
    )
