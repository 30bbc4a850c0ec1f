"""Puts rows of the screen together: gutter, line, and what lies over them."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import COLOR_SYSTEMS
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from services.output import Level, Stream
from tui.figures import counted
from tui.glyphs import glyphs
from tui.widgets.component import component_style
from tui.widgets.log_pane.colours import Ground
from tui.widgets.log_pane.gutter import DATED_WIDTH, SIGN_WIDTH, TIME_WIDTH, sign, time_text
from tui.widgets.log_pane.painting import LinePainter, Looks, Marking, Part
from tui.widgets.log_pane.sheet import Sheet
from tui.widgets.log_pane.viewport import Place

COMPONENTS = frozenset(
    {
        "log-lines--time",
        "log-lines--stderr",
        "log-lines--note",
        "log-lines--error",
        "log-lines--warning",
        "log-lines--debug",
        "log-lines--hit",
        "log-lines--cut",
        "log-lines--pointer",
        "log-lines--cursor",
        "log-lines--selected",
        "log-lines--badge",
        "log-lines--empty",
    }
)

BAR_WIDTH = 1

_KEPT = 400
_LEVELS = {Level.ERROR: "error", Level.WARNING: "warning", Level.DEBUG: "debug"}


@dataclass(frozen=True)
class View:
    """How lines are laid out.

    Attributes:
        width: Columns for gutter, text and scroll bar.
        wrap: Break long lines instead of cutting them.
        times: Show when lines came.
        dated: With month and day.
        sideways: Columns scrolled to the right.
        wanted: What is searched for.
    """

    width: int = 0
    wrap: bool = False
    times: bool = False
    dated: bool = False
    sideways: int = 0
    wanted: Marking | None = None

    @property
    def room(self) -> int:
        """Columns for text."""
        times = (DATED_WIDTH if self.dated else TIME_WIDTH) if self.times else 0
        return max(self.width - SIGN_WIDTH - times - BAR_WIDTH, 1)


class Styles:
    """The component styles of a widget, complete with its background; worked out once."""

    def __init__(self, widget: Widget) -> None:
        self.base = widget.visual_style.rich_style
        own = {name.rpartition("-")[2]: component_style(widget, name).rich_style for name in COMPONENTS}
        self.over = own
        """What a component lays over another style."""
        self.on_base = {name: self.base + style for name, style in own.items()}
        """What a component looks like by itself."""
        app = widget.app
        system = COLOR_SYSTEMS[app.console.color_system or "truecolor"]
        self.looks = Looks(
            ground=Ground(self.base, app.ansi_theme, app.native_ansi_color, system),
            note=self.on_base["note"],
            levels={level: self.on_base[name] for level, name in _LEVELS.items()},
            hit=own["hit"],
            cut=self.on_base["cut"],
        )


class RowDrawing:
    """Draws rows of the screen for one view; each once while it stays the same."""

    def __init__(self, sheet: Sheet, styles: Styles, view: View) -> None:
        self._sheet = sheet
        self._styles = styles
        self._view = view
        self._strips: dict[Place, Strip] = {}

    def strip(self, place: Place, *, at_cursor: bool, selected: bool) -> Strip:
        """One row of the screen, as wide as the view."""
        if at_cursor or selected:
            return self._assembled(place, at_cursor=at_cursor, selected=selected)
        strip = self._strips.get(place)
        if strip is None:
            if len(self._strips) >= _KEPT:
                self._strips.clear()
            strip = self._strips[place] = self._assembled(place)
        return strip

    def forget(self) -> None:
        """Draw every row anew."""
        self._strips.clear()

    def with_badge(self, strip: Strip, unseen: int) -> Strip:
        """Say over the right end of a row how many rows came that were not in sight."""
        text = f" {counted(unseen, 'new line')} {'v' if glyphs().ascii else '↓'} "
        behind = self._view.width - BAR_WIDTH
        start = max(behind - len(text), 0)
        badge = Segment(text[: behind - start], self._styles.on_base["badge"])
        return Strip([*strip.crop(0, start), badge, *strip.crop(behind)], self._view.width)

    def remark(self, text: str) -> Strip:
        """A row without a line, with something to say or nothing."""
        text = f"  {text}"[: self._view.width].ljust(self._view.width)
        return Strip([Segment(text, self._styles.on_base["empty"])], self._view.width)

    def _assembled(self, place: Place, *, at_cursor: bool = False, selected: bool = False) -> Strip:
        view, styles = self._view, self._styles
        line = self._sheet.line(place.row)
        mark = styles.on_base["stderr" if line.stream is Stream.STDERR else "note"]
        pointer = glyphs().pointer if at_cursor else "\u00b7" if selected else " "
        segments = [Segment(sign(line.stream), mark), Segment(pointer, styles.on_base["pointer"])]
        if view.times:
            text = time_text(0 if place.part else line.at, dated=view.dated)
            segments.append(Segment(text, styles.on_base["time"]))
        parts = self._sheet.parts(place.row)
        body, width = self._in_sight(parts[min(place.part, len(parts) - 1)])
        segments += body
        segments.append(Segment(" " * (view.room - width + BAR_WIDTH), styles.base))
        if at_cursor or selected:
            segments = [self._laid_under(segment, "cursor" if at_cursor else "selected") for segment in segments]
        if view.room == 1:  # so narrow that even the gutter may not fit
            return Strip(segments).adjust_cell_length(view.width, styles.base)
        return Strip(segments, view.width)

    def _laid_under(self, segment: Segment, name: str) -> Segment:
        """A segment on another ground, unless it has one of its own: a hit, or an agent's colour."""
        style = segment.style or self._styles.base
        if style.bgcolor != self._styles.base.bgcolor or style.reverse:
            return segment
        return Segment(segment.text, style + self._styles.over[name])

    def _in_sight(self, part: Part) -> Part:
        """The columns of a line that are in sight; a sign at the edge says that it goes on."""
        room, start = self._view.room, self._view.sideways
        if part.width <= room and not start:
            return part
        whole = Strip(part.segments, part.width)
        if part.width <= start + room:
            seen = whole.crop(start, start + room)
            return Part(list(seen), seen.cell_length)
        edge = Segment(glyphs().ellipsis, self._styles.on_base["cut"])
        return Part([*whole.crop(start, start + room - 1), edge], room)


def painter_for(styles: Styles, view: View) -> LinePainter:
    """What paints lines in a view."""
    opens = " \u23ce" if not glyphs().ascii else " enter"
    note = f" {glyphs().ellipsis} {{}} bytes,{opens} shows all"
    return LinePainter(styles.looks, view.room if view.wrap else None, view.wanted, note)
