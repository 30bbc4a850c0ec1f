"""An interactive terminal inside a sandbox."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from services.errors import EngineError, EngineUnavailable
from services.sandbox.engines.docker.api import Api, EngineStream
from services.sandbox.engines.docker.commands import CommandState, exit_status
from services.sandbox.engines.docker.container import Identified
from services.sandbox.engines.docker.control import Control
from services.sandbox.engines.docker.failures import Refused, plain

if TYPE_CHECKING:
    from docker import APIClient

_BEST_SHELL = ("sh", "-c", "if command -v bash >/dev/null 2>&1; then exec bash; else exec sh; fi")
_HELD_BACK = 'echo "$$" && read -r go && exec "$@"'
"""Tells the process's number inside the sandbox, by which it can be hung up on, and waits until the size is right."""

_DETACH_KEYS = "ctrl-^,ctrl-@,ctrl-^,ctrl-@,ctrl-^,ctrl-@,ctrl-^,ctrl-@"
"""The engine always watches for some keys; these nobody types, while its own choice swallows ctrl-p."""

_LINE_SECONDS = 10.0
_LINE_LIMIT = 4096


class DockerShell:
    """A command on a terminal of its own, over a hijacked connection; keeps the protocol `Shell`.

    Args:
        control: The engine.
        stream: Carries what is typed and what is shown.
        sandbox: Where it runs.
        command: The engine's id of the command.
        process: Its number inside the sandbox.
        first: What was shown already.
    """

    def __init__(
        self, control: Control, stream: EngineStream, sandbox: str, command: str, process: int, first: bytes
    ) -> None:
        self._control = control
        self._stream = stream
        self._sandbox = sandbox
        self._command = command
        self._process = process
        self._first = first
        self._ended = asyncio.Event()

    async def read(self) -> bytes:
        """Wait for output; b"" once the shell has ended.

        Raises:
            EngineUnavailable: The engine was lost.
        """
        if self._first:
            first, self._first = self._first, b""
            return first
        data = await self._stream.read()
        if not data:
            self._ended.set()
        return data

    async def write(self, data: bytes) -> None:
        """Send what was typed."""
        await self._stream.send(data)

    async def resize(self, columns: int, rows: int) -> None:
        """Tell the shell how large the terminal is now; one that has just ended does not mind."""
        with contextlib.suppress(Refused):
            await _resize(self._control, self._command, columns, rows)

    async def wait(self) -> int:
        """Wait for the end and return the exit status; somebody must go on reading."""
        await self._ended.wait()
        return await exit_status(self._control, self._command)

    async def close(self) -> None:
        """Hang up: the shell gets SIGHUP as if its terminal was closed, and passes it on to what it runs."""
        self._stream.close()
        self._ended.set()
        what = "cannot hang up the shell"
        try:
            state = await self._control.ask(what, CommandState, lambda client: client.exec_inspect(self._command))
            if state.running:
                await self._control.call(what, self._hang_up)
        except (Refused, EngineUnavailable):
            return  # the sandbox has ended, or nobody can be told

    def _hang_up(self, client: APIClient) -> None:
        hangup = client.exec_create(self._sandbox, ["/bin/sh", "-c", 'kill -HUP "$1"', "sh", str(self._process)])
        client.exec_start(hangup["Id"], detach=True)


async def open_shell(
    api: Api, control: Control, sandbox: str, command: tuple[str, ...], columns: int, rows: int
) -> DockerShell:
    """Open a terminal in a running sandbox.

    Args:
        api: The engine.
        control: The same engine.
        sandbox: Where.
        command: argv; empty picks bash, or sh where there is none.
        columns: Of the terminal.
        rows: Of the terminal.

    Raises:
        Refused: The sandbox does not run.
        EngineError: The image has no shell.
        EngineUnavailable: The engine was lost.
    """
    what = "cannot open a shell"
    argv = ["/bin/sh", "-c", _HELD_BACK, "sh", *(command or _BEST_SHELL)]

    def create(client: APIClient) -> object:
        environment = {"TERM": "xterm-256color"}
        return client.exec_create(
            sandbox, argv, stdin=True, tty=True, environment=environment, detach_keys=_DETACH_KEYS
        )

    made = await control.ask(what, Identified, create)
    stream = await api.open(
        what,
        "POST",
        f"/exec/{made.id}/start",
        body={"Detach": False, "Tty": True},
        headers={"Connection": "Upgrade", "Upgrade": "tcp"},
    )
    try:
        number, rest = await _line(stream, b"")
        if not number.isdigit():
            words = b" ".join((number, rest)).decode("utf-8", "replace").strip()
            raise EngineError(what, why=plain(words) or "it ended at once", fix="The image needs /bin/sh.")
        await _resize(control, made.id, columns, rows)
        await stream.send(b"\n")
        _, shown = await _line(stream, rest)  # the terminal's echo of it
    except BaseException:
        stream.close()
        raise
    return DockerShell(control, stream, sandbox, made.id, int(number), shown)


async def _resize(control: Control, command: str, columns: int, rows: int) -> None:
    await control.call(
        "cannot resize the terminal", lambda client: client.exec_resize(command, height=rows, width=columns)
    )


async def _line(stream: EngineStream, shown: bytes) -> tuple[bytes, bytes]:
    """Read on until a line has ended; return it, and what came behind it."""
    try:
        async with asyncio.timeout(_LINE_SECONDS):
            while b"\n" not in shown and len(shown) < _LINE_LIMIT:
                data = await stream.read()
                if not data:
                    break
                shown += data
    except TimeoutError as error:
        raise EngineError("cannot open a shell", why=f"it does not start within {_LINE_SECONDS:.0f} seconds") from error
    line, _, rest = shown.partition(b"\n")
    return line.strip(), rest
