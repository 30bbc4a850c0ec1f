"""The members of an archive as lines of a tree, as far as it is open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.figures import size
from tui.text import safe

if TYPE_CHECKING:
    from services.archives import KeptFile, Member, Tree

PAGE = 500
"""How many members of a folder are shown at first, and how many more each time."""

MORE = "\0more"
REFUSED = "\0refused"
_LONGEST = 400

_MEANINGS = {
    "manifest.toml": "what was done",
    "agent.toml": "its configuration",
    "memory.jsonl": "memories",
    "core_blocks.jsonl": "core blocks",
    "archive_entries.jsonl": "archive entries",
    "scopes.jsonl": "keys of scopes",
    "sessions": "sessions' output",
    "workspace": "its files",
    "checksums.sha256": "checksums",
    "workspace.tar.gz": "its files, packed",
    "workspace.tar.zst": "its files, packed",
    "workspace.jsonl": "list of its files",
}
"""What the files on top are, for people."""


@dataclass(frozen=True)
class Node:
    """One line of the tree.

    Attributes:
        key: The member's path; as the archive has it, so not clean.
        label: Clean text.
        depth: How far it is indented.
        open: Whether what is below it is shown; None where there is nothing below.
        amount: Size, or how many; "" where it is not known.
        note: What it is, or why it cannot be read; clean.
        refused: It is not read.
    """

    key: str
    label: str
    depth: int = 0
    open: bool | None = None
    amount: str = ""
    note: str = ""
    refused: bool = False
    member: Member | None = None


def outline(
    tree: Tree, opened: frozenset[str], pages: Mapping[str, int], files: tuple[KeptFile, ...]
) -> tuple[Node, ...]:
    """Write the tree as far as it is open; blocks.

    Args:
        tree: All members.
        opened: The keys of the lines that show what is below them.
        pages: How many pages of members each folder shows, by its path.
        files: What the manifest says of the files on top.
    """
    items = {file.name: file.items for file in files}
    return (*_folder(tree, "", 0, opened, pages, items), *_refused(tree, opened))


def _folder(
    tree: Tree, path: str, depth: int, opened: frozenset[str], pages: Mapping[str, int], items: Mapping[str, int]
) -> Iterator[Node]:
    members = tree.children(path)
    shown = PAGE * pages.get(path, 1)
    for member in members[:shown]:
        yield _node(tree, member, depth, opened, items)
        if member.kind == "folder" and member.path in opened:
            yield from _folder(tree, member.path, depth + 1, opened, pages, items)
    if len(members) > shown:
        yield Node(f"{path}{MORE}", f"{len(members) - shown:,} more", depth)


def _node(tree: Tree, member: Member, depth: int, opened: frozenset[str], items: Mapping[str, int]) -> Node:
    folder = member.kind == "folder"
    amount = f"{len(tree.children(member.path)):,}" if folder else size(member.size)
    note = _MEANINGS.get(member.path, "")
    if items.get(member.path) and member.path.endswith((".jsonl", ".gz", ".zst")):
        note = f"{items[member.path]:,} {note or 'rows'}"
    if member.target:
        note = f"leads to {safe(member.target[:_LONGEST])}"
    return Node(
        member.path,
        safe(member.name[:_LONGEST]),
        depth,
        open=member.path in opened if folder else None,
        amount=amount,
        note=note,
        member=member,
    )


def _refused(tree: Tree, opened: frozenset[str]) -> Iterator[Node]:
    if not tree.refused:
        return
    is_open = REFUSED in opened
    amount = f"{len(tree.refused):,}"
    yield Node(REFUSED, "not read", open=is_open, amount=amount, note="unsafe or damaged", refused=True)
    if is_open:
        for number, one in enumerate(tree.refused[:PAGE]):
            note = safe(f"{one.reason.value} {one.detail}".strip()[:_LONGEST])
            yield Node(f"{REFUSED}{number}", safe(one.name[:_LONGEST]), 1, note=note, refused=True)
