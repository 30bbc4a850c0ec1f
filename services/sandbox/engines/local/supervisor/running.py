"""A sandbox while it runs: its output, signals, limits, and what is left behind when its main process ends."""

from __future__ import annotations

import os
import select
import signal
import time
from dataclasses import replace

from services.output import SpoolWriter

from .capture import Capture
from .limits import LimitWatch
from .main_process import Started
from .orders import Order
from .processes import kill_descendants, send
from .record import Record

_PACE_SECONDS = 0.004
_DENSE_SECONDS = 0.01
_HALF_A_PIPE = 128 * 1024
_KILL_AGAIN_SECONDS = 1.0
_END_SECONDS = 5.0


class RunningSandbox:
    """Watches one main process to its end.

    Args:
        order: What was executed.
        started: The main process.
        record: As written when it started.
        capture: Its output.
        spool: Where Pinfold's own remarks go.
        signals: A descriptor that becomes readable with the numbers of signals that came.
    """

    def __init__(
        self, order: Order, started: Started, record: Record, capture: Capture, spool: SpoolWriter, signals: int
    ) -> None:
        self._stop_timeout = order.stop_timeout
        self._child = started.child
        self._record = record
        self._capture = capture
        self._spool = spool
        self._signals = signals
        self._limits = LimitWatch(started.root.pid, memory=order.memory, pids=order.pids)
        self._exit_code: int | None = None
        self._kill_at: float | None = None
        self._dense_until = 0.0

    def watch(self) -> Record:
        """Take in output until the main process has ended, end what it left behind, and say what became of it."""
        poll = select.poll()
        poll.register(self._signals, select.POLLIN)
        for descriptor in self._capture.open_ends:
            poll.register(descriptor, select.POLLIN)
        self._reap()
        while self._exit_code is None:
            ready = {descriptor for descriptor, _ in poll.poll(self._patience())}
            if self._signals in ready:
                ready.discard(self._signals)
                self._answer_signals(os.read(self._signals, 4096))
            if ready:
                self._take_output(ready, poll)
            self._capture.flush_when_idle()
            self._hold_limits()
            self._kill_when_due()
        self._end_leftovers()
        self._capture.take_all()
        return replace(self._record, exit_code=self._exit_code)

    def _take_output(self, ready: set[int], poll: select.poll) -> None:
        taken = self._capture.take(ready)
        for descriptor in ready.difference(self._capture.open_ends):
            poll.unregister(descriptor)
        now = time.monotonic()
        if now < self._dense_until and 0 < taken < _HALF_A_PIPE and self._exit_code is None:
            time.sleep(_PACE_SECONDS)  # taking in a few hundred lines at once costs what one alone does
        self._dense_until = now + _DENSE_SECONDS

    def _patience(self) -> float | None:
        """Milliseconds until something other than output is due."""
        waits = [self._capture.seconds_to_idle(), self._limits.seconds_to_look()]
        if self._kill_at is not None:
            waits.append(max(0.0, self._kill_at - time.monotonic()))
        due = [wait for wait in waits if wait is not None]
        return min(due) * 1000 + 1 if due else None

    def _answer_signals(self, numbers: bytes) -> None:
        if signal.SIGCHLD in numbers:
            self._reap()
        if self._kill_at is None and not {signal.SIGTERM, signal.SIGINT}.isdisjoint(numbers):
            self._kill_at = time.monotonic() + self._stop_timeout
            if self._record.main is not None:
                send(self._record.main, signal.SIGTERM)

    def _kill_when_due(self) -> None:
        if self._kill_at is not None and time.monotonic() >= self._kill_at:
            kill_descendants()
            self._kill_at = time.monotonic() + _KILL_AGAIN_SECONDS

    def _hold_limits(self) -> None:
        excess = self._limits.look()
        if excess is None or self._record.error:
            return
        self._record = replace(self._record, out_of_memory=excess.out_of_memory, error=excess.reason)
        self._spool.note(f"ended: {excess.reason}")
        self._kill_at = time.monotonic()

    def _reap(self) -> None:
        """Take leave of every child that ended, also of those whose own parents did."""
        while True:
            try:
                child, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if child == 0:
                return
            if child == self._child:
                code = os.waitstatus_to_exitcode(status)
                self._exit_code = code if code >= 0 else 128 - code

    def _end_leftovers(self) -> None:
        """Kill what the main process left behind, daemons too: a sandbox ends with its main process."""
        deadline = time.monotonic() + _END_SECONDS
        while kill_descendants() and time.monotonic() < deadline:  # one may wait for a disk that does not answer
            self._capture.take(self._capture.open_ends)
            time.sleep(0.001)
            self._reap()
