"""Agents as configured: typed models of the TOML files, read and written with people's comments kept, and watched."""

from services.agents.agent import Agent
from services.agents.agents import Agents
from services.agents.aliases import alias_fault
from services.agents.drafts import Disagreement, Draft
from services.agents.editing import Change, with_changes
from services.agents.init import InitResult, init_home
from services.agents.masking import masked_diff
from services.agents.mentioning import Dropped, mention_dropped, mention_renamed, mention_restored, table_in
from services.agents.mentions import Mention, MentionKind, mentions_in_agent, mentions_in_shared
from services.agents.model import (
    AgentConfig,
    Connector,
    EngineName,
    Interface,
    Lifecycle,
    Network,
    PinfoldConfig,
    PrepareStep,
    RiskProfile,
    Runner,
    SandboxSection,
    Tools,
)
from services.agents.places import Places, set_place
from services.agents.positions import line_finder
from services.agents.presets import PRESETS
from services.agents.problems import Problem, dotted
from services.agents.schema import agent_schema, config_schema
from services.agents.settings import Origin, SandboxSettings
from services.agents.stores import LucidStore, MemoryScreening, PostgresStore, QdrantStore, SharedMemory
from services.agents.units import parse_duration, parse_size, written_size
from services.agents.values import MISSING, Missing, Value, same, value_at
from services.agents.vectors import MOST_DIMENSIONS, NO_EMBEDDER, Search, VectorSection, fault_of_connector

__all__ = [
    "MISSING",
    "MOST_DIMENSIONS",
    "NO_EMBEDDER",
    "PRESETS",
    "Agent",
    "AgentConfig",
    "Agents",
    "Change",
    "Connector",
    "Disagreement",
    "Draft",
    "Dropped",
    "EngineName",
    "InitResult",
    "Interface",
    "Lifecycle",
    "LucidStore",
    "MemoryScreening",
    "Mention",
    "MentionKind",
    "Missing",
    "Network",
    "Origin",
    "PinfoldConfig",
    "Places",
    "PostgresStore",
    "PrepareStep",
    "Problem",
    "QdrantStore",
    "RiskProfile",
    "Runner",
    "SandboxSection",
    "SandboxSettings",
    "Search",
    "SharedMemory",
    "Tools",
    "Value",
    "VectorSection",
    "agent_schema",
    "alias_fault",
    "config_schema",
    "dotted",
    "fault_of_connector",
    "init_home",
    "line_finder",
    "masked_diff",
    "mention_dropped",
    "mention_renamed",
    "mention_restored",
    "mentions_in_agent",
    "mentions_in_shared",
    "parse_duration",
    "parse_size",
    "same",
    "set_place",
    "table_in",
    "value_at",
    "with_changes",
    "written_size",
]
