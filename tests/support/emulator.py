"""The emulator of a terminal, with what pyte gets wrong put right."""

from __future__ import annotations

import re

import pyte
from wcwidth import wcwidth


class Emulator(pyte.Screen):
    """pyte's screen, which would stop at a character without width that is no combining mark to Python."""

    def draw(self, data: str) -> None:
        start = 0
        for index, character in enumerate(data):
            if character > "\u02ff" and wcwidth(character) == 0:
                super().draw(data[start:index])
                start = index + 1
                if self.cursor.x:
                    line = self.buffer[self.cursor.y]
                    column = self.cursor.x - 1
                    if not line[column].data and column:
                        column -= 1  # the right half of a wide character holds nothing
                    line[column] = line[column]._replace(data=line[column].data + character)
        super().draw(data[start:])


def without_what_pyte_misreads(data: bytes) -> bytes:
    """Drop the keyboard protocol's `CSI < u` and `CSI > 1 u`, of which pyte would print the `u`."""
    return re.sub(rb"\x1b\[[<>=][0-9;]*[a-zA-Z]", b"", data)
