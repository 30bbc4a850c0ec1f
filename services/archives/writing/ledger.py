"""What of an archive is written so far, kept beside it so that an operation that was killed goes on where it was."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from services.archives.layout import LEDGER
from services.archives.model import ArchiveDraft, Part
from services.archives.writing.files import FileSum, sync_directory
from services.errors import ArchiveDamaged


class Written(msgspec.Struct, frozen=True):
    """A part with the files it consists of; files that are none take it back."""

    part: Part
    files: tuple[FileSum, ...]


class Beginning(msgspec.Struct, frozen=True):
    """The first line: what the archive is made for, and when it was begun.

    Attributes:
        at: Nanoseconds since 1970.
    """

    draft: ArchiveDraft
    at: int


@dataclass
class Ledger:
    """The parts that are surely there; blocks. Several threads may use it.

    Attributes:
        beginning: What the archive is made for.
        written: By the part's name; a new mapping after every change.
    """

    directory: Path
    beginning: Beginning
    written: Mapping[str, Written] = field(default_factory=dict)
    _changing: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def begin(cls, directory: Path, beginning: Beginning) -> Ledger:
        """Start one in an empty directory.

        Raises:
            OSError: The disk refuses.
        """
        ledger = cls(directory, beginning)
        ledger._append(beginning)
        sync_directory(directory)
        return ledger

    @classmethod
    def load(cls, directory: Path) -> Ledger:
        """Read what was written; a last line that was cut is none.

        Raises:
            ArchiveDamaged: There is none.
            OSError: It cannot be read.
        """
        file = directory / LEDGER
        try:
            data = file.read_bytes()
        except FileNotFoundError as error:
            raise ArchiveDamaged(f"cannot go on with {directory.name}", why=f"it has no {LEDGER}") from error
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            os.truncate(file, len(whole))
        first, *lines = whole.split(b"\n")
        try:
            ledger = cls(directory, msgspec.json.decode(first, type=Beginning))
            for line in filter(None, lines):
                ledger._take(msgspec.json.decode(line, type=Written))
        except msgspec.MsgspecError as error:
            raise ArchiveDamaged(f"cannot go on with {directory.name}", why=f"{LEDGER}: {error}") from error
        return ledger

    def add(self, written: Written) -> None:
        """Note a part whose files are on the disk."""
        with self._changing:
            self._append(written)
            self._take(written)

    def drop(self, name: str) -> None:
        """Note that a part counts as written no longer; its files go."""
        with self._changing:
            if (written := self.written.get(name)) is None:
                return
            gone = Written(written.part, ())
            self._append(gone)
            self._take(gone)
        for file in written.files:
            with contextlib.suppress(FileNotFoundError):
                (self.directory / file.name).unlink()

    def files(self) -> list[FileSum]:
        """All files of all parts, by name."""
        return sorted((file for written in self.written.values() for file in written.files), key=lambda file: file.name)

    def _take(self, written: Written) -> None:
        others = {name: other for name, other in self.written.items() if name != written.part.name}
        self.written = {**others, written.part.name: written} if written.files else others

    def _append(self, line: msgspec.Struct) -> None:
        descriptor = os.open(self.directory / LEDGER, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            data = msgspec.json.encode(line) + b"\n"
            if os.write(descriptor, data) != len(data):
                raise OSError(28, "the disk is full", str(self.directory / LEDGER))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
