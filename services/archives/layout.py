"""What lies where in an archive, and what its README tells people."""

from __future__ import annotations

import datetime
import re

MANIFEST = "manifest.toml"
CHECKSUMS = "checksums.sha256"
README = "README"
AGENT_FILE = "agent.toml"
MEMORY = "memory.jsonl"
CORE_BLOCKS = "core_blocks.jsonl"
ARCHIVE_ENTRIES = "archive_entries.jsonl"
SCOPES = "scopes.jsonl"
WORKSPACE_LIST = "workspace.jsonl"
WORKSPACE_TARS = ("workspace.tar.gz", "workspace.tar.zst")
WORKSPACE = "workspace"
"""The folder that all members of the workspace's tar lie in."""

SESSIONS = "sessions"
RECORD = "record.json"
OUTPUT = "output"

LEDGER = ".parts.jsonl"
"""What was written so far; gone once the archive is sealed."""

NOT_SUMMED = (MANIFEST, CHECKSUMS)
"""Files that `checksums.sha256` does not name: the index vouches for the manifest, and that for the checksums."""

_SECOND = 1_000_000_000
_NAME = re.compile(r"(?P<alias>[a-z0-9][a-z0-9_]*)-(?P<stamp>[0-9]{14})(-[1-9][0-9]{0,5})?")
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_STAMP = "%Y%m%d%H%M%S"


def archive_name(alias: str, at: int, number: int) -> str:
    """The directory of an archive.

    Args:
        alias: The agent's.
        at: Nanoseconds since 1970.
        number: 0 for the first of its second.
    """
    name = f"{alias}-{moment(at).strftime(_STAMP)}"
    return f"{name}-{number}" if number else name


def parsed_name(name: str) -> tuple[str, int] | None:
    """Tell the alias and the time, nanoseconds since 1970, of an archive's directory; None for any other name."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    try:
        at = datetime.datetime.strptime(found["stamp"], _STAMP).replace(tzinfo=datetime.UTC)
    except ValueError:
        return None
    return found["alias"], int(at.timestamp()) * _SECOND


def partial_name(archive: str) -> str:
    """The hidden directory an archive is made in."""
    return f".{archive}.partial"


def purged_name(archive: str) -> str:
    """The hidden directory an archive is removed from."""
    return f".{archive}.purged"


def is_session_name(name: str) -> bool:
    """Whether a session's id can be the name of its folder."""
    return _SESSION.fullmatch(name) is not None


def session_of(name: str) -> str:
    """The id of the session that a file of an archive is the record of; "" for any other file."""
    first, _, rest = name.partition("/")
    session, _, last = rest.partition("/")
    return session if (first, last) == (SESSIONS, RECORD) and is_session_name(session) else ""


def moment(at: int) -> datetime.datetime:
    """Whole seconds of a time in nanoseconds since 1970."""
    return datetime.datetime.fromtimestamp(at // _SECOND, tz=datetime.UTC)


README_TEXT = """\
This folder is what Pinfold kept of the agent {alias}. Everything in it can be read
without Pinfold.

manifest.toml          what was done, when, by whom, and what was counted
agent.toml             the agent's configuration as it was, byte for byte
workspace.tar.*        its workspace:     tar xf workspace.tar.*
workspace.jsonl        what is in that, with sizes, modes and SHA-256, a line each
memory.jsonl           what it stored:    jq -r '.key + ": " + .content' memory.jsonl
core_blocks.jsonl      what it always saw, and why that was changed
archive_entries.jsonl  what it put away
scopes.jsonl           keys of its contexts, a line each
sessions/ID/           record.json, and output/*.out: what the session printed
checksums.sha256       of all files but itself and manifest.toml:
                       sha256sum -c checksums.sha256

A file that is not here was empty or was not asked for; manifest.toml names all that
are. Times are nanoseconds since 1970, UTC, where they are not written out. A path in
workspace.jsonl that is not UTF-8 is there as base64 too, in "raw".

manifest.toml holds the SHA-256 of checksums.sha256; Pinfold's database that of
manifest.toml. `pinfold archives verify {archive}` compares all of them.

Symbolic and hard links of the workspace are kept as such. Sockets, named pipes and
devices were left out and are listed in manifest.toml, as is whatever could not be
read or changed while it was packed. Extended attributes (user.*) and POSIX access
control lists are kept:  tar --xattrs --xattrs-include='*' -xf workspace.tar.*
Others (security.*, trusted.*) are not.

To get the agent back: pinfold archives restore {archive}
"""
