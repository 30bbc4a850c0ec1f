"""What a session finds of its tools: a token, the sockets, a program for stdio, and a config for MCP clients.

| in `/run/pinfold` | is |
| --- | --- |
| `token` | the session's token, for its own user alone |
| `mcp.json` | what `--mcp-config` of an MCP client takes, with the token where HTTP needs it; for its own user alone |
| `tools/` | the sockets of the tool server |
| `tools-stdio` | an MCP server over standard input and output |

A sandbox that nothing confines finds the same in its session's directory.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import msgspec

from services.agents import Tools
from services.sandbox.egress import HTTP_SOCKET, TOOLS_PORT
from services.sandbox.model import Mount
from services.sandbox.prepare import SHARED
from services.sandbox.session_files import SessionFiles
from services.sandbox.tools.grants import Token

URL = f"http://127.0.0.1:{TOOLS_PORT}/mcp"

INLET_PYTHON = Path("/usr/bin/python3")
"""What listens on the loopback device of a local sandbox, which sees this machine's /usr."""

_INLET = Path(__file__).parent.parent / "egress" / "inlet.py"
_BRIDGE = Path(__file__).parent / "bridge"
_PROGRAMS = {"tools-stdio": 0o755, "stdio.py": 0o644, "stdio.js": 0o644, "stdio.pl": 0o644}


class _Server(msgspec.Struct, omit_defaults=True):
    """One server of an MCP client's config."""

    type: str
    command: str = ""
    url: str = ""
    headers: dict[str, str] = {}


class _Servers(msgspec.Struct, rename="camel"):
    """An MCP client's config."""

    mcp_servers: dict[str, _Server]


@dataclass(frozen=True)
class Delivery:
    """The tools of one session.

    Attributes:
        tools: How they are reached.
        files: The session's files.
        sockets: Where the tool server listens.
        confined: Whether the sandbox sees mounts at their targets instead of this machine's paths.
    """

    tools: Tools
    files: SessionFiles
    sockets: Path
    confined: bool

    @property
    def directory(self) -> str:
        """Where the session finds it all."""
        return SHARED if self.confined else str(self.files.shared)

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """What shows it inside."""
        return (
            Mount(str(self.files.shared), SHARED, writable=False),
            Mount(str(self.sockets), f"{SHARED}/tools", writable=False),
        )

    @property
    def environment(self) -> dict[str, str]:
        """The variables that tell programs of it; none is secret."""
        told = {
            "PINFOLD_TOKEN_FILE": f"{self.directory}/token",
            "PINFOLD_MCP_CONFIG": f"{self.directory}/mcp.json",
            "PINFOLD_TOOLS_STDIO": f"{self.directory}/tools-stdio",
        }
        return told | ({"PINFOLD_TOOLS_URL": URL} if self.tools == "http" else {})

    def led_to(self, command: tuple[str, ...], *, by_engine: bool) -> tuple[str, ...]:
        """Put a command behind what leads its loopback device to the tools, where its engine does not.

        Args:
            command: argv.
            by_engine: The engine itself leads there.
        """
        if self.tools != "http" or by_engine:
            return command
        socket = f"{self.directory}/tools/{HTTP_SOCKET}"
        inlet = (str(INLET_PYTHON), "-I", "-S", "-B", f"{self.directory}/inlet.py", socket, str(TOOLS_PORT))
        return (*inlet, *command)

    def write(self, token: Token, owner: tuple[int, int] | None) -> None:
        """Put everything into the session's shared directory; blocks for moments.

        Args:
            token: The session's.
            owner: Whom the sandbox runs as, where that is somebody else; uid and gid.

        Raises:
            OSError: The disk refuses.
        """
        shared = self.files.shared
        if self.confined:
            (shared / "tools").mkdir(exist_ok=True, mode=0o755)
        else:
            (shared / "tools").symlink_to(self.sockets)
        for name, mode in _PROGRAMS.items():
            shutil.copyfile(_BRIDGE / name, shared / name)
            (shared / name).chmod(mode)
        shutil.copyfile(_INLET, shared / _INLET.name)
        (shared / _INLET.name).chmod(0o644)
        _write_private(shared / "token", f"{token.reveal()}\n".encode(), owner)
        _write_private(shared / "mcp.json", self._config(token), owner)

    def _config(self, token: Token) -> bytes:
        if self.tools == "http":
            server = _Server("http", url=URL, headers={"Authorization": f"Bearer {token.reveal()}"})
        else:
            server = _Server("stdio", command=f"{self.directory}/tools-stdio")
        return msgspec.json.format(msgspec.json.encode(_Servers({"pinfold": server}))) + b"\n"


def _write_private(file: Path, data: bytes, owner: tuple[int, int] | None) -> None:
    """Write a new file that nobody but its owner can ever have opened."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(data)
        if owner is not None and os.geteuid() == 0:
            os.fchown(opened.fileno(), *owner)
