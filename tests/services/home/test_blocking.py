"""Blocking calls run beside the event loop and cannot keep the process from ending."""

from __future__ import annotations

import asyncio
import threading

import pytest

from services.errors import PinfoldError
from services.home import BlockingCalls
from tests.services.home.processes import outputs, start

HANG = """
import asyncio, sys, threading, time
sys.path.insert(0, ".")
from services.home import BlockingCalls

async def main():
    calls = BlockingCalls()
    begun = threading.Event()
    hanging = asyncio.create_task(calls.run(lambda: (begun.set(), time.sleep(3600))))
    await asyncio.to_thread(begun.wait)
    hanging.cancel()
    calls.close()

asyncio.run(main())
print("ended")
"""


async def test_returns_the_result_and_raises_the_error() -> None:
    calls = BlockingCalls()
    assert await calls.run(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await calls.run(divmod, 1, 0)
    calls.close()


async def test_the_loop_goes_on_meanwhile() -> None:
    calls = BlockingCalls()
    ready = threading.Event()
    waiting = asyncio.create_task(calls.run(ready.wait, 60))
    await asyncio.sleep(0)
    ready.set()  # only a loop that was not blocked comes here
    assert await waiting
    calls.close()


async def test_a_cancelled_caller_does_not_disturb_the_next() -> None:
    calls = BlockingCalls(threads=1)
    release = threading.Event()
    abandoned = asyncio.create_task(calls.run(release.wait, 60))
    await asyncio.sleep(0)
    abandoned.cancel()
    following = asyncio.create_task(calls.run(str, 1))
    release.set()
    assert await following == "1"
    calls.close()


async def test_takes_no_more_calls_once_closed() -> None:
    calls = BlockingCalls()
    calls.close()
    with pytest.raises(PinfoldError, match="closing"):
        await calls.run(str, 1)


def test_a_call_that_hangs_does_not_keep_the_process_from_ending() -> None:
    assert outputs([start(HANG)]) == ["ended"]
