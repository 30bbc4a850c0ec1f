"""The supervisor's life: wait for the word to start, run the command to its end, and record what became of it."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

from services.output import SpoolWriter, Stream

from .capture import Capture
from .main_process import StartFailed, start_main_process
from .orders import Answer, Order
from .processes import adopt_orphans, identify
from .record import Record, write_record
from .running import RunningSandbox


class Supervisor:
    """Runs one sandbox.

    Args:
        directory: The session's directory.
        order: What to run.
    """

    def __init__(self, directory: Path, order: Order) -> None:
        itself = identify(os.getpid())
        if itself is None:
            raise RuntimeError("/proc does not show this process")
        adopt_orphans()
        self._directory = directory
        self._order = order
        self._signals = _signal_pipe()
        self._spool = SpoolWriter.open(directory / "output", limit=order.output_limit, keep_unindexed=True)
        self._capture = Capture(self._spool)
        self._record = Record(itself, "created", confined=bool(order.command.bubblewrap))
        write_record(directory, self._record)

    def abandon(self) -> None:
        """End without ever having started."""
        self._spool.close()

    def start(self) -> RunningSandbox:
        """Start the main process.

        Raises:
            StartFailed: It could not be executed; this is recorded.
        """
        _, stdout = self._capture.open_pipe(Stream.STDOUT)
        complaints, stderr = self._capture.open_pipe(Stream.STDERR)
        try:
            started = start_main_process(self._order.command, stdout=stdout, stderr=stderr, complaints=complaints)
        except StartFailed as failure:
            self.finish(replace(self._record, exit_code=failure.code, error=failure.reason))
            raise
        self._record = replace(
            self._record, status="running", root=started.root, main=started.main, started_at=time.time_ns()
        )
        write_record(self._directory, self._record)
        return RunningSandbox(self._order, started, self._record, self._capture, self._spool, self._signals)

    def finish(self, record: Record) -> None:
        """Complete the output, then record the end, so that whoever sees the end finds all output there."""
        self._capture.close()
        self._spool.finish()
        self._spool.close()
        write_record(self._directory, replace(record, status="exited", ended_at=time.time_ns()))


def _signal_pipe() -> int:
    """A descriptor that becomes readable with the numbers of signals that came."""
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    return read_end


def _detach() -> None:
    """Leave the process that started this one, so that it need not wait for our end."""
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _say(answer: Answer) -> None:
    try:
        sys.stdout.buffer.write(answer.encoded())
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        return  # Pinfold ended meanwhile; what it asked for is done nevertheless


def _let_go_of_pinfold() -> None:
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)


def main(arguments: list[str]) -> int:
    """Supervise the sandbox of the session directory named by the only argument."""
    _detach()
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        return 1
    supervisor = Supervisor(Path(arguments[0]), Order.decoded(line))
    _say(Answer("ready"))
    if sys.stdin.buffer.readline() != b"start\n":
        supervisor.abandon()
        return 0
    try:
        running = supervisor.start()
    except StartFailed as failure:
        _say(Answer("failed", failure.code, failure.reason))
        return 0
    _say(Answer("started"))
    _let_go_of_pinfold()
    supervisor.finish(running.watch())
    return 0
