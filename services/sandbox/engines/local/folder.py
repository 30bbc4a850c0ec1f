"""What the local engine keeps of a sandbox in its session's directory."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import msgspec

from services.errors import EngineError, SandboxGone
from services.home import FileLock, Home, make_directory, write_whole
from services.sandbox.engines.local.bubblewrap import Scratch
from services.sandbox.engines.local.supervisor import RECORD_FILE, Record, RecordDamaged, read_record
from services.sandbox.model import SandboxSpec

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_LOG_TAIL = 2000


@dataclass(frozen=True, slots=True)
class SandboxFolder:
    """The files of one sandbox; its id is the session's.

    Attributes:
        directory: The session's directory, shared with its output and other files, which stay when the sandbox goes.
    """

    directory: Path

    @classmethod
    def of(cls, home: Home, sandbox: str) -> SandboxFolder:
        """Name the files of a sandbox.

        Raises:
            SandboxGone: This cannot be the id of one.
        """
        if _NAME.fullmatch(sandbox) is None:
            raise SandboxGone(f"there is no sandbox {sandbox!r}")
        return cls(home.session_dir(sandbox))

    @property
    def output(self) -> Path:
        """The spool."""
        return self.directory / "output"

    @property
    def scratch(self) -> Scratch:
        """What stands in for /tmp and the home."""
        return Scratch(self.directory / "scratch" / "tmp", self.directory / "scratch" / "home")

    @property
    def log(self) -> Path:
        """What a supervisor says when it fails."""
        return self.directory / "supervisor.log"

    @property
    def record_file(self) -> Path:
        """What the supervisor records."""
        return self.directory / RECORD_FILE

    def lock(self) -> FileLock:
        """Held by whoever settles what a dead supervisor left."""
        return FileLock(self.directory / "local.lock", f"the record of sandbox {self.directory.name}")

    @property
    def _spec_file(self) -> Path:
        return self.directory / "sandbox.json"

    def make(self, spec: SandboxSpec) -> None:
        """Make the directories and write the spec, which holds the names of secrets and never their values."""
        for directory in (self.directory, self.scratch.temporary, self.scratch.home):
            make_directory(directory)
        write_whole(self._spec_file, msgspec.json.format(msgspec.json.encode(spec)) + b"\n")

    def spec(self, home_id: str) -> SandboxSpec:
        """Read the spec.

        Raises:
            SandboxGone: There is none, or it belongs to another home.
            EngineError: It cannot be read.
        """
        try:
            spec = msgspec.json.decode(self._spec_file.read_bytes(), type=SandboxSpec)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise SandboxGone(f"there is no sandbox {self.directory.name}") from error
        except OSError as error:
            raise EngineError(f"cannot read {self._spec_file}", why=error.strerror or str(error)) from error
        except msgspec.DecodeError as error:
            raise EngineError(f"{self._spec_file} is damaged", why=str(error), fix="Remove the session.") from error
        if spec.home != home_id:
            raise SandboxGone(f"there is no sandbox {self.directory.name}", why="it belongs to another home")
        return spec

    def record(self) -> Record | None:
        """Read what the supervisor recorded; None when it never did.

        Raises:
            EngineError: It cannot be read.
        """
        try:
            return read_record(self.directory)
        except RecordDamaged as error:
            raise EngineError(f"{self.record_file} is damaged", why=str(error), fix="Remove the session.") from error
        except OSError as error:
            raise EngineError(f"cannot read {self.record_file}", why=error.strerror or str(error)) from error

    def last_words(self) -> str:
        """The last line a failed supervisor wrote; "" when there is none."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _LOG_TAIL))
                lines = file.read().decode(errors="replace").split("\n")
        except FileNotFoundError:
            return ""
        return next((line for line in reversed(lines) if line.strip()), "")

    def remove(self) -> None:
        """Remove everything but the output.

        Raises:
            EngineError: Something cannot be removed.
        """
        try:
            _remove_tree(self.directory / "scratch")
            for file in (self.record_file, self.log, self.lock().path, self._spec_file):
                file.unlink(missing_ok=True)
        except OSError as error:
            raise EngineError(
                f"cannot remove the files of sandbox {self.directory.name}", why=error.strerror or str(error)
            ) from error


def _remove_tree(directory: Path) -> None:
    if not directory.exists():
        return
    try:
        shutil.rmtree(directory)
    except PermissionError:  # an agent took rights away from its own directories
        for folder, inner, _ in os.walk(directory):
            for path in (Path(folder, name) for name in inner):
                if not path.is_symlink():
                    path.chmod(0o700)
        shutil.rmtree(directory)
