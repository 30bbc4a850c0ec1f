"""What every engine can do. One small protocol; docker and local both keep it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Literal, Protocol

import msgspec

from services.output import SpoolWriter
from services.sandbox.egress import Refusal
from services.sandbox.model import SandboxSpec

Signal = Literal["INT", "TERM", "KILL"]


class EngineStatus(msgspec.Struct, frozen=True):
    """What an engine says of itself.

    Attributes:
        problem: Why it is not usable, "" when it is.
        fix: What the operator can do about `problem`.
        version: For people, "" when unknown.
        address: Where it answers: a socket's path, a host.
        identity: Differs between engines and stays over their restarts; "" when unknown.
        notes: What it lacks or should change: no live-restore, no bubblewrap, …
        confined: Whether what it runs is kept from the rest of the machine.
        keeps_allowlist: Whether it can keep a sandbox to the hosts its policy allows.
    """

    name: str
    usable: bool
    problem: str = ""
    fix: str = ""
    version: str = ""
    address: str = ""
    identity: str = ""
    notes: tuple[str, ...] = ()
    confined: bool = True
    keeps_allowlist: bool = False


class SandboxState(msgspec.Struct, frozen=True):
    """What an engine knows of one sandbox.

    Attributes:
        id: The engine's id; handed back in every later call.
        session, agent: From the labels.
        status: `created` until started; `exited` once the main process ended.
        exit_code: As a shell reports it; None unless exited.
        out_of_memory: The main process was killed for memory. `child_out_of_memory`: only a child was.
        error: The engine's own words for a start that failed, cleaned of nothing: hostile until shown by `safe`.
        started_at, ended_at: Nanoseconds since 1970, None when it did not happen.
    """

    id: str
    session: str
    agent: str
    status: Literal["created", "running", "exited"]
    exit_code: int | None = None
    out_of_memory: bool = False
    child_out_of_memory: bool = False
    error: str = ""
    started_at: int | None = None
    ended_at: int | None = None


class Usage(msgspec.Struct, frozen=True):
    """What a sandbox uses at one moment.

    Attributes:
        at: Nanoseconds since 1970.
        cpu: Cores busy since the sample before, 0.5 is half of one; None for the first sample.
        cpu_seconds: Processor time since the start, seconds.
        memory: Bytes in use, without the page cache.
        memory_limit: Bytes; None is unlimited.
        pids: Processes and threads.
    """

    at: int
    cpu: float | None
    cpu_seconds: float
    memory: int
    memory_limit: int | None
    pids: int


class Refusals(msgspec.Struct, frozen=True):
    """What a sandbox was kept from reaching since somebody last asked.

    Attributes:
        found: Oldest first; targets are hostile until shown by `safe`.
        position: Where to go on next time.
        complete: The sandbox has ended, and nothing will follow.
    """

    found: tuple[Refusal, ...]
    position: int
    complete: bool


class PullProgress(msgspec.Struct, frozen=True):
    """How far an image has come.

    Attributes:
        layers: Layers seen so far; `done` of them are complete.
        received, size: Bytes over all layers known; size is 0 while unknown.
    """

    image: str
    layers: int
    done: int
    received: int
    size: int


class Shell(Protocol):
    """An interactive terminal inside a sandbox."""

    async def read(self) -> bytes:
        """Wait for output; b"" once the shell has ended."""
        ...

    async def write(self, data: bytes) -> None:
        """Send what was typed."""
        ...

    async def resize(self, columns: int, rows: int) -> None:
        """Tell the shell how large the terminal is now."""
        ...

    async def wait(self) -> int:
        """Wait for the end and return the exit status."""
        ...

    async def close(self) -> None:
        """Hang up; ends the shell's own process only."""
        ...


class Engine(Protocol):
    """Something that runs sandboxes.

    Every method may raise `EngineUnavailable` (it does not answer) and `EngineError` (it refused). Methods that take
    a sandbox's id raise `SandboxGone` when the engine does not know it, or it belongs to another home.
    """

    @property
    def name(self) -> str:
        """`docker` or `local`."""
        ...

    async def status(self) -> EngineStatus:
        """Ask whether it is usable; never raises, and answers within some seconds whatever the engine does."""
        ...

    async def has_image(self, image: str) -> bool:
        """Whether the image is here; always true where an engine has no images."""
        ...

    def pull(self, image: str) -> AsyncGenerator[PullProgress, None]:
        """Fetch an image.

        Raises:
            ImageMissing: It is not to be had; names the image and the registry's reason.
        """
        ...

    async def create(self, spec: SandboxSpec, secrets: Mapping[str, str]) -> str:
        """Make a sandbox that is not running yet and return its id.

        Creating a session's sandbox twice returns the first, so that a call whose answer was lost can be repeated.

        Args:
            spec: What to make.
            secrets: The value of each name in `spec.secrets`.
        """
        ...

    async def start(self, sandbox: str) -> None:
        """Run the main process; does nothing when it runs already.

        Raises:
            EngineError: It cannot run, for example because the command does not exist. An engine that learns this
                only later says so in `SandboxState.error`.
        """
        ...

    async def run(self, sandbox: str, command: tuple[str, ...]) -> tuple[int, bytes]:
        """Run one more command in a running sandbox to its end; return its status and the last 64 KiB it printed."""
        ...

    async def inspect(self, sandbox: str) -> SandboxState:
        """Ask what became of a sandbox."""
        ...

    async def list(self) -> list[SandboxState]:
        """All sandboxes of this home, running or not."""
        ...

    def changes(self) -> AsyncGenerator[None, None]:
        """Yield whenever something may have changed, at once after subscribing, and after a lost connection came back.

        Raises:
            EngineUnavailable: The connection was lost; call again to wait for it with the caller's own back-off.
        """
        ...

    async def signal(self, sandbox: str, signal: Signal) -> None:
        """Send a signal to the main process; does nothing when it has ended."""
        ...

    async def remove(self, sandbox: str) -> None:
        """End what still runs and remove the sandbox; does nothing when it is gone. Output already spooled stays."""
        ...

    async def refused(self, session: str, after: int, *, ended: bool) -> Refusals:
        """Read what a session's sandbox was kept from reaching.

        Args:
            session: Its id; of an unknown one nothing is read.
            after: The `position` of an earlier call; 0 for all.
            ended: Its sandbox has ended; then whatever served it ends as well, and the answer is complete.
        """
        ...

    async def accompanied(self) -> frozenset[str]:
        """The sessions of this home for which something is kept beside a sandbox, such as its way to allowed hosts."""
        ...

    async def dismiss(self, session: str) -> None:
        """Remove what is kept beside a session's sandbox, which must be gone; `remove` does so too."""
        ...

    async def follow(self, sandbox: str, spool: SpoolWriter) -> None:
        """Bring all output into the spool until the sandbox has ended and every byte is there.

        Resumes where the spool's cursor stands, without a gap or a repeat. Survives a lost engine: waits for it.
        """
        ...

    @property
    def spools_itself(self) -> bool:
        """Whether output reaches the spool without `follow`, so that Pinfold only reads it."""
        ...

    def usage(self, sandbox: str) -> AsyncGenerator[Usage, None]:
        """Yield what the sandbox uses about once a second until it ends; costs nothing when nobody iterates."""
        ...

    async def shell(self, sandbox: str, command: tuple[str, ...], columns: int, rows: int) -> Shell:
        """Open an interactive terminal in a running sandbox.

        Args:
            sandbox: Where.
            command: argv; empty picks the best shell there is.
            columns: Width of the terminal in cells.
            rows: Height of the terminal in cells.
        """
        ...

    async def close(self) -> None:
        """Free connections and threads; sandboxes go on."""
        ...
