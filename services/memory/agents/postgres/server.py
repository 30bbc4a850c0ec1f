"""The connection to a PostgreSQL server; its address is known to nobody else and told to nobody."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from services.agents import PostgresStore
from services.errors import MemoryUnavailable
from services.memory.agents.postgres.migrations import scripts

if TYPE_CHECKING:
    from asyncpg import Connection, Pool

_CONNECT_SECONDS = 5.0
_CLOSE_SECONDS = 2.0
_OPERATION_SECONDS = 60.0
_CONNECTIONS = 4
_MIGRATING = 0x70696E666F6C64  # any number that no other program locks


class Server:
    """A server that is connected to when it is first needed, and again whenever the connection was lost.

    Args:
        settings: Says which environment variable holds the address; asked for every operation.
        env: Where that is looked up.
    """

    def __init__(self, settings: Callable[[], PostgresStore], env: Mapping[str, str]) -> None:
        self._settings = settings
        self._env = env
        self._pool: Pool | None = None
        self._address = ""
        self._opening = asyncio.Lock()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Connection]:
        """Hold a connection in a transaction in which everything read is of one moment.

        Raises:
            MemoryUnavailable: The server cannot be used.
        """
        async with self._connected() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
            yield connection

    @asynccontextmanager
    async def writing(self, *owners: str) -> AsyncIterator[Connection]:
        """Hold a connection in a transaction, alone among all that write for these owners; then commit.

        Raises:
            MemoryUnavailable: The server cannot be used, or did not commit.
        """
        async with self._connected() as connection, connection.transaction():
            for number in sorted(map(_lock_number, owners)):
                await connection.execute("SELECT pg_advisory_xact_lock($1)", number)
            yield connection

    async def version(self) -> str:
        """Ask the server what it is.

        Raises:
            MemoryUnavailable: It cannot be used.
        """
        async with self._connected() as connection:
            return str(await connection.fetchval("SHOW server_version"))

    async def close(self) -> None:
        """Close the connections."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await _close(pool)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Connection]:
        try:
            import asyncpg
        except ImportError:
            raise _unavailable("asyncpg is not installed", "Install pinfold[postgres].") from None
        try:
            pool = await self._opened()
            async with pool.acquire(timeout=_CONNECT_SECONDS) as connection:
                yield connection
        except asyncpg.ClientConfigurationError:  # its message may quote the address
            raise self._no_address() from None
        except asyncpg.PostgresError as error:
            raise _unavailable(error.args[0] if error.args else type(error).__name__) from error
        except asyncpg.InterfaceError as error:
            raise _unavailable("the connection was lost", "Try again.") from error
        except TimeoutError as error:
            raise _unavailable("no server answers in time", _IS_IT_RUNNING) from error
        except OSError as error:
            raise _unavailable(error.strerror or "no server answers", _IS_IT_RUNNING) from error

    async def _opened(self) -> Pool:
        import asyncpg

        async with self._opening:
            address = self._found_address()
            if self._pool is not None and address == self._address:
                return self._pool
            await self.close()
            options: dict[str, Any] = {
                "min_size": 0,
                "max_size": _CONNECTIONS,
                "timeout": _CONNECT_SECONDS,
                "command_timeout": _OPERATION_SECONDS,
                "server_settings": {"application_name": "pinfold"},
            }
            try:
                pool = await asyncpg.create_pool(address, **options)
            except ValueError:  # it quotes a part of the address
                raise self._no_address() from None
            try:
                async with pool.acquire(timeout=_CONNECT_SECONDS) as connection:
                    await _migrate(connection)
            except ValueError:
                raise self._no_address() from None
            except BaseException:
                await _close(pool)
                raise
            self._pool, self._address = pool, address
            return pool

    def _found_address(self) -> str:
        name = self._settings().url_env
        if not name:
            raise _unavailable("pinfold.toml does not say where it is", "Set url_env in [memory.postgres].")
        if not self._env.get(name):
            raise _unavailable(f"${name} is not set", "Set it to postgresql://…, as [memory.postgres] names it.")
        return self._env[name]

    def _no_address(self) -> MemoryUnavailable:
        name = self._settings().url_env
        return _unavailable(f"${name} holds no address", "Set it to postgresql://USER:PASSWORD@HOST/DATABASE.")


async def _close(pool: Pool) -> None:
    """Close all connections, politely where the server still listens."""
    import asyncpg

    try:
        async with asyncio.timeout(_CLOSE_SECONDS):
            await pool.close()
    except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        pool.terminate()


_IS_IT_RUNNING = "Look whether the server runs, and where."


def _unavailable(why: str, fix: str = "") -> MemoryUnavailable:
    return MemoryUnavailable("cannot use the memory in postgres", why=why, fix=fix)


def _lock_number(owner: str) -> int:
    return int.from_bytes(hashlib.sha256(f"pinfold:{owner}".encode()).digest()[:8], "big", signed=True)


async def _migrate(connection: Connection) -> None:
    """Bring the tables to the newest version, whoever else does at the same time."""
    known = scripts()
    if await _version(connection) == len(known):
        return
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _MIGRATING)
        version = await _version(connection)
        if version > len(known):
            raise _unavailable(
                f"its tables have version {version}, this Pinfold knows {len(known)}", "Use the newer Pinfold."
            )
        if version == 0:
            await connection.execute("CREATE SCHEMA IF NOT EXISTS pinfold")
            await connection.execute("CREATE TABLE pinfold.version (number integer NOT NULL)")
            await connection.execute("INSERT INTO pinfold.version VALUES (0)")
        for script in known[version:]:
            await connection.execute(script)
        await connection.execute("UPDATE pinfold.version SET number = $1", len(known))


async def _version(connection: Connection) -> int:
    if await connection.fetchval("SELECT to_regclass('pinfold.version')") is None:
        return 0
    return int(await connection.fetchval("SELECT number FROM pinfold.version"))
