"""Where everything lies on disk."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from services.errors import PinfoldError
from services.home.files import read_file, write_whole
from services.home.locks import FileLock

_IDENTITY = re.compile(r"[0-9a-f]{16}")
_IDENTITY_WAIT = 10.0
_OTHER_HOME = "Name another --home."


@dataclass(frozen=True)
class Home:
    """The directory that holds one Pinfold: configs, workspaces, archives and state.

    Attributes:
        root: Absolute; need not exist yet.
    """

    root: Path

    @classmethod
    def locate(cls, option: str | os.PathLike[str] | None = None, env: Mapping[str, str] = os.environ) -> Home:
        """Choose the home: the option, else `$PINFOLD_HOME`, else `~/.pinfold`.

        Raises:
            PinfoldError: The place exists and is not a directory.
        """
        chosen = str(option or env.get("PINFOLD_HOME") or "~/.pinfold")
        try:
            root = Path(os.path.abspath(Path(chosen).expanduser()))  # noqa: PTH100 - resolve() would follow links
            usable = root.is_dir() or not root.exists()
        except (OSError, RuntimeError, ValueError) as error:
            raise PinfoldError(
                f"cannot use {chosen!r} as home", why=getattr(error, "strerror", None) or str(error), fix=_OTHER_HOME
            ) from error
        if not usable:
            raise PinfoldError(f"cannot use {root} as home", why="it is not a directory", fix=_OTHER_HOME)
        return cls(root)

    @property
    def exists(self) -> bool:
        """Whether the home was made by `pinfold init` or used before."""
        return self.config_file.exists() or self.agents_dir.is_dir()

    @property
    def config_file(self) -> Path:
        """`pinfold.toml`: what all agents share."""
        return self.root / "pinfold.toml"

    @property
    def agents_dir(self) -> Path:
        """One directory an agent, named by its alias."""
        return self.root / "agents"

    def agent_dir(self, alias: str) -> Path:
        """The directory of one agent."""
        return self.agents_dir / alias

    def agent_file(self, alias: str) -> Path:
        """The `agent.toml` of one agent."""
        return self.agent_dir(alias) / "agent.toml"

    def default_workspace(self, alias: str) -> Path:
        """The workspace of an agent that names none."""
        return self.agent_dir(alias) / "workspace"

    @property
    def archives_dir(self) -> Path:
        """What operations kept."""
        return self.root / "archives"

    @property
    def state_dir(self) -> Path:
        """What Pinfold itself keeps."""
        return self.root / "state"

    @property
    def database_file(self) -> Path:
        """SQLite: sessions, steps and activity."""
        return self.state_dir / "pinfold.db"

    @property
    def sessions_dir(self) -> Path:
        """One directory a session, named by its id."""
        return self.state_dir / "sessions"

    def session_dir(self, session_id: str) -> Path:
        """The output spool and prepared files of one session."""
        return self.sessions_dir / session_id

    @property
    def locks_dir(self) -> Path:
        """Files that exist only to be locked; never in an agent's own directory."""
        return self.state_dir / "locks"

    def agent_lock(self, alias: str) -> FileLock:
        """The lock held while an agent's files are changed."""
        return FileLock(self.locks_dir / f"agent-{alias}.lock", f"the agent {alias}")

    @property
    def schema_dir(self) -> Path:
        """JSON Schemas of the TOML files, for editors."""
        return self.state_dir / "schema"

    @property
    def themes_dir(self) -> Path:
        """The operator's own themes."""
        return self.root / "themes"

    def identity(self) -> str:
        """The id that labels this home's sandboxes: 16 hex digits, made on first use.

        Two homes on one engine never touch each other's sandboxes because their ids differ. Blocks on the disk for
        some milliseconds when it is made.

        Raises:
            PinfoldError: It cannot be read or made, or is damaged.
        """
        file = self.state_dir / "home-id"
        known = self._known_identity(file)
        if known:
            return known
        lock = FileLock(self.locks_dir / "home-id.lock", "the home's id")
        lock.acquire(timeout=_IDENTITY_WAIT)
        try:
            known = self._known_identity(file)  # another process may have made it meanwhile
            if known:
                return known
            fresh = secrets.token_hex(8)
            write_whole(file, f"{fresh}\n".encode())
            return fresh
        finally:
            lock.release()

    @staticmethod
    def _known_identity(file: Path) -> str:
        try:
            identity = read_file(file, limit=1024).data.decode("ascii", errors="replace").strip()
        except FileNotFoundError:
            return ""
        if not _IDENTITY.fullmatch(identity):
            raise PinfoldError(
                f"cannot tell which sandboxes belong to this home: {file} is damaged",
                why="it should hold 16 hexadecimal digits",
                fix="Restore it, or remove it to start as a new home.",
            )
        return identity
