"""What an agent reaches of what Pinfold remembers, by the tools it is served."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from services.agents import Tools
from services.policy.decision import BUILT_IN, Origin, Rule
from services.policy.tools import Listed

_WAYS: dict[Tools, str] = {
    "none": "none of Pinfold's is reached",
    "socket": "Pinfold's are reached over a socket",
    "http": "Pinfold's are reached over a socket and HTTP",
}
_OF_SESSION = ("chat", "context")


@dataclass(frozen=True)
class MemoryPolicy:
    """The rules about memory of one agent.

    Attributes:
        tools: How it reaches the tools Pinfold serves; by `none` it reaches nothing below.
        tools_origin: Where that is written.
        memories: The agents whose memory it may read beside its own.
        scopes: Scopes whose keys it may read and change beside its session's own chat and context, as `user:42`.
        told: Whether it is told what was learned from its runs.
        live_update: Whether it may change what was learned while it runs.
    """

    tools: Tools = "none"
    tools_origin: Origin = BUILT_IN
    memories: tuple[Listed, ...] = ()
    scopes: tuple[Listed, ...] = ()
    told: bool = True
    live_update: bool = True

    def admits_scope(self, scope: str) -> bool:
        """Whether the keys of a user or a team, as `user:42`, are within its reach."""
        return any(entry.entry == scope for entry in self.scopes)

    def rules(self, level: str) -> Iterator[Rule]:
        """Every rule about memory.

        Args:
            level: The agent's; at readonly it changes nothing.
        """
        yield Rule("tools", self.tools, _WAYS[self.tools], self.tools_origin)
        if self.tools == "none":
            return
        own = "read" if level == "readonly" else "read and changed"
        yield Rule("agent memory", "its own", own)
        for sibling in self.memories:
            yield Rule("agent memory", sibling.entry, "read", sibling.origin)
        for kind in _OF_SESSION:
            yield Rule("scope", f"{kind} of its session", own)
        for scope in self.scopes:
            yield Rule("scope", scope.entry, own, scope.origin)
