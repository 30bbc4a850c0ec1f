"""Rows to store, and what the tests ask of those that are found."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from services.memory.agents import AgentMemory, Recalled, Row

DAY = 86_400.0
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
HOSTILE = [
    "k",
    "K",
    "a:b",
    "**bold**",
    "back\\slash",
    "two\nlines",
    "\r\n",
    "nul\0key",
    "../../etc/passwd",
    "# Long-Term Memory",
    "- **k**: v",
    "<!-- pinfold {} -->",
    "%_*",
    " spaced ",
    "ключ 鍵 🔑",
    "x" * 10_000,
]
law = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def keys(found: list[Recalled]) -> list[str]:
    return [recalled.row.key for recalled in found]


async def everything(agent: AgentMemory) -> list[Row]:
    return [row async for page in agent.read_out() for row in page]
