"""Agents as configured: typed models of the TOML files, read and written with people's comments kept, and watched."""

from services.agents.model import (
    AgentConfig,
    EngineName,
    Lifecycle,
    Network,
    PinfoldConfig,
    RiskProfile,
    Runner,
    SandboxSection,
)

__all__ = [
    "AgentConfig",
    "EngineName",
    "Lifecycle",
    "Network",
    "PinfoldConfig",
    "RiskProfile",
    "Runner",
    "SandboxSection",
]
