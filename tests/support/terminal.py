"""A program on a real pseudo-terminal: every byte it writes is kept, an emulator shows what a person would see.

    with Terminal([sys.executable, "-m", "tui.cli"], columns=160, rows=45) as terminal:
        terminal.wait_for("Sandboxes")
        terminal.press("3", "ctrl+p")
        terminal.resize(50, 12)
        assert terminal.wait_for_exit() == 0

A thread reads the terminal all the time, so the program is never held up. In async tests call the waiting methods
through `asyncio.to_thread`.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pyte

from tests.support.controls import control_shapes, strange_controls
from tests.support.emulator import Emulator, without_what_pyte_misreads
from tests.support.keyboard import key_bytes

__all__ = ["ROOT", "WAIT", "Terminal", "control_shapes", "strange_controls"]

ROOT = Path(__file__).resolve().parent.parent.parent

WAIT = 30.0
"""Seconds a condition may take; generous, since the machine may be busy."""

# The child becomes leader of a session whose controlling terminal is its standard input, as under a real terminal.
_LAUNCHER = (
    "import fcntl, os, sys, termios\n"
    "os.setsid()\n"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "os.execvpe(sys.argv[1], sys.argv[1:], os.environ)\n"
)


class Terminal:
    """One command on a pseudo-terminal of its own.

    Args:
        command: Program and arguments.
        environment: Set on top of a small, fixed environment (UTF-8, true colour); None as a value removes a name.
        answers_sync: Answer the question whether the terminal draws whole frames at once with yes.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int = 100,
        rows: int = 30,
        environment: Mapping[str, str | None] | None = None,
        folder: Path = ROOT,
        answers_sync: bool = False,
    ) -> None:
        self.columns, self.line_count = columns, rows
        self._answers_sync = answers_sync
        self._output = bytearray()
        self._fed = 0
        self._grown = threading.Condition()
        self._ended = False
        self._screen = Emulator(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._own, other_side = os.openpty()
        self._set_size(columns, rows)
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _LAUNCHER, *command],
                stdin=other_side,
                stdout=other_side,
                stderr=other_side,
                cwd=folder,
                env=_environment(environment or {}),
            )
        finally:
            os.close(other_side)
        self._reader = threading.Thread(target=self._read_all, name="terminal-reader", daemon=True)
        self._reader.start()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # what a person does

    def send(self, data: str | bytes) -> None:
        """Type text, or send bytes, as they are."""
        os.write(self._own, data.encode() if isinstance(data, str) else data)

    def press(self, *keys: str) -> None:
        """Press keys by Textual's names: `a`, `enter`, `ctrl+p`, `shift+tab`."""
        for key in keys:
            self.send(key_bytes(key))

    def paste(self, text: str) -> None:
        """Paste text as terminals do that know bracketed paste."""
        self.send(f"\x1b[200~{text}\x1b[201~")

    def click(self, column: int, row: int) -> None:
        """Press and release the left button; columns and rows count from 0."""
        self.send(f"\x1b[<0;{column + 1};{row + 1}M\x1b[<0;{column + 1};{row + 1}m")

    def wheel(self, column: int, row: int, *, up: bool) -> None:
        """Turn the mouse wheel one notch."""
        self.send(f"\x1b[<{64 if up else 65};{column + 1};{row + 1}M")

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size and tell the program."""
        self._feed()
        self.columns, self.line_count = columns, rows
        self._screen.resize(rows, columns)
        self._set_size(columns, rows)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(os.getpgid(self.process.pid), signal.SIGWINCH)

    # what a person sees

    @property
    def output(self) -> bytes:
        """Every byte written so far."""
        with self._grown:
            return bytes(self._output)

    @property
    def written(self) -> int:
        """How many bytes were written so far."""
        with self._grown:
            return len(self._output)

    def since(self, offset: int) -> bytes:
        """The bytes written from an offset of the output on."""
        with self._grown:
            return bytes(self._output[offset:])

    @property
    def screen(self) -> pyte.Screen:
        """The emulator, up to date."""
        self._feed()
        return self._screen

    def lines(self) -> list[str]:
        """The rows of the screen as text, spaces at their ends included."""
        self._feed()
        return list(self._screen.display)

    def text(self) -> str:
        """The whole screen as text, without the spaces at the ends of rows."""
        return "\n".join(line.rstrip() for line in self.lines())

    # waiting

    def wait_until(self, condition: Callable[[], bool], what: str = "the condition", seconds: float = WAIT) -> None:
        """Wait until a condition holds; it is asked again whenever output arrives, and ten times a second.

        Raises:
            AssertionError: It did not hold in time; the message shows the screen.
        """
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} did not come true in {seconds} s; the screen:\n{self.text()}")
            with self._grown:
                self._grown.wait(0.1)

    def wait_for(self, text: str, seconds: float = WAIT) -> None:
        """Wait until a text is on the screen."""
        self.wait_until(lambda: text in self.text(), f"{text!r} on the screen", seconds)

    def wait_for_bytes(self, data: bytes, start: int = 0, seconds: float = WAIT) -> int:
        """Wait until bytes were written at or after an offset of the output; returns the offset behind them."""
        found = -1

        def arrived() -> bool:
            nonlocal found
            with self._grown:
                found = self._output.find(data, start)
            return found >= 0

        self.wait_until(arrived, f"{data!r} in the output", seconds)
        return found + len(data)

    def wait_until_quiet(self, seconds: float = 0.3) -> None:
        """Wait until nothing was written for some time: the program finished drawing."""
        deadline = time.monotonic() + WAIT
        seen, since = -1, time.monotonic()
        while time.monotonic() - since < seconds:
            assert time.monotonic() < deadline, "the program does not stop drawing"
            with self._grown:
                if len(self._output) != seen:
                    seen, since = len(self._output), time.monotonic()
                self._grown.wait(seconds / 3)

    def wait_for_exit(self, seconds: float = WAIT) -> int:
        """Wait until the program ended and everything it wrote was read; returns its status, negative for a signal."""
        status = self.process.wait(seconds)
        self._reader.join(seconds)
        return status

    # how it was left

    def modes_left_on(self) -> frozenset[int]:
        """Private terminal modes switched on and not off again (1049: the other screen, 1003: the mouse …)."""
        on: set[int] = set()
        for match in re.finditer(rb"\x1b\[\?([0-9;]+)([hl])", self.output):
            modes = {int(mode) for mode in match[1].split(b";")}
            on = on | modes if match[2] == b"h" else on - modes
        return frozenset(on)

    def is_echoing(self) -> bool:
        """Whether what is typed shows, as it must when no program has the terminal in its hands."""
        return bool(termios.tcgetattr(self._own)[3] & termios.ECHO)

    def close(self) -> None:
        """End the program, hard if need be, and let go of the terminal."""
        if self.process.poll() is None:
            for number, patience in ((signal.SIGHUP, 5.0), (signal.SIGKILL, 30.0)):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.process.pid, number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(patience)
                    break
        self._ended = True
        self._reader.join(5)
        with contextlib.suppress(OSError):
            os.close(self._own)

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._own, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _feed(self) -> None:
        with self._grown:
            new = bytes(self._output[self._fed :])
            self._fed = len(self._output)
        if new:
            self._stream.feed(without_what_pyte_misreads(new))

    def _read_all(self) -> None:
        os.set_blocking(self._own, False)
        poll = select.poll()
        poll.register(self._own, select.POLLIN)
        while not self._ended:
            if not poll.poll(200):
                if self.process.poll() is not None:
                    return
                continue
            try:
                data = os.read(self._own, 65536)
            except BlockingIOError:
                continue
            except OSError as error:
                if error.errno in (errno.EIO, errno.EBADF):  # the last program let go of the terminal
                    return
                raise
            if not data:
                return
            with self._grown:
                self._output += data
                self._grown.notify_all()
            if self._answers_sync and b"\x1b[?2026$p" in data:
                self.send(b"\x1b[?2026;2$y")


def _environment(changes: Mapping[str, str | None]) -> dict[str, str]:
    environment = {
        "HOME": os.environ.get("HOME", "/"),
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": os.environ.get("PYTHONDONTWRITEBYTECODE", ""),
    }
    for name, value in changes.items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    return environment
