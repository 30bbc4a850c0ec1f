"""Files that keys and rows are written to and read from, with progress and an end at any time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from services.errors import InputRefused, PinfoldError
from services.memory import Row, Scope, Snapshot
from tui.figures import counted, size
from tui.memory_log import log
from tui.screens.memory.changes.doing import Outcome, change_keys
from tui.widgets.log_pane.saving import GivenUp, Saving

if TYPE_CHECKING:
    from services.pinfold import Pinfold

_BATCH = 200
_LONGEST_LINE = 1024 * 1024
_SNAPSHOT_LIMIT = 256 * 1024 * 1024

Say = Callable[[str], None]


class Transfer:
    """One file being written or read.

    Args:
        pinfold: The services.
        say: Told how far it is.
    """

    def __init__(self, pinfold: Pinfold, say: Say) -> None:
        self._pinfold = pinfold
        self._say = say
        self._saving: Saving | None = None
        self._wanted = True

    def give_up(self) -> None:
        """End it: nothing stays of a file that is written, and what was read stays stored."""
        self._wanted = False
        if self._saving is not None:
            self._saving.give_up()

    # ── writing ───────────────────────────────────────────────────────────────────────────────────────────────

    async def export_keys(self, path: Path, scopes: Sequence[Scope], pattern: str, *, replace: bool) -> Outcome:
        """Write keys as JSON Lines; no scope is every scope."""
        lines = self._pinfold.memory.transfer.export(scopes, pattern)
        return await self._write(path, lines, "key", replace=replace)

    async def export_rows(self, path: Path, alias: str, *, replace: bool) -> Outcome:
        """Write an agent's rows as JSON Lines."""
        return await self._write(
            path, _pages(self._pinfold.agent_memories.of(alias).read_out()), "row", replace=replace
        )

    async def _write(
        self, path: Path, source: AsyncGenerator[Sequence[Any], None], what: str, *, replace: bool
    ) -> Outcome:
        self._saving = Saving(path, replace=replace)
        count = 0

        def counting(lines: int) -> None:
            nonlocal count
            count += lines

        telling = asyncio.create_task(self._tell(lambda: f"{counted(count, what)} written"))
        async with aclosing(source):
            try:
                written = await self._saving.run(_encoded(source, asyncio.get_running_loop(), counting))
            except GivenUp:
                return Outcome(f"nothing was written to {path}")
            finally:
                telling.cancel()
                self._say("")
        await log(self._pinfold, "export", f"{counted(count, what)} to {path}")
        return Outcome(f"{counted(count, what)}, {size(written)}, written to {path}")

    async def _tell(self, progress: Callable[[], str]) -> None:
        while True:
            self._say(progress())
            await asyncio.sleep(0.1)

    async def snapshot(self, path: Path, scope: Scope, *, replace: bool) -> Outcome:
        """Write everything in a scope as one document that `restore` reads."""
        snapshot = await self._pinfold.memory.namespace(scope).snapshot()
        self._saving = Saving(path, replace=replace)
        await self._saving.run([await self._pinfold.calls.run(msgspec.json.encode, snapshot), b"\n"])
        await log(self._pinfold, "snapshot", f"{scope} to {path}")
        return Outcome(f"{counted(len(snapshot.entries), 'key')} of {scope} written to {path}")

    # ── reading ───────────────────────────────────────────────────────────────────────────────────────────────

    async def import_keys(self, path: Path, into: Scope | None) -> Outcome:
        """Store the keys of an export over what is there."""
        keys = 0
        file = await self._opened(path)
        try:
            progress = self._pinfold.memory.transfer.take_in(file, into)
            async with aclosing(progress):
                async for so_far in progress:
                    keys = so_far.keys
                    self._say(f"{counted(keys, 'key')} stored")
                    if not self._wanted:
                        break
        except InputRefused as error:
            raise InputRefused(error.what, why=error.why, fix=f"{counted(keys, 'key')} before it stored.") from error
        finally:
            self._say("")
            await self._pinfold.calls.run(file.close)
            if keys:
                await log(self._pinfold, "import", f"{counted(keys, 'key')} from {path}")
        return Outcome(f"{counted(keys, 'key')} stored" + ("" if self._wanted else "; the rest of the file is not"))

    async def import_rows(self, path: Path, alias: str) -> Outcome:
        """Store an export of rows as an agent's own, over those with their keys."""
        memory = self._pinfold.agent_memories.of(alias)
        count = 0
        file = await self._opened(path)
        try:
            while self._wanted and (rows := await self._pinfold.calls.run(_read_rows, file, count)):
                count += await memory.take_in(rows)
                self._say(f"{counted(count, 'row')} stored")
        finally:
            self._say("")
            await self._pinfold.calls.run(file.close)
            if count:
                await log(self._pinfold, "import", f"{counted(count, 'row')} from {path}", alias)
        return Outcome(f"{counted(count, 'row')} stored" + ("" if self._wanted else "; the rest of the file is not"))

    async def restore(self, path: Path, scope: Scope) -> Outcome:
        """Replace everything in a scope by what a snapshot holds."""
        snapshot = await self.read_snapshot(path)
        count, undo = await change_keys(self._pinfold, scope, "", "restore", lambda keys: keys.restore(snapshot))
        return Outcome(f"{counted(count, 'key')} restored", undo=undo)

    async def read_snapshot(self, path: Path) -> Snapshot:
        """Read a snapshot.

        Raises:
            PinfoldError: The file cannot be read.
            InputRefused: It is none.
        """
        file = await self._opened(path)
        try:
            return await self._pinfold.calls.run(_decoded, file, path)
        finally:
            await self._pinfold.calls.run(file.close)

    async def _opened(self, path: Path) -> BinaryIO:
        try:
            return await self._pinfold.calls.run(path.open, "rb")
        except (OSError, ValueError) as error:
            raise PinfoldError(f"cannot read {path}", why=getattr(error, "strerror", None) or str(error)) from error


async def _pages(source: AsyncIterator[Sequence[Row]]) -> AsyncGenerator[Sequence[Row], None]:
    async for page in source:
        yield page


def _encoded(
    source: AsyncGenerator[Sequence[Any], None], loop: asyncio.AbstractEventLoop, counting: Callable[[int], None]
) -> Iterator[bytes]:
    """Lines of JSON, taken from the event loop by another thread."""

    async def more() -> Sequence[Any] | None:
        return await anext(source, None)

    while (lines := asyncio.run_coroutine_threadsafe(more(), loop).result()) is not None:
        counting(len(lines))
        yield b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def _read_rows(file: BinaryIO, before: int) -> list[Row]:
    rows: list[Row] = []
    while len(rows) < _BATCH and (line := file.readline(_LONGEST_LINE)):
        if not line.strip():
            continue
        try:
            rows.append(msgspec.json.decode(line, type=Row))
        except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
            raise InputRefused(f"row {before + len(rows) + 1:,} is no row of an export", why=str(error)) from error
    return rows


def _decoded(file: BinaryIO, path: Path) -> Snapshot:
    data = file.read(_SNAPSHOT_LIMIT + 1)
    if len(data) > _SNAPSHOT_LIMIT:
        raise InputRefused(f"{path} is too large for a snapshot", why=f"at most {size(_SNAPSHOT_LIMIT)} are read")
    try:
        return msgspec.json.decode(data, type=Snapshot)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise InputRefused(f"{path} is no snapshot", why=str(error)) from error
