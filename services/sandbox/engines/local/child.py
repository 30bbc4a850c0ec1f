"""A further command of a sandbox, started from here: its end costs no thread, and none of it is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable

from services.errors import EngineError
from services.sandbox.engines.local.launch import ENVIRONMENT, PROGRAM
from services.sandbox.engines.local.supervisor import Command


class Child:
    """A process of ours that leads a session of its own.

    Args:
        command: What to execute; handed over in memory, since it holds secrets.
        stdin: A descriptor.
        output: A descriptor for both standard output and standard error.
    """

    def __init__(self, command: Command, *, stdin: int, output: int) -> None:
        handed_over = os.memfd_create("command")
        try:
            with os.fdopen(os.dup(handed_over), "wb") as file:
                file.write(command.encoded())
            os.lseek(handed_over, 0, os.SEEK_SET)
            self._process = subprocess.Popen(
                [*PROGRAM, "execute", str(handed_over)],
                stdin=stdin,
                stdout=output,
                stderr=output,
                env=ENVIRONMENT,
                pass_fds=(handed_over,),
            )
            self._descriptor = os.pidfd_open(self._process.pid)
        except OSError as error:
            raise EngineError(f"cannot run {command.argv[0]}", why=error.strerror or str(error)) from error
        finally:
            os.close(handed_over)
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().add_reader(self._descriptor, self._reap)

    async def wait(self) -> int:
        """Wait for the end; the status is as a shell reports it."""
        return await asyncio.shield(self._ended)

    def when_ended(self, call: Callable[[asyncio.Future[int]], None]) -> None:
        """Have something called once it has ended."""
        self._ended.add_done_callback(call)

    @property
    def ended(self) -> bool:
        """Whether it has ended and was reaped."""
        return self._ended.done()

    def hang_up(self) -> None:
        """Tell the process that its terminal is gone."""
        if not self.ended:
            self._process.send_signal(signal.SIGHUP)

    def kill(self) -> None:
        """Kill the process and its group."""
        if not self.ended:
            self._process.kill()
            self._kill_group()

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _reap(self) -> None:
        asyncio.get_running_loop().remove_reader(self._descriptor)
        os.close(self._descriptor)
        self._kill_group()  # before it is reaped, while its number cannot be another's
        code = self._process.wait()
        if not self._ended.done():
            self._ended.set_result(code if code >= 0 else 128 - code)
