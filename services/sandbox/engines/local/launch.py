"""A supervisor process that was started and waits for the word to start its sandbox."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from pathlib import Path

import services
from services.errors import EngineError
from services.sandbox.engines.local.folder import SandboxFolder
from services.sandbox.engines.local.marks import SUPERVISED
from services.sandbox.engines.local.supervisor import Answer, Order

PROGRAM = (sys.executable, "-P", str(Path(__file__).with_name("supervise.py")))
"""The command line before the name of what to do."""

ENVIRONMENT = {
    "PATH": os.defpath,
    "LC_ALL": "C.UTF-8",
    "PYTHONPATH": str(Path(services.__file__).resolve().parent.parent),
    "PYTHONUTF8": "1",
}
"""The supervisor's own variables; what it executes gets others."""

_ANSWER_SECONDS = 60.0
_ANSWER_LIMIT = 65536


class Launch:
    """The two pipes to a supervisor whose sandbox was created and not started.

    The supervisor holds the secrets meanwhile, in memory only. When this process ends, or closes the pipes, the
    supervisor ends too.
    """

    def __init__(self, folder: SandboxFolder, mark: str, order: Order) -> None:
        """Start the supervisor, hand it the order and wait until it is ready.

        Args:
            folder: The sandbox's files.
            mark: What the supervisor is known by.
            order: What to run.

        Raises:
            EngineError: It did not come up.
        """
        self._folder = folder
        log = os.open(folder.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            process = subprocess.Popen(
                [*PROGRAM, "program", str(folder.directory)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**ENVIRONMENT, SUPERVISED: mark},
                cwd="/",
                start_new_session=True,
            )
        finally:
            os.close(log)
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the pipes that were asked for are missing")
        self._to, self._from = process.stdin, process.stdout
        try:
            self._tell(order.encoded())
            answer = self._answer()
        except BaseException:
            self.close()
            raise
        finally:
            process.wait()  # the process started here only makes the supervisor, which is nobody's child
        if answer.what != "ready":
            self.close()
            raise self._failed(answer.reason)

    def start(self) -> Answer:
        """Give the word to start; the answer is `started` or `failed`.

        Raises:
            EngineError: The supervisor ended instead of answering.
        """
        try:
            self._tell(b"start\n")
            return self._answer()
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the supervisor; one that was not told to start ends."""
        for pipe in (self._to, self._from):
            try:
                pipe.close()
            except BrokenPipeError:
                continue  # it ended before it read everything

    def _tell(self, line: bytes) -> None:
        try:
            self._to.write(line)
            self._to.flush()
        except BrokenPipeError as error:
            raise self._failed() from error

    def _answer(self) -> Answer:
        poll = select.poll()
        poll.register(self._from, select.POLLIN)
        deadline = time.monotonic() + _ANSWER_SECONDS
        data = b""
        while not data.endswith(b"\n") and len(data) < _ANSWER_LIMIT:
            if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise self._failed(f"it did not answer within {_ANSWER_SECONDS:.0f} seconds")
            piece = os.read(self._from.fileno(), _ANSWER_LIMIT)
            if not piece:
                raise self._failed()
            data += piece
        return Answer.decoded(data)

    def _failed(self, why: str = "") -> EngineError:
        return EngineError(
            f"the supervisor of sandbox {self._folder.directory.name} failed",
            why=why or self._folder.last_words() or "it ended at once",
        )
