"""Sessions followed to their end: output into the spool, then how they ended into the record.

Of all Pinfolds on a home exactly one writes a session's spool: the one that holds the spool's lock. The others ask for
it every second, so that a follower that is killed is replaced. The end is recorded only when every byte is in the spool
and the spool is marked complete; whoever sees an ended session can read all it printed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from services.errors import DatabaseError, EngineUnavailable, LockHeld, PinfoldError, SandboxGone, SessionNotFound
from services.home import BlockingCalls, Home
from services.output import SpoolReader, SpoolWriter
from services.sandbox import transitions, upkeep
from services.sandbox.cleanup import Cleanup
from services.sandbox.engines.engine import Engine, SandboxState
from services.sandbox.model import Session
from services.sandbox.roster import EngineRoster
from services.sandbox.session_files import SessionFiles
from services.sandbox.store import SessionStore
from services.sandbox.unforeseen import Unforeseen

_LOCK_SECONDS = 1.0
_LOOK_SECONDS = 0.5
_TROUBLE_SECONDS = 2.0
_CLEANUP_SECONDS = 10.0
_TROUBLE = "its output cannot be taken in"
_GONE = "the engine does not know its sandbox any more"

AfterEnd = Callable[[Session], Awaitable[None]]


class Followers:
    """One task for each session that is followed here, or waited for until its follower elsewhere is gone.

    Args:
        after_end: Called with every session whose end was recorded here.
        unforeseen: Told of errors that are none of Pinfold's.
    """

    def __init__(
        self,
        home: Home,
        store: SessionStore,
        roster: EngineRoster,
        cleanup: Cleanup,
        calls: BlockingCalls,
        now: Callable[[], int],
        after_end: AfterEnd,
        unforeseen: Unforeseen,
    ) -> None:
        self._home = home
        self._store = store
        self._roster = roster
        self._cleanup = cleanup
        self._calls = calls
        self._now = now
        self._after_end = after_end
        self._unforeseen = unforeseen
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._cleaning_up: set[str] = set()
        self._news = asyncio.Event()
        self._closed = False

    def ensure(self, session: str) -> None:
        """Follow a session unless it is being followed here already."""
        if session not in self._tasks and not self._closed:
            task = asyncio.create_task(self._follow(session), name=f"follow {session}")
            self._tasks[session] = task
            task.add_done_callback(lambda _: self._forget(session))
            self._unforeseen.watch(task)

    def look_again(self) -> None:
        """Some sandbox may have ended: look now and not at the next interval."""
        self._news.set()
        self._news = asyncio.Event()

    def drop(self, session: str) -> None:
        """Stop following a session that was removed."""
        if session in self._tasks:
            self._tasks[session].cancel()

    async def close(self) -> None:
        """Stop following; the sessions go on. What ended just now is still cleaned up."""
        self._closed = True
        tasks = dict(self._tasks)
        for session, task in tasks.items():
            if session not in self._cleaning_up:
                task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)

    async def cleaned_up(self, session: str) -> None:
        """Wait until what follows the end of a session is done, if it is done here; gives up on what hangs."""
        if session in self._tasks:
            await asyncio.wait({self._tasks[session]}, timeout=_CLEANUP_SECONDS)

    def _forget(self, session: str) -> None:
        self._tasks.pop(session, None)
        self._cleaning_up.discard(session)

    async def _follow(self, session_id: str) -> None:
        while True:
            try:
                session = await self._store.get(session_id)
                if session.state not in transitions.IN_SANDBOX or transitions.never_ran(session):
                    return
                ended = await self._see_to_its_end(session, await self._roster.engine_of(session))
                if ended is not None:
                    self._cleaning_up.add(session_id)
                    await self._after_end(ended)
                return
            except SessionNotFound:
                return
            except LockHeld:
                await asyncio.sleep(_LOCK_SECONDS)
            except PinfoldError as error:
                with suppress(DatabaseError):  # whoever watches the records tells of it
                    await self._complain(session_id, error)
                await asyncio.sleep(_TROUBLE_SECONDS)

    async def _see_to_its_end(self, session: Session, engine: Engine) -> Session | None:
        """Bring in all output and record the end; None when somebody else recorded it."""
        try:
            if engine.spools_itself:
                state = await self._wait_for_end(session, engine)
                await self._complete(session)
            else:
                await self._take_in(session, engine)
                state = await self._wait_for_end(session, engine)
        except SandboxGone:
            if (await self._store.get(session.id)).state.ended:  # recorded, and cleaned up, by another Pinfold
                return None
            await self._cleanup.complete_output(session, _GONE)
            return await self._store.change(session.id, transitions.lost(self._now(), _GONE))
        return await self._store.change(session.id, transitions.ended(state, self._now()))

    async def _take_in(self, session: Session, engine: Engine) -> None:
        writer = await self._open_writer(session, keep_unindexed=False)
        try:
            if session.detail.startswith(_TROUBLE):
                await self._store.change(session.id, upkeep.noted(""))
            await engine.follow(session.sandbox, writer)
        except BaseException:
            writer.close()
            raise
        await self._finish(writer)

    async def _wait_for_end(self, session: Session, engine: Engine) -> SandboxState:
        while True:
            news = self._news
            state = await engine.inspect(session.sandbox)
            if state.status == "exited":
                return state
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await news.wait()

    async def _complete(self, session: Session) -> None:
        """See that the spool an engine wrote is marked complete; its supervisor may have died before it did so."""
        if not await self._calls.run(_is_complete, SessionFiles.of(self._home, session.id)):
            await self._finish(await self._open_writer(session, keep_unindexed=True))

    async def _finish(self, writer: SpoolWriter) -> None:
        """Complete and close a spool; once begun that is done also when nobody waits for it any more."""
        await asyncio.shield(asyncio.ensure_future(self._calls.run(_finish_and_close, writer)))

    async def _open_writer(self, session: Session, *, keep_unindexed: bool) -> SpoolWriter:
        opening = asyncio.ensure_future(
            self._calls.run(
                SpoolWriter.open,
                SessionFiles.of(self._home, session.id).output,
                limit=session.spec.output_limit,
                keep_unindexed=keep_unindexed,
            )
        )
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_close_unwanted)
            raise

    async def _complain(self, session: str, error: PinfoldError) -> None:
        if not isinstance(error, EngineUnavailable):  # an engine that is away is shown for itself
            await self._store.change(session, upkeep.noted(f"{_TROUBLE}: {error}"))


def _finish_and_close(writer: SpoolWriter) -> None:
    with writer:
        writer.flush()
        writer.finish()


def _close_unwanted(opening: asyncio.Future[SpoolWriter]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


def _is_complete(files: SessionFiles) -> bool:
    reader = SpoolReader.open(files.output)
    try:
        return reader.complete
    finally:
        reader.close()
