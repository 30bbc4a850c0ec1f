"""`agent.toml` and `pinfold.toml` as typed values, exactly as people write them."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Backend = Literal["sqlite", "postgres", "markdown", "qdrant", "lucid", "none"]
Runner = Literal["claude", "opencode", "codex", "tai", "yaocode", "command"]
EngineName = Literal["", "docker", "local"]
Lifecycle = Literal["oneshot", "session", "longrunning", "persistent"]
Network = Literal["none", "allowlist", "open"]
Access = Literal["read", "write", "read_write", "write_only"]
Level = Literal["readonly", "supervised", "full"]


class Struct(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What all parts of a config share: immutable, and unknown keys are errors."""


class Delegate(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Another agent this one may hand work to."""

    agent: str
    mode: Literal["bounded", "independent"] = "bounded"


class AgentSection(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """`[agent]`."""

    enabled: bool = True
    description: str = ""
    risk_profile: str = ""
    roles: dict[str, str] = msgspec.field(default_factory=dict)
    delegates: list[Delegate] = msgspec.field(default_factory=list)


class PermissionOverrides(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """`[permissions]`: what differs from the risk profile; None leaves the profile's value."""

    level: Level | None = None
    allowed_commands: list[str] | None = None
    allowed_tools: list[str] | None = None
    excluded_tools: list[str] | None = None
    auto_approve: list[str] | None = None
    always_ask: list[str] | None = None
    allowed_roots: list[str] | None = None
    forbidden_paths: list[str] | None = None
    allowed_domains: list[str] | None = None
    env_passthrough: list[str] | None = None


class WorkspaceSection(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """`[workspace]`."""

    path: str = ""
    unrestricted_filesystem: bool = False
    access: dict[str, Access] = msgspec.field(default_factory=dict)


class Layout(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Where learned memory lies, relative to the workspace."""

    memories: str = "memories"
    sessions: str = "sessions"


class MemorySection(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """`[memory]`."""

    backend: Backend = "sqlite"
    read_memory_from: list[str] = msgspec.field(default_factory=list)
    layout: Layout = msgspec.field(default_factory=Layout)
    read: bool = True
    generate: bool = True
    live_update: bool = True


class PrepareStep(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One `[[sandbox.prepare]]` step, run inside the sandbox before the runner."""

    cmd: list[str]
    action: Literal["exec"] = "exec"
    once: bool = False
    ignore_error: bool = False


class SandboxSection(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """`[sandbox]`; None leaves `[defaults.sandbox]`, and behind it Pinfold's own default.

    Attributes:
        idle_timeout: A duration such as `30m`, `1h30m`, `45s`; "never" for none.
        memory: Bytes with a unit, `512m`, `2g`.
        cpus: Cores.
        output_limit: The most output kept of a session, bytes with a unit; the oldest is dropped beyond it.
    """

    runner: Runner | None = None
    engine: EngineName | None = None
    image: str | None = None
    lifecycle: Lifecycle | None = None
    idle_timeout: str | None = None
    stop_timeout: str | None = None
    memory: str | None = None
    cpus: Annotated[float, Meta(gt=0)] | None = None
    pids: Annotated[int, Meta(ge=1)] | None = None
    network: Network | None = None
    output_limit: str | None = None
    secrets: list[str] | None = None
    environment: dict[str, str] | None = None
    prepare: list[PrepareStep] | None = None
    command: list[str] | None = None


class AgentConfig(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One `agent.toml`."""

    agent: AgentSection = msgspec.field(default_factory=AgentSection)
    permissions: PermissionOverrides = msgspec.field(default_factory=PermissionOverrides)
    workspace: WorkspaceSection = msgspec.field(default_factory=WorkspaceSection)
    memory: MemorySection = msgspec.field(default_factory=MemorySection)
    sandbox: SandboxSection = msgspec.field(default_factory=SandboxSection)


class RiskProfile(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One `[risk_profiles.<name>]`: what agents that name it may do."""

    level: Level = "supervised"
    workspace_only: bool = True
    allowed_commands: list[str] = msgspec.field(default_factory=list)
    allowed_tools: list[str] = msgspec.field(default_factory=list)
    excluded_tools: list[str] = msgspec.field(default_factory=list)
    auto_approve: list[str] = msgspec.field(default_factory=list)
    always_ask: list[str] = msgspec.field(default_factory=list)
    allowed_roots: list[str] = msgspec.field(default_factory=list)
    forbidden_paths: list[str] = msgspec.field(default_factory=list)
    allowed_domains: list[str] = msgspec.field(default_factory=list)
    env_passthrough: list[str] = msgspec.field(default_factory=list)
    require_approval_for_medium_risk: bool = True
    block_high_risk_commands: bool = True
    delegation: Literal["forbidden", "allow"] = "forbidden"
    allow_unconfined: bool = False


class Connector(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One `[connectors.<name>]`: a model endpoint; the key itself is only ever named, never written."""

    kind: str
    base_url: str = ""
    model: str = ""
    api_key_env: str = ""


class Node(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One `[nodes.<name>]`: a machine with an engine."""

    engine: Literal["docker", "local"] = "docker"
    host: str = ""
    labels: dict[str, str] = msgspec.field(default_factory=dict)


class Defaults(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """`[defaults]`."""

    sandbox: SandboxSection = msgspec.field(default_factory=SandboxSection)
    memory: MemorySection = msgspec.field(default_factory=MemorySection)


class Interface(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """`[interface]`: how the screens look and which keys do what."""

    theme: str = "pinfold-dark"
    keys: dict[str, str] = msgspec.field(default_factory=dict)


class PinfoldConfig(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """`pinfold.toml`."""

    risk_profiles: dict[str, RiskProfile] = msgspec.field(default_factory=dict)
    connectors: dict[str, Connector] = msgspec.field(default_factory=dict)
    roles: dict[str, str] = msgspec.field(default_factory=dict)
    nodes: dict[str, Node] = msgspec.field(default_factory=dict)
    defaults: Defaults = msgspec.field(default_factory=Defaults)
    interface: Interface = msgspec.field(default_factory=Interface)
