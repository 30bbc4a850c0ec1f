"""A program that relays its terminal to a shell on a second pseudo-terminal; run by test_terminal.py.

    python relaying.py COMMAND...

Prints `status N` once the terminal is its own again. `--failing` as the command is a shell that is lost at the first
key, `--frozen` one that never answers.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import struct
import sys
import termios

from services.errors import EngineUnavailable, PinfoldError
from tui.terminal import relay


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


class PtyShell:
    """A command on a pseudo-terminal, as an engine's shell."""

    def __init__(self, command: list[str]) -> None:
        self._pid, self._descriptor = pty.fork()
        if self._pid == 0:
            os.execvp(command[0], command)

    async def read(self) -> bytes:
        try:
            return await asyncio.to_thread(os.read, self._descriptor, 65536)
        except OSError:
            return b""

    async def write(self, data: bytes) -> None:
        os.write(self._descriptor, data)

    async def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    async def wait(self) -> int:
        _, status = await asyncio.to_thread(os.waitpid, self._pid, 0)
        return os.waitstatus_to_exitcode(status)

    async def close(self) -> None:
        say("closed\n")


class SilentShell:
    """A shell that says nothing and never ends."""

    async def read(self) -> bytes:
        await asyncio.Event().wait()
        raise AssertionError

    async def write(self, data: bytes) -> None:
        pass

    async def resize(self, columns: int, rows: int) -> None:
        say("ready\r\n")

    async def wait(self) -> int:
        raise AssertionError

    async def close(self) -> None:
        say("closed\n")


class LostShell(SilentShell):
    """A shell whose engine goes away at the first key."""

    async def write(self, data: bytes) -> None:
        raise EngineUnavailable("docker does not answer")


async def _run(command: list[str]) -> None:
    shells = {"--frozen": SilentShell, "--failing": LostShell}
    shell = shells[command[0]]() if command[0] in shells else PtyShell(command)
    try:
        say(f"status {await relay(shell)}\n")
    except PinfoldError as error:
        say(f"failed: {error}\n")


if __name__ == "__main__":
    asyncio.run(_run(sys.argv[1:]))
