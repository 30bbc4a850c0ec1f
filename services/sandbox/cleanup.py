"""Taking away what is no longer needed: half-made sandboxes, ended ones, and whole sessions."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from services.activity import Draft
from services.errors import EngineError, EngineUnavailable, LockHeld, PinfoldError, SpoolError
from services.home import BlockingCalls, Home
from services.output import SpoolWriter
from services.sandbox import transitions, upkeep
from services.sandbox.engines.engine import Engine
from services.sandbox.model import Session
from services.sandbox.refused_hosts import RefusedHosts
from services.sandbox.roster import EngineRoster
from services.sandbox.session_files import SessionFiles
from services.sandbox.store import SessionStore


class Cleanup:
    """Removes sandboxes and sessions; whatever fails stays recorded and can be tried again."""

    def __init__(
        self,
        home: Home,
        store: SessionStore,
        roster: EngineRoster,
        refused: RefusedHosts,
        calls: BlockingCalls,
        now: Callable[[], int],
    ) -> None:
        self._home = home
        self._store = store
        self._roster = roster
        self._refused = refused
        self._calls = calls
        self._now = now

    async def give_up(self, session: str, reason: str, *, cancelled: bool, actor: str = "operator") -> None:
        """End a session whose main process was never let go, and remove what was made of its sandbox.

        The caller holds the session's `hands` lock. The end is recorded last, so that who is killed on the way leaves a
        start that can be given up again.
        """
        found = (await self._store.by_id([session])).get(session)
        if found is None or found.state.ended or not transitions.never_ran(found):
            return
        sandbox = found.sandbox or await self._unrecorded_sandbox(found)
        problem = await self._remove(found, sandbox) if sandbox else ""
        if not sandbox:
            await self._dismiss_unused(found)
        unfinished = await self._complete_output(found)
        told = f"{reason}; {unfinished}" if unfinished else reason
        decide = transitions.not_started(self._now(), told, cancelled=cancelled, actor=actor)
        if await self._store.change(session, decide) is None or not sandbox:
            return
        await self._store.change(session, upkeep.left_over(sandbox))
        decide = upkeep.not_cleaned(problem) if problem else upkeep.cleaned(sandbox, "it was never used")
        await self._store.change(session, decide)

    async def remove_sandbox(self, session: Session, reason: str) -> bool:
        """Remove the sandbox of an ended session; its record and output stay.

        Returns:
            Whether it is gone. What went wrong otherwise is in the session's detail and its steps.
        """
        problem = await self._remove(session, session.sandbox)
        decide = upkeep.not_cleaned(problem) if problem else upkeep.cleaned(session.sandbox, reason)
        await self._store.change(session.id, decide)
        return not problem

    async def forget(self, session: Session, *, leave_behind: bool = False) -> None:
        """Remove a session entirely: sandbox, record and output.

        Args:
            session: Must have ended, unless its sandbox is left behind.
            leave_behind: Go on when the sandbox cannot be removed.

        Raises:
            EngineError: The sandbox could not be removed; the session is kept.
            PinfoldError: Its files could not be removed; they are taken away when Pinfold starts again.
        """
        detail = ""
        if session.sandbox:
            try:
                await self._remove_from_engine(session, session.sandbox)
            except EngineError as error:
                if not leave_behind:
                    raise
                detail = transitions.one_line(f"its sandbox {session.sandbox} was left behind: {error}")
        await self._store.delete(
            session.id, Draft("session.remove", "operator", session.agent, session.id, "done", detail)
        )
        await self._calls.run(_remove_tree, self._home.session_dir(session.id))

    async def dismiss(self, session: Session, engine: Engine) -> None:
        """Remove what accompanied a sandbox that is gone, once what it tells is logged.

        Raises:
            EngineError: It could not be removed, or is away.
        """
        await self._refused.take_in(session)
        await engine.dismiss(session.id)

    async def take_in_refusals(self) -> None:
        """Log which hosts were refused to the sandboxes there are; one whose engine is away is left for later.

        Raises:
            EngineError: An engine that answers does not tell.
        """
        for session in await self._store.current():
            with suppress(EngineUnavailable):  # shown for itself
                await self._refused.take_in(session)

    async def complete_output(self, session: Session, note: str) -> None:
        """Mark the output of a session whose sandbox is gone as complete, with a remark of why."""
        problem = await self._complete_output(session, note)
        if problem:
            await self._store.change(session.id, upkeep.noted(problem))

    async def sweep_directories(self) -> None:
        """Remove what a removal, or a start that recorded nothing yet, left when it was killed.

        The output of sessions that are merely unknown stays: their records may be lost while they are not.
        """
        names = await self._calls.run(_names_in, self._home.sessions_dir)
        known = await self._store.by_id(names)
        removed = await self._store.removed(name for name in names if name not in known)
        for name in names:
            if name in removed:
                await self._calls.run(_remove_tree, self._home.session_dir(name))
            elif name not in known:
                await self._remove_unused(SessionFiles.of(self._home, name))

    async def _remove_unused(self, files: SessionFiles) -> None:
        """Remove a directory that a start made and nobody is at, nor ever was; a start records under this lock."""
        hands = files.hands()
        if not hands.path.exists() or not hands.try_acquire():
            return
        try:
            if not await self._store.by_id([files.directory.name]):
                await self._calls.run(_remove_if_unused, files)
        finally:
            hands.release()

    async def _complete_output(self, session: Session, note: str = "") -> str:
        """Return what kept it from being completed; another process that writes it completes it as well."""
        try:
            await self._calls.run(_finish, SessionFiles.of(self._home, session.id), session, note)
        except LockHeld:
            return ""
        except SpoolError as error:
            return f"its output was not completed: {error}"
        return ""

    async def _remove(self, session: Session, sandbox: str) -> str:
        """Remove a sandbox, or return why that failed."""
        try:
            await self._remove_from_engine(session, sandbox)
        except EngineError as error:
            return str(error)
        return ""

    async def _remove_from_engine(self, session: Session, sandbox: str) -> None:
        await self._refused.take_in(session)  # it is forgotten with the sandbox
        await (await self._roster.engine_of(session)).remove(sandbox)

    async def _dismiss_unused(self, session: Session) -> None:
        """Remove what should have accompanied a sandbox that was never made."""
        if session.spec.network == "allowlist" or session.spec.inlet:
            with suppress(EngineError):  # whoever next compares this engine with the records finds it
                await (await self._roster.engine_of(session)).dismiss(session.id)

    async def _unrecorded_sandbox(self, session: Session) -> str:
        """Look for a sandbox that was made although nobody got to record it; "" when there is none."""
        try:
            sandboxes = await (await self._roster.engine_of(session)).list()
        except EngineError:
            return ""  # whoever next compares this engine with the records finds it
        return next((sandbox.id for sandbox in sandboxes if sandbox.session == session.id), "")


def _finish(files: SessionFiles, session: Session, note: str) -> None:
    writer = SpoolWriter.open(files.output, limit=session.spec.output_limit, keep_unindexed=True)
    try:
        if note:
            writer.note(note)
        writer.flush()
        writer.finish()
    finally:
        writer.close()


def _remove_tree(directory: Path) -> None:
    try:
        shutil.rmtree(directory)
    except FileNotFoundError:
        return
    except OSError as error:
        raise PinfoldError(f"cannot remove {directory}", why=error.strerror or str(error)) from error


def _names_in(sessions: Path) -> list[str]:
    try:
        return [entry.name for entry in sessions.iterdir() if entry.is_dir()]
    except FileNotFoundError:
        return []


def _remove_if_unused(files: SessionFiles) -> None:
    """Remove a directory that holds nothing but what every start begins with."""
    if {entry.name for entry in files.directory.iterdir()} <= {files.hands().path.name, files.shared.name}:
        _remove_tree(files.directory)
