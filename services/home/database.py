"""The one SQLite file of a home, from asyncio.

Writes run on one thread that puts every job waiting at that moment into one transaction, so that fifty callers
pay for one commit. Reads run on another thread with a connection of its own and see the last commit.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from services.errors import DatabaseDamaged, DatabaseError
from services.home.checkpoints import Checkpoints
from services.home.damage import connect_or_set_aside, suspect
from services.home.files import make_directory
from services.home.migrations import migrate
from services.home.sqlite import connect, explained

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], T]

_GROUP_LIMIT = 256
_CLOSING_SECONDS = 10.0


@dataclass(slots=True)
class _Request:
    job: Job[Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None

    def settle(self) -> None:
        if self.future.done():  # the caller was cancelled meanwhile
            return
        if self.error is None:
            self.future.set_result(self.result)
        else:
            self.future.set_exception(self.error)


class _Worker(ABC, threading.Thread):
    """A thread that owns one connection and runs the jobs it is given."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(name=f"pinfold-database-{name}", daemon=True)
        self._path = path
        self._requests: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._closing = False

    def submit(self, job: Job[T]) -> asyncio.Future[T]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        if self._closing:
            future.set_exception(DatabaseError("the database is closed"))
        else:
            self._requests.put(_Request(job, loop, future))
        return future

    async def stop(self) -> None:
        """Finish what was submitted; gives up on a disk that does not answer."""
        self._closing = True
        self._requests.put(None)
        if self.ident is not None:
            await asyncio.get_running_loop().run_in_executor(None, self.join, _CLOSING_SECONDS)

    def run(self) -> None:
        connection: sqlite3.Connection | None = None
        while group := self._next_group():
            try:
                if connection is None:
                    connection = self._connect()
                self._run_group(connection, group)
            except BaseException as error:
                for request in group:
                    request.error = request.error or self._told(error)
            _settle(group)
        self._finish()
        if connection is not None:
            connection.close()

    def _next_group(self) -> list[_Request]:
        """Wait for jobs and take all that are there; empty once stopped."""
        group: list[_Request] = []
        while len(group) < _GROUP_LIMIT:
            try:
                request = self._requests.get(block=not group)
            except queue.Empty:
                break
            if request is None:
                if group:
                    self._requests.put(None)  # end after this group
                break
            group.append(request)
        return group

    def _told(self, error: BaseException) -> BaseException:
        if not isinstance(error, sqlite3.Error):
            return error
        told = explained(error, self._path)
        if isinstance(told, DatabaseDamaged):
            suspect(self._path)
        return told

    def _finish(self) -> None:
        """Do what is to be done once no job will come any more."""

    @abstractmethod
    def _connect(self) -> sqlite3.Connection: ...

    @abstractmethod
    def _run_group(self, connection: sqlite3.Connection, group: list[_Request]) -> None: ...


class _Writer(_Worker):
    """Runs a group of jobs in one transaction, each in a savepoint of its own unless it is alone."""

    damage: DatabaseDamaged | None = None

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path, name)
        self._checkpoints = Checkpoints(path)

    def _connect(self) -> sqlite3.Connection:
        connection, self.damage = connect_or_set_aside(self._path)
        return connection

    def _run_group(self, connection: sqlite3.Connection, group: list[_Request]) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if len(group) == 1:
                group[0].result = group[0].job(connection)
            else:
                for request in group:
                    self._run_in_savepoint(connection, request)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        self._checkpoints.committed()

    def _finish(self) -> None:
        self._checkpoints.stop(_CLOSING_SECONDS)

    def _run_in_savepoint(self, connection: sqlite3.Connection, request: _Request) -> None:
        connection.execute("SAVEPOINT job")
        try:
            request.result = request.job(connection)
        except Exception as error:
            if not connection.in_transaction:  # SQLite undid the whole transaction, as it does on a full disk
                raise
            connection.execute("ROLLBACK TO job")
            request.error = self._told(error)
        connection.execute("RELEASE job")


class _Reader(_Worker):
    """Runs each job on a snapshot of its own."""

    def _connect(self) -> sqlite3.Connection:
        connection = connect(self._path)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _run_group(self, connection: sqlite3.Connection, group: list[_Request]) -> None:
        for request in group:
            connection.execute("BEGIN")
            try:
                request.result = request.job(connection)
            except Exception as error:
                request.error = self._told(error)
            finally:
                connection.execute("ROLLBACK")


def _settle(group: list[_Request]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[_Request]] = {}
    for request in group:
        by_loop.setdefault(request.loop, []).append(request)
    for loop, requests in by_loop.items():

        def settle_all(requests: list[_Request] = requests) -> None:
            for request in requests:
                request.settle()

        with contextlib.suppress(RuntimeError):  # the loop was closed; nobody waits any more
            loop.call_soon_threadsafe(settle_all)


class Database:
    """The database of a home.

    Use it as an asynchronous context manager, or `await open()` and `await close()`; it opens once.

    Args:
        path: The file, made when missing with its directory.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer = _Writer(path, "write")
        self._reader = _Reader(path, "read")

    @property
    def damage(self) -> DatabaseDamaged | None:
        """What was found and set aside when this database was opened."""
        return self._writer.damage

    async def open(self) -> None:
        """Create or migrate the tables; a damaged database is set aside for a new one.

        Raises:
            DatabaseError: The file cannot be used, or a newer Pinfold wrote it.
            PinfoldError: Its directory cannot be made.
        """
        make_directory(self.path.parent)
        self._writer.start()
        self._reader.start()
        try:
            await self.write(migrate)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Finish what was submitted and free the file; later jobs fail."""
        await asyncio.gather(self._writer.stop(), self._reader.stop())

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def write(self, job: Job[T]) -> asyncio.Future[T]:
        """Run `job` inside an immediate transaction; the result is awaited once it is committed.

        A job that raises undoes only itself. It may be rolled back with its group when the commit fails, and is then
        reported as failed. It runs on the database's thread and must not touch asyncio.

        Raises:
            DatabaseError: Raised from the awaited result.
        """
        return self._writer.submit(job)

    def read(self, job: Job[T]) -> asyncio.Future[T]:
        """Run a job that only reads, on a snapshot: everything it reads is of one moment.

        Raises:
            DatabaseError: Raised from the awaited result.
        """
        return self._reader.submit(job)

    def sync(self) -> None:
        """Wait until all that was committed is on the disk, also if the power fails; blocks.

        Raises:
            DatabaseError: The disk reports an error.
        """
        try:
            descriptor = os.open(self.path.with_name(f"{self.path.name}-wal"), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:  # all of it was moved to the file itself, which SQLite syncs
            return
        try:
            os.fsync(descriptor)
        except OSError as error:
            raise DatabaseError(f"cannot use the database {self.path}", why=error.strerror or str(error)) from error
        finally:
            os.close(descriptor)

    async def changes(self, every: float = 0.25) -> AsyncGenerator[None, None]:
        """Yield at once, then whenever anyone, here or in another process, has committed since the last time.

        Whoever reads after each yield misses nothing, whatever is committed meanwhile.

        Args:
            every: Seconds between looks; a look costs some 50 microseconds.

        Raises:
            DatabaseError: The database cannot be read, or was closed.
        """
        seen: int | None = None
        while True:
            found = await self.read(_data_version)
            if found != seen:
                seen = found
                yield
            await asyncio.sleep(every)


def _data_version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA data_version").fetchone()
    return int(version)


def next_revision(connection: sqlite3.Connection) -> int:
    """Draw the next number of the home-wide counter that orders changes of rows."""
    (value,) = connection.execute("UPDATE counter SET value = value + 1 RETURNING value").fetchone()
    return int(value)
