"""A change of the back-end while an agent's memory is in another, which is held back until the memory is moved."""

from __future__ import annotations

from pathlib import Path

import msgspec

from services.agents.model import AgentConfig
from services.agents.problems import Fault, Problem, quoted
from services.agents.reading import located


def kept_config(config: AgentConfig, place: str, last: AgentConfig | None) -> AgentConfig:
    """What is in force while the memory is elsewhere: the last good config, else this one with the memory where it is.

    Args:
        config: What the file says.
        place: The back-end the memory is in.
        last: What was in force before.
    """
    if last is not None and last.memory.backend == place:
        return last
    memory = msgspec.convert({**msgspec.to_builtins(config.memory), "backend": place}, type(config.memory))
    return msgspec.structs.replace(config, memory=memory)


def held_back(alias: str, config: AgentConfig, place: str, data: bytes, file: Path) -> tuple[Problem, ...]:
    """Say that the memory is elsewhere, and how to move it."""
    wanted = config.memory.backend
    move = f"Move them with: pinfold memory move {alias} --to {wanted}"
    fix = f"Set it to {quoted(place)}, or forget them first." if wanted == "none" else move
    fault = Fault(("memory", "backend"), f"this agent has memories in {place}, which stay in use", fix)
    return located([fault], data, file)
