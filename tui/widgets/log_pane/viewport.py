"""Which rows of the output are on screen, in plain numbers; knows nothing of drawing.

A row is one line of what is shown: of all output, or of what passes a filter. Wrapped, a row has several parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Place(NamedTuple):
    """A row, and one of its parts."""

    row: int
    part: int = 0


class Viewport:
    """Keeps its place by row number, so that nothing that arrives or is dropped elsewhere moves what is shown.

    Heights are asked for only near the place shown: there may be millions of rows.

    Args:
        parts_of: How many parts a row has now, at least 1.

    Attributes:
        first, end: The rows there are: from `first` to before `end`.
        height: Parts that fit on screen.
        top: What is shown first.
        following: Whether the newest row stays in sight.
    """

    def __init__(self, parts_of: Callable[[int], int]) -> None:
        self._parts_of = parts_of
        self.first = 0
        self.end = 0
        self.height = 0
        self.top = Place(0)
        self.following = True

    def take(self, first: int, end: int) -> None:
        """Learn which rows there are now."""
        self.first, self.end = first, end
        self.settle()

    def settle(self) -> None:
        """Follow the end, or keep the place as far as it still exists."""
        if self.following:
            self.top = self.last_top()
            return
        row, part = self.top
        if row < self.first:
            row, part = self.first, 0
        if part and row < self.end:
            part = min(part, self._parts_of(row) - 1)
        self.top = Place(row, part)
        if self._near_end() and self.top > (last := self.last_top()):
            self.top = last

    def visible(self) -> list[Place]:
        """Every part on screen, from the top down; fewer than `height` where the output is shorter."""
        places: list[Place] = []
        row, part = self.top
        while row < self.end and len(places) < self.height:
            parts = self._parts_of(row)
            stop = min(parts, part + self.height - len(places))
            places += [Place(row, index) for index in range(part, stop)]
            row, part = row + 1, 0
        return places

    def last_top(self) -> Place:
        """The top with which the last part stands on the bottom row of the screen."""
        row, free = self.end, self.height
        while row > self.first and free > 0:
            row -= 1
            free -= self._parts_of(row)
        return Place(max(row, self.first), max(-free, 0))

    @property
    def at_end(self) -> bool:
        """Whether the newest row is in sight."""
        return self._near_end() and self.top >= self.last_top()

    def shows(self, row: int) -> bool:
        """Whether a row is on screen, whole or from its beginning."""
        if not self.top.row <= row < self.top.row + self.height:
            return False
        shown = [place.part for place in self.visible() if place.row == row]
        return len(shown) == self._parts_of(row) or (bool(shown) and shown[0] == 0)

    def move(self, parts: int) -> None:
        """Scroll down, or up when negative, at most to either end."""
        row, part = self.top
        part += parts
        while part < 0 and row > self.first:
            row -= 1
            part += self._parts_of(row)
        while row < self.end - 1 and part >= (height := self._parts_of(row)):
            part -= height
            row += 1
        self._go(Place(row, max(part, 0)))

    def show(self, row: int) -> None:
        """Stay, with a row in sight: at a third of the screen, unless it is whole on screen already."""
        self.following = False
        if self.shows(row):
            return
        self.top = Place(max(min(row, self.end - 1), self.first))
        self.move(-(self.height // 3))

    def go_to(self, place: Place) -> None:
        """Show a place first, or what is nearest to it."""
        self._go(Place(max(min(place.row, self.end - 1), self.first), place.part))

    def _go(self, place: Place) -> None:
        self.following = False
        self.top = place
        self.settle()

    def _near_end(self) -> bool:
        return self.end - self.top.row <= self.height
