"""A home whose agents run for real: writes its TOML, opens Pinfolds on it, starts sessions and reads their output."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Any

from services.home import Home
from services.output import Stream
from services.pinfold import Pinfold
from services.sandbox import Session, StartProgress, StartRequest, Step

WAIT = 30.0
"""Seconds a condition may take; generous, since the machine may be busy."""

SHARED = """
[risk_profiles.plain]
allow_unconfined = true

[risk_profiles.confined]
"""


class World:
    """One home for tests.

    Args:
        home: Written to; need not exist.
        engine: What its agents run on when they do not say otherwise.
        env: The environment of the Pinfolds opened here.
        shared: What its `pinfold.toml` says; "" leaves that as it is.
    """

    def __init__(
        self, home: Home, engine: str = "local", env: dict[str, str] | None = None, shared: str = SHARED
    ) -> None:
        self.home = home
        self.engine = engine
        self.env = {"PATH": os.environ["PATH"], "DOCKER_HOST": "unix:///nowhere/docker.sock"} | (env or {})
        home.agents_dir.mkdir(parents=True, exist_ok=True)
        if shared:
            home.config_file.write_text(shared, encoding="utf-8")

    @classmethod
    def existing(cls, home: Home) -> World:
        """A home that was written before, as it is."""
        return cls(home, shared="")

    def agent(
        self,
        alias: str = "worker",
        script: str = "",
        *,
        sandbox: str = "",
        profile: str = "plain",
        rest: str = "",
        enabled: bool = True,
        engine: str = "",
    ) -> None:
        """Write an agent whose command is a shell script.

        Args:
            alias: Its name.
            script: For `sh -c`; without one it has no command.
            sandbox: Lines of its `[sandbox]` section.
            profile: Its risk profile.
            rest: Further sections.
            enabled: Whether it may be started.
            engine: Empty is the world's.
        """
        directory = self.home.agent_dir(alias)
        (directory / "workspace").mkdir(parents=True, exist_ok=True)
        command = f"command = ['sh', '-c', '''{script}''']" if script else ""
        (directory / "agent.toml").write_text(
            f'[agent]\nrisk_profile = "{profile}"\nenabled = {str(enabled).lower()}\n'
            f'[sandbox]\nengine = "{engine or self.engine}"\nrunner = "command"\n{command}\n{sandbox}\n{rest}\n',
            encoding="utf-8",
        )

    def pinfold(self, *, supervise: bool = True, **options: Any) -> AbstractAsyncContextManager[Pinfold]:
        """Open a Pinfold on the home."""
        return Pinfold.open(self.home, supervise=supervise, env=self.env, **options)


async def progress_of(pinfold: Pinfold, alias: str = "worker", **request: Any) -> list[StartProgress]:
    """Start a session and return all that was told on the way."""
    async with asyncio.timeout(WAIT), aclosing(pinfold.sandboxes.start(StartRequest(alias, **request))) as progress:
        return [step async for step in progress]


async def started(pinfold: Pinfold, alias: str = "worker", **request: Any) -> Session:
    """Start a session and return it running."""
    return (await progress_of(pinfold, alias, **request))[-1].session


async def ran(pinfold: Pinfold, alias: str = "worker", **request: Any) -> Session:
    """Start a session and return it ended."""
    return await ended(pinfold, (await started(pinfold, alias, **request)).id)


async def ended(pinfold: Pinfold, session: str) -> Session:
    """Wait for a session's end."""
    async with asyncio.timeout(WAIT):
        return await pinfold.sandboxes.wait(session)


async def eventually(condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(WAIT):
        while not await condition():
            await asyncio.sleep(0.02)


async def until(pinfold: Pinfold, session: str, wanted: Callable[[Session], bool]) -> Session:
    """Wait until a session is as wanted."""

    async def fits() -> bool:
        return wanted(await pinfold.sandboxes.session(session))

    await eventually(fits)
    return await pinfold.sandboxes.session(session)


async def lines_of(pinfold: Pinfold, session: str, *streams: Stream) -> list[str]:
    """All lines of a session's output; of some streams only when they are named."""
    reader = await pinfold.sandboxes.output(session)
    try:
        lines = reader.lines(reader.first, reader.end - reader.first)
        return [line.data.decode("utf-8", "replace") for line in lines if not streams or line.stream in streams]
    finally:
        reader.close()


async def printed(pinfold: Pinfold, session: str, line: str) -> None:
    """Wait until a session has printed a line."""

    async def is_there() -> bool:
        return line in await lines_of(pinfold, session)

    await eventually(is_there)


async def step_states(pinfold: Pinfold, session: str) -> list[tuple[str, str]]:
    """Name and state of every step of a session."""
    return [(step.name, step.state) for step in await pinfold.sandboxes.steps(session)]


async def steps_named(pinfold: Pinfold, session: str, name: str) -> list[Step]:
    """The steps of one name."""
    return [step for step in await pinfold.sandboxes.steps(session) if step.name == name]


async def logged(pinfold: Pinfold, session: str = "") -> list[str]:
    """Verbs of the activity log, oldest first, with the outcome unless all went well."""
    entries = await pinfold.activity.recent(1000, session=session)
    return [entry.verb if entry.outcome == "done" else f"{entry.verb} {entry.outcome}" for entry in entries]


@asynccontextmanager
async def cleaned_up(world: World) -> AsyncIterator[World]:
    """Take away every sandbox of a world after its test, whatever state it was left in."""
    try:
        yield world
    finally:
        async with world.pinfold(supervise=False) as pinfold:
            for session in await pinfold.sandboxes.sessions():
                await pinfold.sandboxes.remove(session.id, force=True)
            for orphan in await pinfold.sandboxes.find_orphans():
                await pinfold.sandboxes.remove_orphan(orphan)


def echo_lines(count: int, pause: float = 0.0) -> str:
    """A shell script that prints numbered lines."""
    wait = f"sleep {pause}; " if pause else ""
    return f"i=0; while [ $i -lt {count} ]; do i=$((i+1)); echo line $i; {wait}done"
