"""Signals handled on the event loop for a while, and given back as they were."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def handled(number: signal.Signals, handler: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Call `handler` on the running event loop whenever a signal arrives, for the length of a `with` block."""
    loop = asyncio.get_running_loop()
    before = signal.getsignal(number)
    loop.add_signal_handler(number, handler, number)
    try:
        yield
    finally:
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL if before is None else before)
