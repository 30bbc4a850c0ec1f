"""The docker engine: any Docker Engine from API 1.41."""

from services.sandbox.engines.docker.engine import DockerEngine

__all__ = ["DockerEngine"]
