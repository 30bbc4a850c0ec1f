"""Where everything lies on disk."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from services.errors import PinfoldError
from services.home.files import write_whole


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
        chosen = option or env.get("PINFOLD_HOME") or Path.home() / ".pinfold"
        root = Path(os.path.abspath(Path(chosen).expanduser()))  # noqa: PTH100 - resolve() would follow links
        if root.exists() and not root.is_dir():
            raise PinfoldError(f"cannot use {root} as home", why="it is not a directory", fix="Name another --home.")
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
    def themes_dir(self) -> Path:
        """The operator's own themes."""
        return self.root / "themes"

    def identity(self) -> str:
        """The id that labels this home's sandboxes: 16 hex digits, made on first use.

        Two homes on one engine never touch each other's sandboxes because their ids differ.
        """
        file = self.state_dir / "home-id"
        try:
            return self._known_identity(file)
        except FileNotFoundError:
            pass
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = file.with_name(f".home-id-{os.getpid()}-{secrets.token_hex(4)}")
        write_whole(fresh, f"{secrets.token_hex(8)}\n".encode())
        try:
            os.link(fresh, file)  # the first of several processes wins
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
        return self._known_identity(file)

    @staticmethod
    def _known_identity(file: Path) -> str:
        identity = file.read_text(encoding="ascii", errors="replace").strip()
        if len(identity) != 16 or not all(c in "0123456789abcdef" for c in identity):
            raise PinfoldError(
                f"cannot tell which sandboxes belong to this home: {file} is damaged",
                why="it should hold 16 hexadecimal digits",
                fix="Restore it, or remove it to start as a new home.",
            )
        return identity
