"""Runs the operator's regular expressions in a process of their own.

A pattern that takes for ever on some line would hold Python's lock, and with it the screens; a process can be ended.
"""

from __future__ import annotations

import array
import select
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

from services.errors import PinfoldError

_PROGRAM = Path(__file__).with_name("regex_child.py")
_PATIENCE = 2.0
_START_PATIENCE = 10.0


class RegexProcess:
    """One pattern and the process that runs it; started with the first lines.

    Args:
        pattern: Known to be a valid regular expression.
        ignore_case: Letters of either case match.
    """

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        self._setting = ("i" if ignore_case else "-") + pattern
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._in_use = threading.Lock()

    def matching_lines(self, data: bytes, first: int) -> list[int]:
        """Which lines match, counted from 0; blocks, so call it in a thread. Nothing matches once it was stopped.

        Args:
            data: Some lines, best not more than 64 KiB of them.
            first: The number of the first, for the message.

        Raises:
            PinfoldError: The pattern takes too long on them.
        """
        try:
            with self._in_use:
                found = array.array("I", self._ask(data, first))
        finally:
            if self._stopped:
                self._clear()
        if sys.byteorder == "little":
            found.byteswap()
        return found.tolist()

    def stop(self) -> None:
        """End the process; may be called from any thread, and more than once."""
        self._stopped = True
        if self._process is not None:
            self._process.kill()
        self._clear()

    def _ask(self, data: bytes, first: int) -> bytes:
        """Hand over lines and return the answer; b"" once stopped."""
        if self._process is None and not self._stopped:
            self._start()
        process = self._process
        if process is None or self._stopped:
            return b""
        try:
            _send(process, data)
            return _receive(process, time.monotonic() + _PATIENCE)
        except (OSError, EOFError) as error:
            if self._stopped:
                return b""
            self._end(process)
            last = first + data.count(b"\n")
            raise PinfoldError(
                "the search was ended",
                why=f"the pattern takes too long somewhere in lines {first + 1:,} to {last + 1:,}",
                fix="Make it simpler: one repetition inside another is what usually takes for ever.",
            ) from error

    def _start(self) -> None:
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise PinfoldError("cannot search with a pattern", why=error.strerror or str(error)) from error
        self._process = process
        try:
            _send(process, self._setting.encode("utf-8", "surrogatepass"))
            _receive(process, time.monotonic() + _START_PATIENCE)
        except (OSError, EOFError) as error:
            if self._stopped:
                return
            self._end(process)
            raise PinfoldError("cannot search with a pattern", why="its process did not start") from error

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        self._stopped = True
        process.kill()

    def _clear(self) -> None:
        """Free the pipes, unless another thread still uses them and will do so itself."""
        if self._in_use.acquire(blocking=False):
            try:
                process, self._process = self._process, None
                if process is not None:
                    process.kill()
                    process.wait()
                    for pipe in (process.stdin, process.stdout):
                        if pipe is not None:
                            pipe.close()
            finally:
                self._in_use.release()


def _send(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    left = memoryview(struct.pack(">I", len(data)) + data)
    while left:
        left = left[process.stdin.write(left) or 0 :]


def _receive(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    """Read one block.

    Raises:
        TimeoutError: It did not come in time.
        EOFError: The process ended.
    """
    (size,) = struct.unpack(">I", _read(process, 4, deadline))
    return _read(process, size, deadline)


def _read(process: subprocess.Popen[bytes], size: int, deadline: float) -> bytes:
    assert process.stdout is not None
    poll = select.poll()
    poll.register(process.stdout, select.POLLIN)
    parts = []
    while size > 0:
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise TimeoutError
        part = process.stdout.read(size)
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
