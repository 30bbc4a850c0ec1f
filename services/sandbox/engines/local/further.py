"""Run a further command in a sandbox to its end and keep the last of what it printed."""

from __future__ import annotations

import asyncio
import os

from services.sandbox.engines.local.child import Child
from services.sandbox.engines.local.presence import until_gone
from services.sandbox.engines.local.supervisor import Command, Process

_KEPT = 64 * 1024


async def run_to_end(command: Command, supervisor: Process) -> tuple[int, bytes]:
    """Run a command; return its status and the last 64 KiB of both its streams.

    What it leaves running is killed with it, and so is the command itself when its sandbox ends or the caller gives up.

    Args:
        command: What to execute.
        supervisor: The process whose end is the sandbox's.
    """
    output = _Tail()
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        child = Child(command, stdin=nothing, output=output.write_end)
    except BaseException:
        output.close()
        raise
    finally:
        os.close(nothing)
        os.close(output.write_end)
    output.listen()
    ended = asyncio.ensure_future(child.wait())
    sandbox_gone = asyncio.ensure_future(until_gone(supervisor))
    try:
        await asyncio.wait({ended, sandbox_gone}, return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
            child.kill()
        status = await ended
        output.take()
        return status, output.kept
    finally:
        sandbox_gone.cancel()
        child.kill()
        output.close()


class _Tail:
    """A pipe that forgets all but its end."""

    def __init__(self) -> None:
        self._read_end, self.write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        self.kept = b""
        self._open = True

    def listen(self) -> None:
        asyncio.get_running_loop().add_reader(self._read_end, self._take_one)

    def take(self) -> None:
        """Take what is there; whoever still holds the other end is not waited for."""
        while self._open and self._take_one():
            pass

    def close(self) -> None:
        if self._open:
            self._open = False
            asyncio.get_running_loop().remove_reader(self._read_end)
            os.close(self._read_end)

    def _take_one(self) -> bool:
        try:
            data = os.read(self._read_end, _KEPT)
        except BlockingIOError:
            return False
        if not data:
            self.close()
            return False
        self.kept = (self.kept + data)[-_KEPT:]
        return True
