"""An interactive terminal in a sandbox: a pseudo-terminal of its own, inside the same confinement."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import struct
import termios

from services.errors import EngineError
from services.sandbox.engines.local.child import Child
from services.sandbox.engines.local.presence import until_gone
from services.sandbox.engines.local.supervisor import Command, Process

_READ = 65536
_HANG_UP_SECONDS = 1.0


class LocalShell:
    """One terminal; keeps the protocol `Shell`.

    Args:
        command: What runs in it; `terminal` must be set.
        columns: Width in cells.
        rows: Height in cells.
        supervisor: The process whose end is the sandbox's, and then the shell's too.
    """

    def __init__(self, command: Command, columns: int, rows: int, supervisor: Process) -> None:
        self._terminal, inner = os.openpty()
        try:
            os.set_blocking(self._terminal, False)
            self._set_size(columns, rows)
            self._child = Child(command, stdin=inner, output=inner)
        except BaseException:
            os.close(self._terminal)
            raise
        finally:
            os.close(inner)
        self.closed = False
        self._watch = asyncio.create_task(self._close_with(supervisor))
        self._reading = asyncio.Lock()
        self._writing = asyncio.Lock()
        self._waiting: set[asyncio.Future[None]] = set()
        self._child.when_ended(self._release)

    async def read(self) -> bytes:
        """Wait for output; b"" once the shell has ended."""
        async with self._reading:
            while not self.closed:
                try:
                    return os.read(self._terminal, _READ)
                except BlockingIOError:
                    if self._child.ended:  # something in the background keeps the terminal open
                        break
                    await self._until(writing=False)
                except OSError as error:
                    if error.errno != errno.EIO:  # that is how a terminal says that nobody is at its other side
                        raise EngineError("cannot read from the shell", why=error.strerror or str(error)) from error
                    break
            return b""

    async def write(self, data: bytes) -> None:
        """Send what was typed; what a shell that has ended would get is dropped."""
        async with self._writing:
            rest = memoryview(data)
            while rest and not self.closed and not self._child.ended:
                try:
                    rest = rest[os.write(self._terminal, rest) :]
                except BlockingIOError:
                    await self._until(writing=True)
                except OSError as error:
                    if error.errno != errno.EIO:
                        raise EngineError("cannot write to the shell", why=error.strerror or str(error)) from error
                    return

    async def resize(self, columns: int, rows: int) -> None:
        """Tell the shell how large the terminal is now."""
        if not self.closed:
            self._set_size(columns, rows)

    async def wait(self) -> int:
        """Wait for the end and return the exit status."""
        return await self._child.wait()

    async def close(self) -> None:
        """Hang up, and kill what does not go within a second."""
        if self.closed:
            return
        self.closed = True
        loop = asyncio.get_running_loop()
        if self._watch is not asyncio.current_task():
            self._watch.cancel()
        loop.remove_reader(self._terminal)
        loop.remove_writer(self._terminal)
        os.close(self._terminal)
        self._child.hang_up()
        try:
            async with asyncio.timeout(_HANG_UP_SECONDS):
                await self._child.wait()
        except TimeoutError:
            self._child.kill()
            await self._child.wait()

    async def _close_with(self, supervisor: Process) -> None:
        await until_gone(supervisor)
        await self.close()

    def _set_size(self, columns: int, rows: int) -> None:
        size = struct.pack("HHHH", max(1, rows), max(1, columns), 0, 0)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, size)

    async def _until(self, *, writing: bool) -> None:
        """Wait until the terminal can be read or written, or the shell has ended."""
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        self._waiting.add(ready)
        (loop.add_writer if writing else loop.add_reader)(self._terminal, _settle, ready)
        try:
            await ready
        finally:
            self._waiting.discard(ready)
            if not self.closed:  # then the number may be another file's by now
                (loop.remove_writer if writing else loop.remove_reader)(self._terminal)

    def _release(self, _: object) -> None:
        for ready in self._waiting:
            _settle(ready)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
