"""One agent's memory files, taken apart to be changed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time

from services.memory.agents.importance import estimated
from services.memory.agents.markdown.folder import MEMORY, File, Folder, Stamp
from services.memory.agents.markdown.text import Item, Mark, Piece, pieces_of, written
from services.memory.agents.model import CORE, DAILY, Row

_SECOND = 1_000_000_000


class _Document:
    def __init__(self, name: str, text: str, stamp: Stamp, modified: int) -> None:
        self.name = name
        self.stem = name.removesuffix(".md")
        self.stamp = stamp
        self.before = text
        self.pieces = pieces_of(text, self.stem)
        self.keys = {piece.item.key for piece in self.pieces if piece.item}
        self._time = modified if name == MEMORY else _start_of(self.stem, modified)

    @property
    def is_core(self) -> bool:
        return self.name == MEMORY

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    def row(self, item: Item, alias: str) -> Row:
        mark = item.mark or Mark(
            id=hashlib.sha256(f"{self.stem}\0{item.key}\0{item.content}".encode()).hexdigest()[:32],
            importance=estimated(CORE if self.is_core else DAILY, item.content),
            created_at=self._time,
            updated_at=self._time,
        )
        category = CORE if self.is_core else (mark.category if mark.category not in ("", CORE) else DAILY)
        return Row(
            id=mark.id,
            agent=alias,
            agent_id=alias,
            key=item.key,
            content=item.content,
            category=category,
            session=mark.session,
            importance=mark.importance,
            pinned=mark.pinned,
            superseded_by=mark.superseded_by,
            findings=mark.findings,
            withheld=mark.withheld,
            created_at=mark.created_at,
            updated_at=mark.updated_at,
        )

    def put(self, row: Row) -> None:
        mark = Mark(
            id=row.id,
            category="" if self.is_core else row.category,
            session=row.session,
            importance=row.importance,
            pinned=row.pinned,
            superseded_by=row.superseded_by,
            findings=row.findings,
            withheld=row.withheld,
            created_at=row.created_at,
            updated_at=row.updated_at,
        )
        item = Item(row.key, row.content, mark)
        piece = Piece(written(item), item)
        if row.key in self.keys:
            places = [number for number, old in enumerate(self.pieces) if old.item and old.item.key == row.key]
            self.pieces[places[0]] = piece
            for number in reversed(places[1:]):
                del self.pieces[number]
            return
        self.keys.add(row.key)
        last = next((old.text for old in reversed(self.pieces) if old.text), "")
        if not last:
            title = "Long-Term Memory" if self.is_core else f"Daily Log — {self.stem}"
            self.pieces.append(Piece(f"# {title}\n\n"))
        elif not last.endswith("\n"):
            self.pieces.append(Piece("\n"))
        self.pieces.append(piece)

    def remove(self, keys: AbstractSet[str]) -> None:
        if not keys.isdisjoint(self.keys):
            self.pieces = [piece for piece in self.pieces if piece.item is None or piece.item.key not in keys]
            self.keys -= keys


class Documents:
    """The memory files of one agent.

    Args:
        alias: The agent.
        files: As they were read.
    """

    def __init__(self, alias: str, files: Sequence[File]) -> None:
        self._alias = alias
        self._all = {file.name: _Document(file.name, file.text, file.stamp, file.modified) for file in files}

    def rows(self) -> dict[str, Row]:
        """Every row by its key; of rows with the same key the one stored last."""
        found: dict[str, Row] = {}
        for document in self._all.values():
            for piece in document.pieces:
                if piece.item is not None:
                    row = document.row(piece.item, self._alias)
                    known = found.get(row.key)
                    if known is None or row.updated_at > known.updated_at:
                        found[row.key] = row
        return found

    def put(self, row: Row) -> None:
        """Store a row over those with its key: in place if it can stay there, else in the file it belongs in."""
        holding = [name for name, document in self._all.items() if row.key in document.keys]
        fitting = [name for name in holding if (name == MEMORY) == (row.category == CORE)]
        target = fitting[0] if fitting else self._file_for(row)
        for name in holding:
            if name != target:
                self._all[name].remove({row.key})
        self._all.setdefault(target, _Document(target, "", None, row.updated_at)).put(row)

    def remove(self, keys: AbstractSet[str]) -> int:
        """Delete rows, and count those that were there."""
        count = len(keys & self.rows().keys())
        for document in self._all.values():
            document.remove(keys)
        return count

    def write_to(self, folder: Folder) -> None:
        """Write the files that changed: those that grew first, so that a row that moves is never in none."""
        changed = [document for document in self._all.values() if document.text != document.before]
        for document in sorted(changed, key=lambda document: len(document.before) - len(document.text)):
            folder.write(document.name, document.text, document.stamp)

    @staticmethod
    def _file_for(row: Row) -> str:
        return MEMORY if row.category == CORE else f"{_day_of(row.updated_at)}.md"


def _day_of(at: int) -> str:
    return datetime.fromtimestamp(at / _SECOND).astimezone().date().isoformat()


def _start_of(day: str, otherwise: int) -> int:
    """The beginning of a day here, nanoseconds since 1970; a file may be called by a day that never was."""
    try:
        moment = datetime.combine(date.fromisoformat(day), time.min).astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        return otherwise
    return max(int(moment), 0) * _SECOND
