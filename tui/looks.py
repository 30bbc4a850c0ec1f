"""How states look wherever they are shown: always a sign and a word, and a tone beside them.

Imports no Textual, so that the command line shows them alike.
"""

from __future__ import annotations

from typing import Literal

Tone = Literal["", "muted", "strong", "accent", "good", "warn", "bad"]
"""What a text means; the theme, or the terminal's own colours, say how that looks."""

LOOKS: dict[str, tuple[str, Tone]] = {
    "preparing": ("busy", "accent"),
    "pulling": ("busy", "accent"),
    "creating": ("busy", "accent"),
    "starting": ("busy", "accent"),
    "running": ("running", "good"),
    "waiting": ("waiting", "warn"),
    "stopping": ("stopping", "warn"),
    "stopped": ("stopped", "muted"),
    "exited": ("done", "muted"),
    "failed": ("failed", "bad"),
    "killed": ("failed", "bad"),
    "out of memory": ("failed", "bad"),
    "lost": ("unknown", "warn"),
    "orphan": ("unknown", "warn"),
}
"""Of each state of a session, by its word: the name of a sign in `Glyphs`, and a tone."""

OPERATION_LOOKS: dict[str, tuple[str, Tone]] = {
    "waiting": ("idle", "muted"),
    "running": ("running", "good"),
    "interrupted": ("waiting", "warn"),
    "failed": ("failed", "bad"),
    "cancelled": ("stopped", "muted"),
    "done": ("done", "muted"),
}
"""Of each state of an operation or of one of its steps, by its word."""

ARCHIVE_LOOKS: dict[str, tuple[str, Tone]] = {
    "unsealed": ("busy", "warn"),
    "sealed": ("done", "good"),
    "missing": ("failed", "bad"),
    "unindexed": ("unknown", "warn"),
    "damaged": ("failed", "bad"),
    "purged": ("stopped", "muted"),
}
"""Of each state of an archive, by its word."""
