"""The operator's own terminal, handed to a shell inside a sandbox and taken back whole."""

from __future__ import annotations

import asyncio
import os
import signal
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from services.errors import PinfoldError
from tui.signals import handled

if TYPE_CHECKING:
    from services.sandbox import Shell

HANG_UP = b"\x1d"
"""ctrl-]; typed three times within a second it leaves a shell that does not answer."""

HUNG_UP = 128 + signal.SIGHUP

_PRESSES = 3
_PRESS_SECONDS = 1.0
_READ_SIZE = 65536
_CLOSE_SECONDS = 2.0
_LAST_OUTPUT_SECONDS = 1.0

# Soft reset, main screen, no mouse reports, no bracketed paste, cursor shown, plain text.
_RESET = b"\x1b[!p\x1b[?1047l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?25h\x1b[0m"


async def relay(shell: Shell, *, source: int = 0, target: int = 1) -> int:
    """Connect this terminal with a shell until the shell ends; every key goes to it, its size follows the terminal.

    The terminal is as before on every way out, also by a signal. Three times ctrl-] hangs up.

    Args:
        shell: Closed at the end.
        source: Descriptor of the terminal that is typed on.
        target: Descriptor of the terminal that is drawn on.

    Returns:
        The shell's exit status, 129 after hanging up.

    Raises:
        PinfoldError: There is no terminal, or the engine was lost meanwhile.
    """
    with _ending_signals():
        try:
            if not (os.isatty(source) and os.isatty(target)):
                raise PinfoldError("cannot open a shell", why="it needs a terminal for input and output")
            with _raw(source, target), _resizes() as resized:
                return await _connected(shell, source, target, resized)
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await shell.close()


async def _connected(shell: Shell, source: int, target: int, resized: asyncio.Event) -> int:
    output = asyncio.create_task(_copy_output(shell, target))
    typing = asyncio.create_task(_copy_typing(shell, source))
    sizes = asyncio.create_task(_follow_size(shell, target, resized))
    tasks = (output, typing, sizes)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if typing.done() and typing.exception() is None:
            return HUNG_UP
        # A key or a size may hit a shell that is just ending: what its output says counts.
        await asyncio.wait({output}, timeout=_LAST_OUTPUT_SECONDS)
        for task in tasks:
            if task.done():
                task.result()
                return await shell.wait()
        return HUNG_UP
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _copy_output(shell: Shell, target: int) -> None:
    while data := await shell.read():
        await asyncio.to_thread(_write_all, target, data)


async def _copy_typing(shell: Shell, source: int) -> None:
    """Send what is typed; returns when the terminal is gone or the operator hangs up."""
    presses: list[float] = []
    while True:
        await _readable(source)
        try:
            data = os.read(source, _READ_SIZE)
        except OSError:  # the terminal was closed
            return
        if not data:
            return
        presses = _recent_presses(presses, data)
        if len(presses) >= _PRESSES:
            return
        await shell.write(data)


def _recent_presses(presses: list[float], data: bytes, now: Callable[[], float] = time.monotonic) -> list[float]:
    if data.strip(HANG_UP):
        return []
    moment = now()
    return [*(press for press in presses if moment - press < _PRESS_SECONDS), *[moment] * len(data)]


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)


async def _follow_size(shell: Shell, target: int, resized: asyncio.Event) -> None:
    while True:
        await resized.wait()
        resized.clear()
        size = os.get_terminal_size(target)
        await shell.resize(size.columns, size.lines)


@contextmanager
def _raw(source: int, target: int) -> Iterator[None]:
    before = termios.tcgetattr(source)
    tty.setraw(source, termios.TCSADRAIN)  # keeps what was typed ahead
    try:
        yield
    finally:
        with suppress(OSError):  # a terminal that is gone needs no reset
            _write_all(target, _RESET)
        with suppress(termios.error):
            termios.tcflush(source, termios.TCIFLUSH)  # answers to what the shell asked of the terminal
            termios.tcsetattr(source, termios.TCSANOW, before)


@contextmanager
def _ending_signals() -> Iterator[None]:
    """Cancel this task when the process is asked to end, and let it end once all is restored."""
    task = asyncio.current_task()
    assert task is not None
    received: list[signal.Signals] = []

    def end(number: signal.Signals) -> None:
        received.append(number)
        task.cancel()

    try:
        with handled(signal.SIGTERM, end), handled(signal.SIGHUP, end):
            yield
    finally:
        if received:
            signal.raise_signal(received[0])


@contextmanager
def _resizes() -> Iterator[asyncio.Event]:
    """An event that is set at first and whenever the terminal's size changed."""
    resized = asyncio.Event()
    resized.set()
    with handled(signal.SIGWINCH, lambda _: resized.set()):
        yield resized


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
