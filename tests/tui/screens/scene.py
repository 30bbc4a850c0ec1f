"""A moment in the life of a home, for pictures: real configurations, records and output at a fixed time."""

from __future__ import annotations

import asyncio
import math
import textwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from services.activity import Entry, Events
from services.agents import Agents
from services.home import BlockingCalls, Home
from services.output import Chunk, SpoolReader, SpoolWriter, Stream
from services.policy import Policies
from services.sandbox import Session, Step
from tests.tui.screens.scene_files import AGENTS, COMPLAINTS, MIGRATION, REVIEW, SHARED
from tests.tui.screens.scene_records import ENGINES, ENTRIES, NOW, ORPHAN, SECOND, SESSIONS, steps_of
from tui.app import PinfoldApp
from tui.session_columns import UsageHistory

__all__ = ["NOW", "SECOND", "SESSIONS", "Scene"]


class Scene:
    """Fills an app with the moment.

    Args:
        home: Where configurations and output are written.
    """

    def __init__(self, home: Home) -> None:
        self.home = home
        self.app = PinfoldApp(home, now=lambda: NOW, services=False)
        self._calls = BlockingCalls()

    def close(self) -> None:
        """Let go of the threads."""
        self._calls.close()

    def write(self) -> None:
        """Write what lies on disk."""
        self.home.agents_dir.mkdir(parents=True)
        (self.home.root.parent / "projects/shared").mkdir(parents=True)
        self.home.config_file.write_text(textwrap.dedent(SHARED))
        for alias, text in AGENTS.items():
            (self.home.agent_dir(alias) / "workspace").mkdir(parents=True)
            self.home.agent_file(alias).write_text(textwrap.dedent(text).lstrip())
        self._print("261130-120019-r4v", (Stream.STDOUT, REVIEW))
        self._print("261130-094410-t7w", (Stream.STDOUT, MIGRATION), (Stream.STDERR, COMPLAINTS))

    def _print(self, session: str, *outputs: tuple[Stream, str]) -> None:
        writer = SpoolWriter.open(self._spool(session), limit=1 << 30, keep_unindexed=False, now=lambda: NOW)
        for stream, text in outputs:
            writer.append([Chunk(stream, text.encode(), NOW - 3 * SECOND)])
        writer.flush()
        writer.close()

    def _spool(self, session: str) -> Path:
        return self.home.session_dir(session) / "output"

    async def fill(self) -> None:
        """Show the moment."""
        agents = Agents(self.home, Events(), self._calls)
        await agents.load()
        self.app._pinfold = self._services(agents)
        store = self.app.store
        store.put_engines(ENGINES, [ORPHAN])
        store.put_sessions(SESSIONS)
        place = Path("/home/op/.pinfold/agents")
        broken, good, *rest = (replace(agent, workspace=place / agent.alias / "workspace") for agent in agents.all())
        broken = replace(broken, config=good.config, settings=good.settings, profile=good.profile, stale=True)
        store.put_agents([broken, good, *rest])
        store.await_("", 0.0)

    def histories(self) -> dict[str, UsageHistory]:
        """What the running sessions used."""
        reviewer, migrator = UsageHistory(memory_limit=2 << 30), UsageHistory()
        for step in range(20):
            reviewer.cpu.append(1.1 + 0.75 * math.sin(step / 2.1))
            reviewer.memory.append((0.35 + step / 40) * (1 << 30))
            migrator.cpu.append(0.34 + 0.2 * math.cos(step / 1.3))
            migrator.memory.append((90 + step % 5) * (1 << 20))
        return {"261130-120019-r4v": reviewer, "261130-094410-t7w": migrator}

    def _services(self, agents: Agents) -> Any:
        async def steps(session: str) -> list[Step]:
            return steps_of(session)

        async def output(session: str) -> SpoolReader:
            return SpoolReader.open(self._spool(session))

        async def usage(session: str) -> Any:
            await asyncio.Event().wait()
            yield session

        async def preview(request: Any) -> Session:
            return replace_agent(SESSIONS[0], request.agent)

        async def recent(limit: int, **_: Any) -> list[Entry]:
            return ENTRIES[-limit:]

        sandboxes = SimpleNamespace(steps=steps, output=output, usage=usage, preview=preview)
        return SimpleNamespace(
            agents=agents,
            policies=Policies(self.home, agents),
            calls=self._calls,
            sandboxes=sandboxes,
            activity=SimpleNamespace(recent=recent),
        )


def replace_agent(session: Session, alias: str) -> Session:
    """The same session of another agent."""
    assert session.agent == alias
    return session
