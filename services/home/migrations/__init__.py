"""The database's tables, one numbered SQL file a version; a file is never changed once released."""

from __future__ import annotations

import sqlite3
from importlib import resources

from services.errors import DatabaseError


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables to the newest version, inside the caller's transaction.

    Raises:
        DatabaseError: A newer Pinfold wrote them.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    scripts = _scripts()
    if version > len(scripts):
        raise DatabaseError(
            "this home is from a newer Pinfold",
            why=f"its database has version {version}, this Pinfold knows {len(scripts)}",
            fix="Use the newer Pinfold, or another --home.",
        )
    for number, script in enumerate(scripts[version:], start=version + 1):
        for statement in _statements(script):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number}")


def _scripts() -> list[str]:
    found = (entry for entry in resources.files(__name__).iterdir() if entry.name.endswith(".sql"))
    return [entry.read_text(encoding="utf-8") for entry in sorted(found, key=lambda entry: entry.name)]


def _statements(script: str) -> list[str]:
    """Split a script; `executescript` would commit the transaction it runs in."""
    found: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    return found
