"""Every service of a home, built once and handed out."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from services.activity import ActivityLog, Events
from services.agents import Agents, Places
from services.home import BlockingCalls, Database, Home
from services.policy import Policies
from services.sandbox import Engine, Sandboxes, new_session_id
from services.sandbox.engines.docker import DockerEngine
from services.sandbox.engines.local import LocalEngine
from services.sandbox.tools import Approvals, Token

if TYPE_CHECKING:
    from services.archives import Archives
    from services.memory import AgentMemories, CoreMemory, Memory
    from services.operations import Operations
    from services.sandbox.tools.serving import ToolServer

_BACKGROUND_SECONDS = 1.0

_STARTING_SECONDS = 5.0
"""How long what can wait leaves the processor to what an operator waits for."""


@dataclass(frozen=True)
class Pinfold:
    """The services of one home; those of memory are loaded when they are first asked for.

    Attributes:
        home: Where everything lies.
        events: What just changed, for whoever listens in this process.
        activity: What was done, by whom.
        agents: The agents as configured.
        policies: What each agent may do, and why.
        sandboxes: Sessions and engines.
        database: What the services keep their records in.
        calls: Threads for blocking calls.
        now: The clock, nanoseconds since 1970.
        env: The environment secrets and programs are found in.
    """

    home: Home
    events: Events
    activity: ActivityLog
    agents: Agents
    policies: Policies
    sandboxes: Sandboxes
    database: Database
    calls: BlockingCalls
    now: Callable[[], int]
    env: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)

    @cached_property
    def memory(self) -> Memory:
        """What is remembered of users, teams, chats and contexts."""
        from services.memory import Memory

        return Memory(self.home, self.database, self.calls, self.now)

    @cached_property
    def agent_memories(self) -> AgentMemories:
        """What agents remember."""
        from services.memory import AgentMemories

        return AgentMemories(
            self.home, self.agents, self.database, self.calls, self.now, activity=self.activity, env=self.env
        )

    @cached_property
    def core_memory(self) -> CoreMemory:
        """What agents and the roles they call always see, and what they put away."""
        from services.memory import CoreMemory, Screener, screening_of

        screener = Screener(lambda: screening_of(self.agents.shared.memory.screening), self.calls)
        return CoreMemory(self.database, self.now, screener=screener)

    @cached_property
    def archives(self) -> Archives:
        """What operations kept of agents."""
        from services.archives import Archives

        return Archives(self.home, self.database, self.activity, self.events, self.calls, self.now)

    @cached_property
    def operations(self) -> Operations:
        """Renames, deletes and restores of agents."""
        from services.operations import House, Journal, Operations

        house = House(
            home=self.home,
            database=self.database,
            agents=self.agents,
            sandboxes=self.sandboxes,
            memories=self.agent_memories,
            core=self.core_memory,
            memory=self.memory,
            archives=self.archives,
            journal=Journal(self.home, self.database, self.activity, self.events, self.calls, self.now),
            calls=self.calls,
            now=self.now,
        )
        return Operations(house, self.activity)

    @cached_property
    def approvals(self) -> Approvals:
        """Calls of tools that wait for an operator's word."""
        return Approvals(self.database, self.activity, self.events, self.now)

    @cached_property
    def tools(self) -> ToolServer:
        """The tools that agents in sandboxes call."""
        from services.sandbox.tools.serving import Stores, make_tool_server

        stores = Stores(self.agents, self.agent_memories, self.core_memory, self.memory, self.calls)
        policies = self.policies
        gone = self.sandboxes.gone
        return make_tool_server(
            self.home, self.database, self.activity, self.events, policies, stores, gone, self.calls, self.now
        )

    async def serve_tools(self, *, idle_seconds: float | None = None) -> None:
        """Serve agents' tools, with their files as they are at each moment, until cancelled.

        Args:
            idle_seconds: Also end when no session has had tools for so long; None is never.

        Raises:
            LockHeld: Another process serves this home.
            PinfoldError: It cannot listen.
        """
        async with _in_background(self.agents.watch()):
            await self.tools.serve(idle_seconds=idle_seconds)

    async def _held_by(self, alias: str) -> str:
        """Say which operation has to end before a session of an agent starts; "" when none has."""
        if not await self.database.read(_has_unfinished):
            return ""
        await self.calls.run(import_module, "services.operations")
        return await self.operations.held_by(alias)

    async def _report_operations(self) -> None:
        """Tell of operations that were interrupted; their room is loaded only when there are any."""
        if await self.database.read(_has_unfinished):
            await self.calls.run(import_module, "services.operations")
            await self.operations.report_unfinished()

    async def serve_tools_over_stdio(self, token: str) -> None:
        """Serve the tools of one session over standard input and output until the input ends.

        Raises:
            PinfoldError: The token is void.
        """
        async with _in_background(self.agents.watch()):
            await self.tools.serve_stdio(Token(token))

    async def _look_after_memory(self) -> None:
        await asyncio.sleep(_STARTING_SECONDS)
        await self.calls.run(import_module, "services.memory")
        from services.memory import Tidying

        tidying = Tidying(self.agent_memories, self.agents, self.database, self.now)
        arrears = self.agent_memories.arrears
        await asyncio.gather(self.memory.look_after(), tidying.look_after(), arrears.look_after())

    async def _leave_memory(self) -> None:
        if "memory" in self.__dict__:
            await self.memory.close()
        if "agent_memories" in self.__dict__:
            await self.agent_memories.close()

    @staticmethod
    @asynccontextmanager
    async def open(
        home: Home,
        *,
        supervise: bool = True,
        env: Mapping[str, str] = os.environ,
        engines: Mapping[str, Engine] | None = None,
        now: Callable[[], int] = time.time_ns,
        new_id: Callable[[], str] = new_session_id,
    ) -> AsyncGenerator[Pinfold, None]:
        """Build the services of a home and close them at the end; sessions go on.

        A home that is not there yet gets its `state/` and is otherwise empty. Engines are asked in the background, so
        one that does not answer delays neither opening nor closing.

        Args:
            home: Where everything lies.
            supervise: Also follow sessions, watch engines and files, and clean up; without it only what is asked
                for is done.
            env: The environment engines and secrets are found in.
            engines: By name, the preferred first; None is docker, then local.
            now: The clock, nanoseconds since 1970.
            new_id: Makes session ids.

        Raises:
            PinfoldError: The home cannot be used: its database is damaged, from a newer Pinfold, or not writable.
        """
        events, calls = Events(), BlockingCalls()
        async with AsyncExitStack() as closing:
            closing.callback(calls.close)
            database = await closing.enter_async_context(Database(home.database_file))
            activity = ActivityLog(database, events, now)
            if database.damage is not None:
                await activity.record("database.set_aside", actor="pinfold", detail=database.damage.why)
            agents = Agents(home, events, calls, activity, Places(database))
            await agents.load()
            if engines is None:
                engines = make_engines(home, await calls.run(home.identity), calls, env)

            async def held_by(alias: str) -> str:
                return await pinfold._held_by(alias)

            sandboxes = Sandboxes(home, database, activity, events, agents, engines, calls, now, new_id, env, held_by)
            closing.push_async_callback(sandboxes.close)
            policies = Policies(home, agents)
            pinfold = Pinfold(home, events, activity, agents, policies, sandboxes, database, calls, now, env)
            closing.push_async_callback(pinfold._leave_memory)
            await pinfold._report_operations()
            if supervise:
                await closing.enter_async_context(
                    _in_background(sandboxes.supervise(), agents.watch(), pinfold._look_after_memory())
                )
            yield pinfold


def make_engines(home: Home, identity: str, calls: BlockingCalls, env: Mapping[str, str]) -> dict[str, Engine]:
    """Build every engine, the preferred first; connects to none.

    Args:
        home: Whose sandboxes they run; need not exist for asking their status.
        identity: The home's, which labels its sandboxes.
        calls: Threads for blocking calls.
        env: Where they look for `DOCKER_HOST` and the like.
    """
    return {
        "docker": DockerEngine(identity, calls, env),
        "local": LocalEngine(home, identity, env),
    }


def _has_unfinished(connection: sqlite3.Connection) -> bool:
    query = "SELECT 1 FROM operations WHERE state IN ('running', 'failed') LIMIT 1"
    return connection.execute(query).fetchone() is not None


@asynccontextmanager
async def _in_background(*work: Coroutine[None, None, None]) -> AsyncGenerator[None, None]:
    """Do some work while the block runs; an unforeseen error in it cancels the block and is raised."""
    block = asyncio.current_task()
    assert block is not None
    tasks = {asyncio.create_task(each) for each in work}
    failed = asyncio.Event()

    def look(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None and not failed.is_set():
            failed.set()
            block.cancel()

    for task in tasks:
        task.add_done_callback(look)
    try:
        yield
    except asyncio.CancelledError:
        if not failed.is_set() or block.uncancel() > 0:
            raise
    finally:
        for task in tasks:
            task.remove_done_callback(look)
            task.cancel()
        done, _ = await asyncio.wait(tasks, timeout=_BACKGROUND_SECONDS)
        for task in done:
            if not task.cancelled() and (error := task.exception()) is not None:
                raise _only(error)


def _only(error: BaseException) -> BaseException:
    """The error itself where groups hold but one."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
