"""The one SQLite file of a home, from asyncio.

Writes run on one thread that puts every job waiting at that moment into one transaction, so that fifty callers
pay for one commit. Reads run on another thread with a connection of its own and see the last commit.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Self, TypeVar

from services.errors import DatabaseError

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], T]

_BUSY_SECONDS = 5.0
_GROUP_LIMIT = 256


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


class _Worker(threading.Thread):
    """A thread that owns one connection and runs the jobs it is given."""

    def __init__(self, path: Path, *, writes: bool) -> None:
        super().__init__(name=f"pinfold-database-{'write' if writes else 'read'}", daemon=True)
        self._path = path
        self._writes = writes
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

    def stop(self) -> None:
        self._closing = True
        self._requests.put(None)

    def run(self) -> None:
        connection: sqlite3.Connection | None = None
        stopping = False
        while not stopping:
            first = self._requests.get()
            if first is None:
                break
            group = [first]
            while self._writes and len(group) < _GROUP_LIMIT:
                try:
                    following = self._requests.get_nowait()
                except queue.Empty:
                    break
                if following is None:
                    stopping = True
                    break
                group.append(following)
            try:
                if connection is None:
                    connection = connect(self._path)
                if self._writes:
                    _run_in_one_transaction(connection, group)
                else:
                    _run_each(connection, group)
            except BaseException as error:
                for request in group:
                    request.error = request.error or explained(error, self._path)
            _settle(group)
        if connection is not None:
            connection.close()


def _run_in_one_transaction(connection: sqlite3.Connection, group: list[_Request]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for request in group:
            connection.execute("SAVEPOINT job")
            try:
                request.result = request.job(connection)
            except Exception as error:
                connection.execute("ROLLBACK TO job")
                request.error = explained(error, None)
            connection.execute("RELEASE job")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _run_each(connection: sqlite3.Connection, group: list[_Request]) -> None:
    for request in group:
        try:
            request.result = request.job(connection)
        except Exception as error:
            request.error = explained(error, None)


def _settle(group: list[_Request]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[_Request]] = {}
    for request in group:
        by_loop.setdefault(request.loop, []).append(request)
    for loop, requests in by_loop.items():

        def settle_all(requests: list[_Request] = requests) -> None:
            for request in requests:
                request.settle()

        try:
            loop.call_soon_threadsafe(settle_all)
        except RuntimeError:  # the loop was closed; nobody waits any more
            continue


def connect(path: Path) -> sqlite3.Connection:
    """Open a connection as every part of Pinfold uses it: WAL, own transactions, five seconds of patience."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=_BUSY_SECONDS, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA busy_timeout = {int(_BUSY_SECONDS * 1000)}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def explained(error: BaseException, path: Path | None) -> BaseException:
    """Turn SQLite's error into one an operator understands; other errors pass unchanged."""
    if not isinstance(error, sqlite3.Error):
        return error
    name = getattr(error, "sqlite_errorname", "")
    where = f"the database {path}" if path else "the database"
    reasons = {
        "SQLITE_BUSY": ("another program holds it for writing", "Try again, or end that program."),
        "SQLITE_FULL": ("the disk is full", "Free some space."),
        "SQLITE_IOERR": ("the disk reports an error", "Look at the system's log."),
        "SQLITE_READONLY": ("it is read-only", "Check the rights of the state folder."),
        "SQLITE_CANTOPEN": ("it cannot be opened", "Check the rights of the state folder."),
        "SQLITE_CORRUPT": (
            "it is damaged",
            "Move it aside and start again; sandboxes and their output stay.",
        ),
        "SQLITE_NOTADB": ("it is not a database", "Move it aside and start again."),
    }
    for prefix, (why, fix) in reasons.items():
        if name.startswith(prefix):
            return _with_cause(DatabaseError(f"cannot use {where}", why=why, fix=fix), error)
    return _with_cause(DatabaseError(f"cannot use {where}", why=str(error)), error)


def _with_cause(error: DatabaseError, cause: BaseException) -> DatabaseError:
    error.__cause__ = cause
    return error


class Database:
    """The database of a home.

    Use it as an asynchronous context manager, or `await open()` and `await close()`.

    Args:
        path: The file, made when missing with its directory.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer = _Worker(path, writes=True)
        self._reader = _Worker(path, writes=False)

    async def open(self) -> None:
        """Create or migrate the tables.

        Raises:
            DatabaseError: The file cannot be used, or a newer Pinfold wrote it.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._writer.start()
        self._reader.start()
        try:
            await self.write(_migrate)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Finish what was submitted and free the file."""
        for worker in (self._writer, self._reader):
            worker.stop()
        for worker in (self._writer, self._reader):
            if worker.ident is not None:
                await asyncio.get_running_loop().run_in_executor(None, worker.join)

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
        """Run a job that only reads, on a connection of its own.

        Raises:
            DatabaseError: Raised from the awaited result.
        """
        return self._reader.submit(job)

    async def changes(self, every: float = 0.25) -> AsyncIterator[None]:
        """Yield whenever anyone, here or in another process, has committed since the last time.

        Args:
            every: Seconds between looks; a look costs some 50 microseconds.
        """
        seen = await self.read(_data_version)
        while True:
            await asyncio.sleep(every)
            found = await self.read(_data_version)
            if found != seen:
                seen = found
                yield


def _data_version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA data_version").fetchone()
    return int(version)


def next_revision(connection: sqlite3.Connection) -> int:
    """Draw the next number of the home-wide counter that orders changes of rows."""
    (value,) = connection.execute("UPDATE counter SET value = value + 1 RETURNING value").fetchone()
    return int(value)


def _migrate(connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    scripts = sorted(
        (entry for entry in resources.files("services.home.migrations").iterdir() if entry.name.endswith(".sql")),
        key=lambda entry: entry.name,
    )
    if version > len(scripts):
        raise DatabaseError(
            "this home is from a newer Pinfold",
            why=f"its database has version {version}, this Pinfold knows {len(scripts)}",
            fix="Use the newer Pinfold, or another --home.",
        )
    for number, script in enumerate(scripts[version:], start=version + 1):
        for statement in _statements(script.read_text(encoding="utf-8")):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number}")


def _statements(script: str) -> list[str]:
    """Split a script; `executescript` would commit the transaction it runs in."""
    found: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    return found
