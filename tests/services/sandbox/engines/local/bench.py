"""A home, a workspace and a local engine on them, with short ways to run something and look at what became of it."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from services.home import Home
from services.output import SpoolReader, SpoolWriter, Stream
from services.sandbox.engines.engine import SandboxState
from services.sandbox.engines.local import LocalEngine
from services.sandbox.engines.local.supervisor import Record, is_alive, read_record
from services.sandbox.model import Limits, SandboxSpec

WAIT = 30.0
"""Seconds a condition may take; generous, since the machine may be busy."""

PATH = "/usr/local/bin:/usr/bin:/bin"
WITHOUT_BUBBLEWRAP = {"PATH": "/nowhere"}
WITH_BUBBLEWRAP = {"PATH": PATH}


class Bench:
    """What a test needs.

    Args:
        folder: An empty directory.
        confined: Whether the engine may find bubblewrap.
    """

    def __init__(self, folder: Path, *, confined: bool) -> None:
        self.confined = confined
        self.home = Home(folder / "home")
        self.home_id = secrets.token_hex(8)
        self.env = WITH_BUBBLEWRAP if confined else WITHOUT_BUBBLEWRAP
        self.workspace = folder / "work space: ünï"
        self.workspace.mkdir(parents=True)
        self.engine = self.another_engine()
        self._made = 0

    def another_engine(self) -> LocalEngine:
        """An engine as another Pinfold on this home has it."""
        return LocalEngine(self.home, self.home_id, self.env)

    def spec(self, *command: str, **changes: Any) -> SandboxSpec:
        """A sandbox of this home for a command."""
        self._made += 1
        spec = SandboxSpec(
            session=f"session-{self._made}",
            home=self.home_id,
            agent="worker",
            lifecycle="oneshot",
            image="",
            command=command,
            environment={} if self.confined else {"PATH": PATH},
            secrets=(),
            workspace=str(self.workspace),
            mounts=(),
            limits=Limits(),
            network="open",
            unconfined=True,
            stop_timeout=1.0,
            output_limit=256 * 1024 * 1024,
        )
        return msgspec.structs.replace(spec, **changes)

    def sh(self, script: str, *arguments: str, **changes: Any) -> SandboxSpec:
        """A sandbox for a shell script."""
        return self.spec("sh", "-c", script, "sh", *arguments, **changes)

    async def start(self, spec: SandboxSpec, values: Mapping[str, str] | None = None) -> str:
        """Create and start a sandbox."""
        sandbox = await self.engine.create(spec, values or {})
        await self.engine.start(sandbox)
        return sandbox

    async def run(self, spec: SandboxSpec, values: Mapping[str, str] | None = None) -> SandboxState:
        """Start a sandbox and wait for its end."""
        return await self.end(await self.start(spec, values))

    async def end(self, sandbox: str) -> SandboxState:
        """Wait until a sandbox has ended and its supervisor is gone."""
        with contextlib.closing(SpoolWriter.open(self.directory("-"), limit=1, keep_unindexed=True)) as unused:
            async with asyncio.timeout(WAIT):
                await self.engine.follow(sandbox, unused)
        return await self.engine.inspect(sandbox)

    async def script(self, script: str, *arguments: str, **changes: Any) -> list[str]:
        """Run a shell script to its end and return the lines of its standard output."""
        state = await self.run(self.sh(script, *arguments, **changes))
        return self.lines(state.id, Stream.STDOUT)

    def directory(self, sandbox: str) -> Path:
        return self.home.session_dir(sandbox)

    def record(self, sandbox: str) -> Record:
        """What the supervisor recorded."""
        record = read_record(self.directory(sandbox))
        assert record is not None
        return record

    def reader(self, sandbox: str) -> contextlib.closing[SpoolReader]:
        return contextlib.closing(SpoolReader.open(self.directory(sandbox) / "output"))

    def lines(self, sandbox: str, *streams: Stream) -> list[str]:
        """The lines of a sandbox's output; of some streams only when they are named."""
        with self.reader(sandbox) as reader:
            lines = reader.lines(reader.first, reader.end - reader.first)
            return [line.data.decode("utf-8", "replace") for line in lines if not streams or line.stream in streams]

    async def printed(self, sandbox: str, line: str) -> None:
        """Wait until a sandbox has printed a line."""
        await eventually(lambda: line in self.lines(sandbox))

    async def close(self) -> None:
        """Remove everything, also what the test's other engines made."""
        for state in await self.engine.list():
            await self.engine.remove(state.id)
        await self.engine.close()

    def left_running(self) -> list[str]:
        """The command lines of processes that carry this home's mark."""
        return [line for line in map(command_line, _processes_with(f"={self.home_id}/".encode())) if line]


def _processes_with(mark: bytes) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
    return found


def command_line(pid: int) -> str:
    """A process's command line; "" when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(WAIT):
        while not condition():
            await asyncio.sleep(0.01)


async def gone(record: Record) -> None:
    """Wait until a sandbox's supervisor and main process have ended."""
    known = [process for process in (record.supervisor, record.main) if process]
    await eventually(lambda: not any(map(is_alive, known)))


def bubblewrap_works() -> bool:
    try:
        command = ["bwrap", "--unshare-pid", "--ro-bind", "/", "/", "true"]
        return subprocess.run(command, capture_output=True, check=False, env=WITH_BUBBLEWRAP).returncode == 0
    except FileNotFoundError:
        return False
