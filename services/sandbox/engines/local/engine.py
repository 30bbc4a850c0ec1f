"""The local engine: sandboxes are processes of this machine, confined by bubblewrap where it works."""

from __future__ import annotations

import asyncio
import os
import signal as signals
import time
from collections.abc import AsyncGenerator, Mapping

from services.errors import EngineError
from services.home import BlockingCalls, Home
from services.output import SpoolWriter
from services.sandbox.engines.engine import EngineStatus, PullProgress, Refusals, SandboxState, Signal, Usage
from services.sandbox.engines.local.admission import admit
from services.sandbox.engines.local.bubblewrap import Bubblewrap, find_bubblewrap
from services.sandbox.engines.local.changes import ChangeWatch
from services.sandbox.engines.local.commands import Setting
from services.sandbox.engines.local.folder import SandboxFolder
from services.sandbox.engines.local.further import run_to_end
from services.sandbox.engines.local.kept import KeptSandboxes
from services.sandbox.engines.local.launch import Launch
from services.sandbox.engines.local.marks import mark
from services.sandbox.engines.local.presence import until_gone
from services.sandbox.engines.local.removal import kill_main_process
from services.sandbox.engines.local.shell import LocalShell
from services.sandbox.engines.local.status import status_of
from services.sandbox.engines.local.supervisor import Record, consumption, is_alive, send
from services.sandbox.model import SandboxSpec

_LOOK_SECONDS = 0.25
_USAGE_SECONDS = 1.0


class LocalEngine:
    """Runs sandboxes as processes of this machine; keeps the protocol `Engine`.

    Every sandbox has a supervisor process that outlives Pinfold and writes the spool. INT and TERM go to the main
    process alone, as a container's would; KILL ends all of the sandbox, and so does the end of the main process.

    Args:
        home: Whose sandboxes.
        home_id: Its id.
        env: Pinfold's environment; sandboxes get only its way to programs, and shells its TERM.
    """

    name = "local"
    spools_itself = True

    def __init__(self, home: Home, home_id: str, env: Mapping[str, str] = os.environ) -> None:
        self._home = home
        self._kept = KeptSandboxes(home, home_id)
        self._env = env
        self._calls = BlockingCalls(name="pinfold-local")
        self._bubblewrap: Bubblewrap | None = None
        self._launches: dict[str, Launch] = {}
        self._shells: set[LocalShell] = set()

    async def status(self) -> EngineStatus:
        """Say whether sandboxes can run here and whether they are confined."""
        self._bubblewrap = await self._calls.run(find_bubblewrap, self._env)
        return await self._calls.run(status_of, self._bubblewrap)

    async def has_image(self, image: str) -> bool:
        """Say yes: there are no images here."""
        return True

    async def pull(self, image: str) -> AsyncGenerator[PullProgress, None]:
        """Do nothing: there are no images here."""
        nothing: tuple[PullProgress, ...] = ()
        for progress in nothing:
            yield progress

    async def create(self, spec: SandboxSpec, secrets: Mapping[str, str]) -> str:
        """Make a sandbox: its files, and a supervisor that holds the secrets and waits for `start`.

        The supervisor ends when this process does before `start`; creating the sandbox again then makes another.

        Raises:
            SessionRefused: It cannot be confined and its profile demands that.
            EngineError: It cannot be made; says why.
        """
        bubblewrap = await self._found_bubblewrap()
        folder = SandboxFolder.of(self._home, spec.session)
        setting = Setting(spec, folder, bubblewrap, self._env)
        making = asyncio.ensure_future(self._calls.run(self._make, setting, secrets))
        try:
            await asyncio.shield(making)
        except asyncio.CancelledError:
            await asyncio.wait({making})  # half a sandbox would be nobody's
            if not making.exception():
                await self.remove(spec.session)
            raise
        return spec.session

    async def start(self, sandbox: str) -> None:
        """Tell a supervisor to run its command.

        Raises:
            EngineError: The command cannot be executed, the sandbox has ended, or another Pinfold created it.
        """
        launch = self._launches.pop(sandbox, None)
        spec, record = await self._calls.run(self._kept.read, sandbox)
        if launch is None:
            _refuse_to_start(spec, record)
            return
        answer = await self._calls.run(launch.start)
        if answer.what != "started":
            raise EngineError(f"{spec.command[0]} cannot be started", why=answer.reason)

    async def run(self, sandbox: str, command: tuple[str, ...]) -> tuple[int, bytes]:
        """Run one more command, confined like the main process and with its variables.

        It sees the same files, /tmp and home included, and has its own view of processes. Its use of processor and
        memory is not counted as the sandbox's.
        """
        spec, record = await self._running(sandbox)
        setting = await self._setting(spec)
        further = await self._calls.run(setting.further, command, record, terminal=False)
        return await run_to_end(further, record.supervisor)

    async def shell(self, sandbox: str, command: tuple[str, ...], columns: int, rows: int) -> LocalShell:
        """Open an interactive terminal, confined like `run`; it is hung up when the sandbox ends."""
        spec, record = await self._running(sandbox)
        setting = await self._setting(spec)
        further = await self._calls.run(setting.further, command, record, terminal=True)
        shell = LocalShell(further, columns, rows, record.supervisor)
        self._shells = {known for known in self._shells if not known.closed} | {shell}
        return shell

    async def inspect(self, sandbox: str) -> SandboxState:
        """Say what became of a sandbox; one whose supervisor was killed is ended and recorded as such first."""
        return await self._calls.run(self._kept.state, sandbox)

    async def list(self) -> list[SandboxState]:
        """Name all sandboxes of this home."""
        return await self._calls.run(self._kept.states)

    async def changes(self) -> AsyncGenerator[None, None]:
        """Yield at once, and whenever a record changed or a supervisor died."""
        watch = ChangeWatch(self._home.sessions_dir)
        await self._calls.run(watch.look)
        yield
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if await self._calls.run(watch.look):
                yield

    async def signal(self, sandbox: str, signal: Signal) -> None:
        """Send INT or TERM to the main process, or KILL to all of the sandbox; never to a stranger."""
        _, record = await self._calls.run(self._kept.read, sandbox)
        if record is None or record.status != "running":
            return
        if signal == "KILL":
            kill_main_process(record)
        elif record.main is not None:
            send(record.main, signals.Signals[f"SIG{signal}"])

    async def remove(self, sandbox: str) -> None:
        """Kill what still runs and remove all but the output."""
        launch = self._launches.pop(sandbox, None)
        if launch is not None:
            await self._calls.run(launch.close)
        await self._calls.run(self._kept.remove, sandbox)

    async def refused(self, session: str, after: int, *, ended: bool) -> Refusals:
        """Nothing: this engine keeps no sandbox to some hosts."""
        return Refusals((), after, complete=True)

    async def accompanied(self) -> frozenset[str]:
        """No session: nothing is kept beside a sandbox."""
        return frozenset()

    async def dismiss(self, session: str) -> None:
        """Do nothing."""

    async def follow(self, sandbox: str, spool: SpoolWriter) -> None:
        """Wait for the end; the supervisor writes the spool."""
        while True:
            state = await self.inspect(sandbox)
            _, record = await self._calls.run(self._kept.read, sandbox)
            if record is None or not is_alive(record.supervisor):
                return
            if state.status == "created":
                await asyncio.sleep(_LOOK_SECONDS)
            else:
                await until_gone(record.supervisor)

    async def usage(self, sandbox: str) -> AsyncGenerator[Usage, None]:
        """Yield once a second what the processes use together; shared memory is not counted."""
        spec, record = await self._calls.run(self._kept.read, sandbox)
        before: Usage | None = None
        while record is not None and record.root is not None and record.status == "running":
            if not is_alive(record.supervisor):
                return
            used = await self._calls.run(consumption, record.root.pid)
            now = time.time_ns()
            seconds = used.cpu_seconds if before is None else max(used.cpu_seconds, before.cpu_seconds)
            busy = None if before is None else (seconds - before.cpu_seconds) / max(1e-9, (now - before.at) / 1e9)
            before = Usage(now, busy, seconds, used.memory, spec.limits.memory, used.pids)
            yield before
            await asyncio.sleep(_USAGE_SECONDS)
            record = (await self._calls.run(self._kept.read, sandbox))[1]

    async def close(self) -> None:
        """Let go of everything; sandboxes that were started go on, those that were not end."""
        await asyncio.gather(*(shell.close() for shell in self._shells))
        for launch in self._launches.values():
            launch.close()
        self._launches.clear()
        self._calls.close()

    async def _found_bubblewrap(self) -> Bubblewrap:
        if self._bubblewrap is None:
            self._bubblewrap = await self._calls.run(find_bubblewrap, self._env)
        return self._bubblewrap

    async def _setting(self, spec: SandboxSpec) -> Setting:
        folder = SandboxFolder.of(self._home, spec.session)
        return Setting(spec, folder, await self._found_bubblewrap(), self._env)

    async def _running(self, sandbox: str) -> tuple[SandboxSpec, Record]:
        spec, record = await self._calls.run(self._kept.read, sandbox)
        if record is None or record.status != "running" or not is_alive(record.supervisor):
            raise EngineError(f"sandbox {sandbox} is not running")
        return spec, record

    def _make(self, setting: Setting, secrets: Mapping[str, str]) -> None:
        spec = setting.spec
        if self._kept.is_taken(spec.session):
            return
        admit(spec, secrets, setting.bubblewrap)
        setting.folder.make(spec)
        known_by = mark(spec.home, spec.session)
        self._launches[spec.session] = Launch(setting.folder, known_by, setting.order(secrets))


def _refuse_to_start(spec: SandboxSpec, record: Record | None) -> None:
    """Pass a sandbox that runs already; any other that was not created here cannot be started from here."""
    if record is not None and record.status == "running":
        return
    if record is not None and record.status == "exited":
        raise EngineError(f"sandbox {spec.session} cannot be started", why="it has ended")
    raise EngineError(
        f"sandbox {spec.session} cannot be started",
        why="the Pinfold that created it holds its secrets, or took them along when it ended",
        fix="Create it again.",
    )
