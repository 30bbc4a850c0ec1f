"""`agent.toml` and `pinfold.toml` as typed values, exactly as people write them.

The first paragraph and the `Attributes` of each docstring are also the descriptions in the JSON Schemas.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from services.agents.forms import (
    Command,
    Duration,
    IdleTimeout,
    Machine,
    Name,
    OptionalVariable,
    ScopeId,
    Size,
    Struct,
    Text,
    Variable,
)
from services.agents.stores import SharedMemory
from services.agents.vectors import VectorSection

Backend = Literal["sqlite", "postgres", "markdown", "qdrant", "lucid", "none"]
Runner = Literal["claude", "opencode", "codex", "tai", "yaocode", "command"]
EngineName = Literal["", "docker", "local"]
Lifecycle = Literal["oneshot", "session", "longrunning", "persistent"]
Network = Literal["none", "allowlist", "open"]
Tools = Literal["none", "socket", "http"]
Access = Literal["read", "write", "read_write", "write_only"]
Level = Literal["readonly", "supervised", "full"]
Role = Literal["default", "heavy", "light", "vision"]
Preset = Literal["", "locked_down", "balanced", "yolo"]


class Delegate(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Another agent this one may hand work to.

    Attributes:
        agent: The other agent's alias.
        mode: `bounded` shares this agent's limits and budget, `independent` uses the other's own.
    """

    agent: str
    mode: Literal["bounded", "independent"] = "bounded"


class AgentSection(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The agent itself.

    Attributes:
        enabled: Whether sessions may be started.
        description: What the agent is for, one line.
        risk_profile: A `[risk_profiles.<name>]` of `pinfold.toml`.
        roles: Which connector serves which role; a role not named here is taken from `pinfold.toml`.
        delegates: The agents this one may hand work to.
    """

    enabled: bool = True
    description: str = ""
    risk_profile: str = ""
    roles: dict[Role, str] = msgspec.field(default_factory=dict)
    delegates: tuple[Delegate, ...] = ()


class PermissionOverrides(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What differs from the risk profile; a key not given leaves the profile's value.

    Attributes:
        level: How far the agent may go without asking.
        allowed_commands: Commands it may run; "*" is any.
        allowed_tools: Tools it may use; an empty list is any.
        excluded_tools: Tools it may never use.
        auto_approve: Tools that need no approval.
        always_ask: Tools that always need approval.
        allowed_roots: Directories outside the workspace it may read and write.
        forbidden_paths: Paths it may never touch.
        allowed_domains: Hosts it may reach; `*.example.com` is every subdomain, `example.com:8443` a port beside 80 and
            443.
        env_passthrough: Environment variables of Pinfold's own that it may see.
    """

    level: Level | None = None
    allowed_commands: tuple[Text, ...] | None = None
    allowed_tools: tuple[Text, ...] | None = None
    excluded_tools: tuple[Text, ...] | None = None
    auto_approve: tuple[Text, ...] | None = None
    always_ask: tuple[Text, ...] | None = None
    allowed_roots: tuple[Text, ...] | None = None
    forbidden_paths: tuple[Text, ...] | None = None
    allowed_domains: tuple[Text, ...] | None = None
    env_passthrough: tuple[Variable, ...] | None = None


class WorkspaceSection(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The agent's files.

    Attributes:
        path: Where the workspace lies; relative to the agent's directory; empty is `workspace` in it.
        unrestricted_filesystem: Lifts the restriction to the workspace; forbidden paths still hold.
        access: What this agent may do in the workspaces of its siblings, by alias.
    """

    path: Text = ""
    unrestricted_filesystem: bool = False
    access: dict[str, Access] = msgspec.field(default_factory=dict)


class Layout(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Where learned memory lies, relative to the workspace.

    Attributes:
        memories: The directory of MEMORY.md and the summaries.
        sessions: The directory of recorded rollouts.
    """

    memories: Text = "memories"
    sessions: Text = "sessions"


class MemorySection(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What the agent remembers, and where.

    Attributes:
        backend: What stores the agent's memory.
        read_memory_from: Siblings with the same backend whose memory this agent may read.
        scopes: Whose keys its tools may read and change beside those of its session's own chat and context: the id of
            a user, of a team.
        vectors: How it is recalled by likeness.
        layout: Where learned memory lies.
        read: Whether the agent is told what was learned.
        generate: Whether its runs are learned from.
        live_update: Whether it may change its memory while it runs.
    """

    backend: Backend = "sqlite"
    read_memory_from: tuple[str, ...] = ()
    scopes: dict[Literal["user", "team"], ScopeId] = msgspec.field(default_factory=dict)
    vectors: VectorSection = msgspec.field(default_factory=VectorSection)
    layout: Layout = msgspec.field(default_factory=Layout)
    read: bool = True
    generate: bool = True
    live_update: bool = True


class PrepareStep(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One step run inside the sandbox before the runner.

    Attributes:
        cmd: The command and its arguments.
        action: What kind of step it is.
        once: Run it only in the first session that uses this workspace.
        ignore_error: Go on when it fails.
    """

    cmd: Command
    action: Literal["exec"] = "exec"
    once: bool = False
    ignore_error: bool = False


class SandboxSection(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """How the agent's sandbox is made; a key not given is taken from `[defaults.sandbox]`, else from Pinfold itself.

    Attributes:
        runner: The program that runs inside.
        engine: What runs the sandbox; empty is the first engine that answers.
        image: The container image.
        lifecycle: When the sandbox is stopped and removed; `oneshot` when nothing says otherwise.
        idle_timeout: How long a sandbox may be idle, such as `30m`, `1h30m`; `never` for no limit.
        stop_timeout: The time between one step of stopping and the next: interrupt, terminate, kill.
        memory: The most memory it may use, such as `512m` or `2g`.
        cpus: The most processor cores it may use.
        pids: The most processes and threads it may have.
        network: What it may reach; `allowlist` is the domains the policy allows.
        tools: How it reaches the tools of its memory: `socket` is a unix socket and a program that speaks MCP over
            stdio, `http` is a port of its own loopback device as well.
        output_limit: The most output kept of a session; beyond it the oldest is dropped.
        secrets: Environment variables handed over at start; only their names are ever written down.
        environment: Environment variables with their values.
        prepare: Steps run inside before the runner.
        command: What the runner `command` runs; without it the image's own command.
    """

    runner: Runner | None = None
    engine: EngineName | None = None
    image: Text | None = None
    lifecycle: Lifecycle | None = None
    idle_timeout: IdleTimeout | None = None
    stop_timeout: Duration | None = None
    memory: Size | None = None
    cpus: Annotated[float, Meta(gt=0, le=4096)] | None = None
    pids: Annotated[int, Meta(ge=1, le=4194304)] | None = None
    network: Network | None = None
    tools: Tools | None = None
    output_limit: Size | None = None
    secrets: tuple[Variable, ...] | None = None
    environment: dict[Variable, Text] | None = None
    prepare: tuple[PrepareStep, ...] | None = None
    command: Command | None = None


class AgentConfig(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One agent of Pinfold: its permissions, sandbox, memory and references.

    Attributes:
        agent: The agent itself.
        permissions: What differs from its risk profile.
        workspace: Its files.
        memory: What it remembers.
        sandbox: How its sandbox is made.
    """

    agent: AgentSection = msgspec.field(default_factory=AgentSection)
    permissions: PermissionOverrides = msgspec.field(default_factory=PermissionOverrides)
    workspace: WorkspaceSection = msgspec.field(default_factory=WorkspaceSection)
    memory: MemorySection = msgspec.field(default_factory=MemorySection)
    sandbox: SandboxSection = msgspec.field(default_factory=SandboxSection)


class RiskProfile(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What agents that name this profile may do.

    Attributes:
        preset: A whole profile to start from; every other key here overrides what it says.
        level: How far an agent may go without asking.
        workspace_only: Whether everything outside the workspace and the allowed roots is out of reach.
        allowed_commands: Commands it may run; "*" is any.
        allowed_tools: Tools it may use; an empty list is any.
        excluded_tools: Tools it may never use.
        auto_approve: Tools that need no approval.
        always_ask: Tools that always need approval.
        allowed_roots: Directories outside the workspace it may read and write.
        forbidden_paths: Paths it may never touch.
        allowed_domains: Hosts it may reach; `*.example.com` is every subdomain, `example.com:8443` a port beside 80 and
            443.
        env_passthrough: Environment variables of Pinfold's own that it may see.
        require_approval_for_medium_risk: Whether commands of medium risk need approval.
        block_high_risk_commands: Whether commands of high risk are refused.
        delegation: Whether the agent may hand work to others.
        allow_unconfined: Whether it may run on an engine that keeps it from nothing on this machine.
        max_actions_per_hour: Actions it may take within any hour; 0 is none.
        max_cost_per_day_cents: What its models may cost a day, in US cents.
        shell_timeout: How long one command may take.
        approval_timeout: How long an approval is waited for before it counts as refused.
        max_memory: The most memory its sandbox may be given.
        max_cpus: The most processor cores its sandbox may be given.
        max_pids: The most processes and threads its sandbox may be given.
    """

    preset: Preset = ""
    level: Level = "supervised"
    workspace_only: bool = True
    allowed_commands: tuple[Text, ...] = ()
    allowed_tools: tuple[Text, ...] = ()
    excluded_tools: tuple[Text, ...] = ()
    auto_approve: tuple[Text, ...] = ()
    always_ask: tuple[Text, ...] = ()
    allowed_roots: tuple[Text, ...] = ()
    forbidden_paths: tuple[Text, ...] = ()
    allowed_domains: tuple[Text, ...] = ()
    env_passthrough: tuple[Variable, ...] = ()
    require_approval_for_medium_risk: bool = True
    block_high_risk_commands: bool = True
    delegation: Literal["forbidden", "allow"] = "forbidden"
    allow_unconfined: bool = False
    max_actions_per_hour: Annotated[int, Meta(ge=0, le=4_294_967_295)] = 20
    max_cost_per_day_cents: Annotated[int, Meta(ge=0, le=4_294_967_295)] = 500
    shell_timeout: Duration = "60s"
    approval_timeout: Duration = "2m"
    max_memory: Size | None = None
    max_cpus: Annotated[float, Meta(gt=0, le=4096)] | None = None
    max_pids: Annotated[int, Meta(ge=1, le=4194304)] | None = None


class Connector(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A model endpoint; its key is only ever named, never written.

    Attributes:
        kind: The protocol it speaks.
        base_url: Where it answers.
        model: The model asked for.
        api_key_env: The environment variable that holds the key.
    """

    kind: str
    base_url: str = ""
    model: str = ""
    api_key_env: OptionalVariable = ""


class Node(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A machine with an engine.

    Attributes:
        engine: The engine it has.
        host: Its address; empty is this machine.
        labels: Words to choose it by.
    """

    engine: Literal["docker", "local"] = "docker"
    host: str = ""
    labels: dict[str, str] = msgspec.field(default_factory=dict)


class Defaults(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What agents take that do not say otherwise.

    Attributes:
        sandbox: How a sandbox is made.
        memory: What an agent remembers.
    """

    sandbox: SandboxSection = msgspec.field(default_factory=SandboxSection)
    memory: MemorySection = msgspec.field(default_factory=MemorySection)


class Interface(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """How the screens look and which keys do what.

    Attributes:
        theme: The name of a theme.
        keys: Keys by action, several with a comma between.
    """

    theme: str = "pinfold-dark"
    keys: dict[str, str] = msgspec.field(default_factory=dict)


class PinfoldConfig(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What all agents of a Pinfold share.

    Attributes:
        risk_profiles: What agents may do, by the name they choose.
        connectors: Model endpoints by name.
        roles: Which connector serves which role.
        nodes: Machines with an engine, by name.
        defaults: What agents take that do not say otherwise.
        memory: How long memories are kept, what is not stored, and where the servers are that keep them.
        interface: How the screens look and which keys do what.
    """

    risk_profiles: dict[Name, RiskProfile] = msgspec.field(default_factory=dict)
    connectors: dict[Name, Connector] = msgspec.field(default_factory=dict)
    roles: dict[Role, str] = msgspec.field(default_factory=dict)
    nodes: dict[Machine, Node] = msgspec.field(default_factory=dict)
    defaults: Defaults = msgspec.field(default_factory=Defaults)
    memory: SharedMemory = msgspec.field(default_factory=SharedMemory)
    interface: Interface = msgspec.field(default_factory=Interface)
