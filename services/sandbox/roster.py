"""The engines of this home: what each last said of itself, and which one runs a session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

import msgspec

from services.activity import EngineChanged, Events
from services.errors import EngineUnavailable, SessionRefused
from services.sandbox.engines.engine import Engine, EngineStatus
from services.sandbox.model import Session

_ASKING_SECONDS = 15.0
_NOT_ASKED = "it has not answered yet"


class Wanted(msgspec.Struct, frozen=True):
    """What a session needs of an engine.

    Attributes:
        engine: Its name; "" takes the first that fits.
        image: "" when the agent names none.
        command: Whether there is an argv; an engine without images needs one.
        unconfined: The profile allows running without a sandbox around it.
    """

    engine: str
    image: str
    command: bool
    unconfined: bool


class EngineRoster:
    """Knows every engine and its last status.

    Args:
        engines: By name, the preferred first.
        events: Told when a status differs from the one before.
    """

    def __init__(self, engines: Mapping[str, Engine], events: Events) -> None:
        self._engines = dict(engines)
        self._events = events
        self._statuses = {name: EngineStatus(name, usable=False, problem=_NOT_ASKED) for name in engines}

    def __iter__(self) -> Iterator[Engine]:
        return iter(self._engines.values())

    def get(self, name: str) -> Engine:
        """Hand out an engine.

        Raises:
            EngineUnavailable: This Pinfold has no engine of that name.
        """
        engine = self._engines.get(name)
        if engine is None:
            known = ", ".join(self._engines) or "none"
            raise EngineUnavailable(f"there is no engine {name!r}", fix=f"The engines here are: {known}.")
        return engine

    async def engine_of(self, session: Session) -> Engine:
        """Hand out the engine that made a session's sandbox.

        Raises:
            EngineUnavailable: It is not here, or another engine answers in its place, which knows nothing of it.
        """
        engine = self.get(session.engine)
        status = self._statuses[engine.name]
        if not status.identity and session.engine_id:
            status = await self.check(engine.name)
        if is_foreign(session, status):
            raise EngineUnavailable(
                f"the engine of session {session.id} is not here",
                why=f"it ran on another {engine.name} than the one that answers at {status.address or 'this address'}",
                fix="Point Pinfold at that engine again.",
            )
        return engine

    def statuses(self) -> tuple[EngineStatus, ...]:
        """What each engine said last, in order of preference."""
        return tuple(self._statuses.values())

    def status(self, name: str) -> EngineStatus:
        """What one engine said last."""
        return self._statuses[self.get(name).name]

    async def check(self, name: str) -> EngineStatus:
        """Ask an engine now."""
        engine = self.get(name)
        try:
            async with asyncio.timeout(_ASKING_SECONDS):
                status = await engine.status()
        except TimeoutError:
            status = EngineStatus(name, usable=False, problem="it does not answer", fix="Restart the engine.")
        self._remember(status)
        return status

    async def check_all(self) -> tuple[EngineStatus, ...]:
        """Ask every engine at once."""
        await asyncio.gather(*(self.check(name) for name in self._engines))
        return self.statuses()

    def lost(self, name: str, problem: str) -> None:
        """Note that an engine went away; its sessions keep the state they had."""
        self._remember(msgspec.structs.replace(self._statuses[name], usable=False, problem=problem))

    async def choose(self, wanted: Wanted) -> tuple[Engine, EngineStatus]:
        """Take the engine asked for, or the first that fits.

        Raises:
            SessionRefused: None fits; says why for each.
            EngineUnavailable: The engine asked for does not exist.
        """
        names = [self.get(wanted.engine).name] if wanted.engine else list(self._engines)
        reasons: list[str] = []
        fix = ""
        for name in names:
            status = await self.check(name)
            reason = _misfit(status, wanted)
            if not reason:
                return self._engines[name], status
            reasons.append(f"{name}: {reason}")
            fix = fix or status.fix
        raise SessionRefused("no engine can run this session", why="; ".join(reasons) or "there is none", fix=fix)

    async def close(self) -> None:
        """Close every engine; one that hangs is left behind."""
        await asyncio.gather(*(engine.close() for engine in self._engines.values()))

    def _remember(self, status: EngineStatus) -> None:
        if self._statuses[status.name] != status:
            self._statuses[status.name] = status
            self._events.publish(EngineChanged(status.name))


def is_foreign(session: Session, status: EngineStatus) -> bool:
    """Whether a session's sandbox was made by another engine than the one that answers under its name now."""
    return bool(session.engine_id and status.identity and session.engine_id != status.identity)


def has_images(engine: str) -> bool:
    """Whether an engine's sandboxes are made from images."""
    return engine != "local"


def _misfit(status: EngineStatus, wanted: Wanted) -> str:
    if not status.usable:
        return status.problem or "it cannot be used"
    if has_images(status.name) and not wanted.image:
        return "the agent names no image"
    if not has_images(status.name) and not wanted.command:
        return "the agent names no command, and this engine has no images that could"
    if not status.confined and not wanted.unconfined:
        return "it would run unconfined, and the agent's profile does not say allow_unconfined = true"
    return ""
