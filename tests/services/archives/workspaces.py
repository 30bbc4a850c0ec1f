"""Workspaces as they are on the disk, for comparing two of them."""

from __future__ import annotations

import stat
from pathlib import Path

_KINDS = {stat.S_IFDIR: "folder", stat.S_IFLNK: "link", stat.S_IFREG: "file"}


def described(root: Path) -> dict[str, tuple[str, int, int, bytes]]:
    """Everything below a folder by path: kind, mode, time and bytes; links by where they lead."""
    return {str(path.relative_to(root)): _described(path) for path in root.rglob("*")}


def _described(path: Path) -> tuple[str, int, int, bytes]:
    facts = path.lstat()
    kind = _KINDS[stat.S_IFMT(facts.st_mode)]
    data = path.read_bytes() if kind == "file" else bytes(path.readlink()) if kind == "link" else b""
    return kind, stat.S_IMODE(facts.st_mode), facts.st_mtime_ns, data
