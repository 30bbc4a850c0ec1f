"""Agent memory on a PostgreSQL server."""

from services.memory.agents.postgres.backend import PostgresBackend

__all__ = ["PostgresBackend"]
