"""The tables on a PostgreSQL server, one numbered SQL file a version; a file is never changed once released."""

from __future__ import annotations

from importlib import resources


def scripts() -> list[str]:
    """Read every script, the oldest first."""
    found = (entry for entry in resources.files(__name__).iterdir() if entry.name.endswith(".sql"))
    return [entry.read_text(encoding="utf-8") for entry in sorted(found, key=lambda entry: entry.name)]
