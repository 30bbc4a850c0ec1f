"""Agent memory on a Qdrant server."""

from services.memory.agents.qdrant.backend import QdrantBackend
from services.memory.agents.qdrant.collection import Connect, connected_to

__all__ = ["Connect", "QdrantBackend", "connected_to"]
