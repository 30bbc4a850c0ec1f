"""Errors nobody foresaw, from tasks that nobody awaits to whoever supervises."""

from __future__ import annotations

import asyncio
from typing import Any


class Unforeseen:
    """Keeps the first error a watched task ends with."""

    def __init__(self) -> None:
        self._news = asyncio.Event()
        self._error: BaseException | None = None

    def watch(self, task: asyncio.Task[Any]) -> None:
        """Note how a task ends; being cancelled is no error."""
        task.add_done_callback(self._look)

    async def raised(self) -> None:
        """Wait for an error, and raise it."""
        await self._news.wait()
        assert self._error is not None
        raise self._error

    def _look(self, task: asyncio.Task[Any]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None and self._error is None:
            self._error = error
            self._news.set()
