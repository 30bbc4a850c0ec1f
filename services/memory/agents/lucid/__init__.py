"""Agent memory in a local mirror, with the lucid program asked for what the mirror does not find."""

from services.memory.agents.lucid.backend import LucidBackend

__all__ = ["LucidBackend"]
