"""Writes that wait for one another sent to the database as one, which spares each its own savepoint and wake-up."""

from __future__ import annotations

import asyncio
import sqlite3
from asyncio import Future
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Protocol, TypeVar, runtime_checkable

from services.errors import DatabaseError, MemoryRefused
from services.home import Database

T = TypeVar("T")
Write = Callable[[sqlite3.Connection], T]
"""Changes nothing before it raises a `MemoryRefused`."""

_MOST = 256


@runtime_checkable
class Joining(Protocol):
    """A write that costs less together with others of its type."""

    def together(self, connection: sqlite3.Connection, writes: Sequence[Any]) -> Sequence[object]:
        """Do all in order; return what each returns, or the `MemoryRefused` it would raise."""
        ...


class GroupWrites:
    """Sends a write at once while nobody else writes, else with all that came meanwhile.

    Args:
        database: Where they go.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._waiting: list[tuple[Write[Any], Future[Any]]] = []
        self._busy = False
        self._crowded = False

    def write(self, job: Write[T]) -> Future[T]:
        """Run `job` in a transaction; its result is awaited once that is committed.

        Raises:
            DatabaseError: Raised from the awaited result, as is whatever the job raises.
        """
        if not self._busy and not self._crowded:
            return self._send(job)
        loop = asyncio.get_running_loop()
        if not self._busy:  # those that were told together come back together, within this turn of the loop
            self._busy = True
            loop.call_soon(self._send_waiting)
        future: Future[T] = loop.create_future()
        self._waiting.append((job, future))
        return future

    def _send(self, job: Write[T]) -> Future[T]:
        self._busy = True
        sent = self.database.write(job)
        sent.add_done_callback(self._send_waiting)
        return sent

    def _send_waiting(self, _: object = None) -> None:
        group, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
        self._busy = False
        if not group:
            return
        self._crowded = len(group) > 1
        sent = self._send(partial(_outcomes, [job for job, _ in group]))
        sent.add_done_callback(lambda done: self._settle(group, done))

    def _settle(self, group: list[tuple[Write[Any], Future[Any]]], sent: Future[list[Any]]) -> None:
        error = sent.exception()
        for number, (job, future) in enumerate(group):
            if future.done():  # the caller was cancelled meanwhile
                continue
            if error is None:
                _tell(future, sent.result()[number])
            elif isinstance(error, DatabaseError):
                future.set_exception(error)
            else:  # a fault of one of them, which must not be the others'
                self.database.write(job).add_done_callback(partial(_pass_on, future))


def _outcomes(jobs: Sequence[Write[Any]], connection: sqlite3.Connection) -> list[Any]:
    found: list[Any] = []
    for _, neighbours in groupby(jobs, key=type):
        first, *others = neighbours
        if others and isinstance(first, Joining):
            found += first.together(connection, [first, *others])
        else:
            found += [_outcome(job, connection) for job in (first, *others)]
    return found


def _outcome(job: Write[Any], connection: sqlite3.Connection) -> Any:  # noqa: ANN401
    try:
        return job(connection)
    except MemoryRefused as error:
        return error


def _tell(future: Future[Any], outcome: object) -> None:
    if isinstance(outcome, MemoryRefused):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def _pass_on(future: Future[Any], alone: Future[Any]) -> None:
    error = alone.exception()
    if future.done():
        return
    if error is None:
        future.set_result(alone.result())
    else:
        future.set_exception(error)
