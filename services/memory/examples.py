"""Something to look at on a first visit: what the agents of a demo home remember."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.memory.agents import CONVERSATION, CORE, DAILY, AgentMemories, Draft
from services.memory.blocks import Block, CoreMemory
from services.memory.memory import Memory
from services.memory.scopes import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.memory.scopes import Json

_USER, _TEAM, _CHAT = Scope.parse("user:you"), Scope.parse("team:platform"), Scope.parse("chat:release-7")

_KEYS: Mapping[Scope, Mapping[str, Json]] = {
    _TEAM: {"freeze": "no merges on Fridays after noon", "regions": ["eu-1", "us-2"]},
    _CHAT: {"topic": "what holds the release back", "turns": 14},
    _USER: {"editor": "vim", "language": "en", "answers": {"length": "short", "with": ["file", "line"]}},
}
_ROWS: Mapping[str, tuple[Draft, ...]] = {
    "builder": (
        Draft(
            key="cache", content="Layers are cached in /var/cache/build; a clean build takes 9 minutes.", category=CORE
        ),
        Draft(key="last-build", content="Release 7 built on the second try: the mirror was down.", category=DAILY),
    ),
    "tester": (
        Draft(key="flaky", content="test_upload fails about once in forty runs; run it again once.", category=CORE),
        Draft(
            key="asked",
            content="Asked whether to skip the slow suite. No, never before a release.",
            category=CONVERSATION,
        ),
    ),
    "researcher": (
        Draft(key="sources", content="Prefers papers with published data.", category=CORE),
        Draft(key="style", content="You want short answers that name file and line.", category=CORE, pinned=True),
    ),
}


async def store_examples(memory: Memory, agents: AgentMemories, core: CoreMemory) -> None:
    """Store the examples over whatever is there.

    Raises:
        PinfoldError: They cannot be stored.
    """
    for scope, values in _KEYS.items():
        await memory.namespace(scope).set_many(values)
    for alias, drafts in _ROWS.items():
        for draft in drafts:
            await agents.of(alias).store(draft)
    tenant = await core.tenants.of_agent("researcher")
    await core.blocks(tenant).append(Block.PERSONA, "Reads before it writes, and says what it does not know.")
    await core.archive(tenant).insert("The survey of 2024 covers everything before transformers.")
