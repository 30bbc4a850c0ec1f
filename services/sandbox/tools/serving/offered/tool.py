"""What a tool is, and what the tools of one call reach."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from services.agents import Agents
from services.errors import InputRefused, MemoryRefused
from services.home import BlockingCalls
from services.memory import AgentMemories, AgentMemory, CoreMemory, LettaTools, Memory, Namespace, Scope, ScopeKind
from services.policy import Policy
from services.sandbox.tools.grants import Grant


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The arguments of a tool; anything else is refused."""


class Result(msgspec.Struct, frozen=True):
    """What a tool answers when it is more than a sentence."""


@dataclass(frozen=True)
class Stores:
    """Where everything that tools read and change is kept.

    Attributes:
        agents: Says where workspaces are.
        calls: Threads for files.
    """

    agents: Agents
    memories: AgentMemories
    core: CoreMemory
    memory: Memory
    calls: BlockingCalls

    def workspace_of(self, alias: str) -> Path:
        """The workspace of an agent.

        Raises:
            AgentNotFound: No agent has this alias.
        """
        return self.agents.get(alias).workspace


@dataclass(frozen=True)
class Reach:
    """What one call may touch: nothing beyond its token's grant.

    Attributes:
        policy: The agent's, as it is now.
    """

    grant: Grant
    policy: Policy
    stores: Stores

    @cached_property
    def own(self) -> AgentMemory:
        """The agent's memory.

        Raises:
            PinfoldError: It cannot be reached.
        """
        return self.stores.memories.of(self.grant.agent, actor=f"agent:{self.grant.agent}")

    def readable(self, wanted: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Aliases whose memory the call reads: of those wanted, or of all, what the token allows."""
        allowed = (self.grant.agent, *self.grant.memories)
        return tuple(alias for alias in allowed if alias in wanted) if wanted else allowed

    async def letta(self) -> LettaTools:
        """The agent's core blocks and archive."""
        return self.stores.core.tools(await self.stores.core.tenants.of_agent(self.grant.agent))

    def namespace(self, kind: str) -> Namespace:
        """The namespace of one kind: the session's own, or that of its user or team.

        Raises:
            MemoryRefused: The token does not allow this kind, or the agent's file does not any more.
        """
        scopes = self._scopes()
        if kind not in scopes:
            raise MemoryRefused(f"the scope {kind} is out of reach", fix=f"This session has: {', '.join(scopes)}.")
        return self.stores.memory.namespace(scopes[kind])

    def _scopes(self) -> dict[str, Scope]:
        shared = [Scope.parse(text) for text in self.grant.shared if self.policy.memory.admits_scope(text)]
        own = [Scope(ScopeKind(kind), self.grant.session) for kind in self.grant.scopes]
        return {scope.kind.value: scope for scope in (*own, *shared)}


Run = Callable[[Reach, Any], Awaitable[str | Result]]


@dataclass(frozen=True)
class Tool:
    """One tool.

    Attributes:
        name: As policies and models call it.
        purpose: What it does and when to use it, for a model.
        arguments: What it takes.
        run: Does it; raises a `PinfoldError` that a model can act upon.
        acts: Whether it changes something: that takes a slot of the budget, and a readonly agent may not.
        wanted: Whether a session with this grant has any use for it.
    """

    name: str
    purpose: str
    arguments: type[Arguments]
    run: Run
    acts: bool
    wanted: Callable[[Grant], bool] = lambda grant: True

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        _, components = msgspec.json.schema_components([self.arguments])
        schema = dict(components[self.arguments.__name__])
        del schema["title"]
        schema.pop("description", None)
        return schema

    def read(self, arguments: Mapping[str, Any]) -> Arguments:
        """Check the arguments of a call.

        Raises:
            InputRefused: They do not fit; says where.
        """
        try:
            return msgspec.convert(dict(arguments), self.arguments)
        except (msgspec.ValidationError, RecursionError, OverflowError) as error:
            raise InputRefused(
                f"the arguments of {self.name} do not fit",
                why=str(error)[:300],
                fix=f"It takes: {', '.join(self.arguments.__struct_fields__) or 'nothing'}.",
            ) from error
