"""Agents as configured: typed models of the TOML files, read and written with people's comments kept, and watched."""

from services.agents.agent import Agent
from services.agents.agents import Agents
from services.agents.aliases import alias_fault
from services.agents.init import InitResult, init_home
from services.agents.model import (
    AgentConfig,
    EngineName,
    Interface,
    Lifecycle,
    Network,
    PinfoldConfig,
    PrepareStep,
    RiskProfile,
    Runner,
    SandboxSection,
)
from services.agents.positions import line_finder
from services.agents.problems import Problem, dotted
from services.agents.schema import agent_schema, config_schema
from services.agents.settings import Origin, SandboxSettings
from services.agents.units import parse_duration, parse_size

__all__ = [
    "Agent",
    "AgentConfig",
    "Agents",
    "EngineName",
    "InitResult",
    "Interface",
    "Lifecycle",
    "Network",
    "Origin",
    "PinfoldConfig",
    "PrepareStep",
    "Problem",
    "RiskProfile",
    "Runner",
    "SandboxSection",
    "SandboxSettings",
    "agent_schema",
    "alias_fault",
    "config_schema",
    "dotted",
    "init_home",
    "line_finder",
    "parse_duration",
    "parse_size",
]
