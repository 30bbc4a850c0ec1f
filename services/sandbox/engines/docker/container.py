"""A sandbox as the engine knows it: the container made of a spec, and what an inspected one says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from services.errors import EngineError
from services.policy import WORKSPACE
from services.sandbox.engines.docker.control import Control
from services.sandbox.engines.docker.facts import EngineFacts
from services.sandbox.engines.docker.failures import Refused
from services.sandbox.engines.docker.instants import nanoseconds
from services.sandbox.engines.docker.owner import SandboxUser, sandbox_user
from services.sandbox.engines.engine import SandboxState
from services.sandbox.model import Mask, Mount, SandboxSpec

if TYPE_CHECKING:
    from docker import APIClient
    from docker.types import Mount as EngineMount

HOME_LABEL = "pinfold.home"
SESSION_LABEL = "pinfold.session"
AGENT_LABEL = "pinfold.agent"
LIFECYCLE_LABEL = "pinfold.lifecycle"

SANDBOX_HOME = "/home/agent"
"""HOME inside, unless the spec's environment names another."""

_SMALLEST_LOG_FILE = 64 * 1024 * 1024
_SMALLEST_SCRATCH = 16 * 1024 * 1024
_SCRATCH_WITHOUT_LIMIT = 1024 * 1024 * 1024
_KILLED = 128 + 9


class Identified(msgspec.Struct, rename="pascal"):
    """Anything of the engine's of which only the id matters."""

    id: str


class ContainerState(msgspec.Struct, rename="pascal"):
    """`State` of an inspected container."""

    status: str = ""
    exit_code: int = 0
    oom_killed: bool = msgspec.field(default=False, name="OOMKilled")
    error: str = ""
    started_at: str = ""
    finished_at: str = ""


class ContainerConfig(msgspec.Struct, rename="pascal"):
    """`Config` of an inspected container."""

    labels: dict[str, str] | None = None
    image: str = ""
    tty: bool = False


class LogConfig(msgspec.Struct, rename="pascal"):
    """`HostConfig.LogConfig` of an inspected container."""

    config: dict[str, str] | None = None


class HostConfig(msgspec.Struct, rename="pascal"):
    """`HostConfig` of an inspected container."""

    log_config: LogConfig = msgspec.field(default_factory=LogConfig)
    network_mode: str = ""


class Container(msgspec.Struct, rename="pascal"):
    """An inspected container, as far as Pinfold looks at it."""

    id: str
    name: str = ""
    created: str = ""
    state: ContainerState = msgspec.field(default_factory=ContainerState)
    config: ContainerConfig = msgspec.field(default_factory=ContainerConfig)
    host_config: HostConfig = msgspec.field(default_factory=HostConfig)

    @property
    def log_file_size(self) -> int | None:
        """Bytes after which the engine begins a new log file; None when it does not, or says so in other words."""
        text = (self.host_config.log_config.config or {}).get("max-size", "")
        return int(text) if text.isdecimal() else None

    def label(self, name: str) -> str:
        """Return a label, "" when it is missing."""
        return (self.config.labels or {}).get(name, "")

    @property
    def has_way_out(self) -> bool:
        """Whether it uses another container's network, as a sandbox kept to allowed hosts does."""
        return self.host_config.network_mode.startswith("container:")

    @property
    def status(self) -> Literal["created", "running", "exited"]:
        """What Pinfold calls the engine's states."""
        if self.state.status == "created":
            return "created"
        return "running" if self.state.status in ("running", "paused", "restarting") else "exited"

    def sandbox_state(self) -> SandboxState:
        """Say it in Pinfold's words."""
        exited = self.status == "exited"
        main_killed = exited and self.state.exit_code == _KILLED
        return SandboxState(
            id=self.id,
            session=self.label(SESSION_LABEL),
            agent=self.label(AGENT_LABEL),
            status=self.status,
            exit_code=self.state.exit_code if exited else None,
            out_of_memory=self.state.oom_killed and main_killed,
            child_out_of_memory=self.state.oom_killed and not main_killed,
            error=self.state.error,
            started_at=nanoseconds(self.state.started_at),
            ended_at=nanoseconds(self.state.finished_at) if exited else None,
        )


def container_name(spec: SandboxSpec) -> str:
    """Name a session's container; the same session always gets the same name, so it cannot be made twice."""
    return name_of(spec.home, spec.session)


def name_of(home: str, session: str) -> str:
    """Name the container of a session of a home."""
    return f"pinfold-{home[:8]}-{session}"


async def find_container(control: Control, name: str, what: str) -> Container | None:
    """Inspect a container by its name or id; None when there is none."""
    try:
        return await control.ask(what, Container, lambda client: client.inspect_container(name))
    except Refused as refused:
        if refused.status == 404:
            return None
        raise


@dataclass(frozen=True)
class WayOut:
    """How a sandbox is connected.

    Attributes:
        network: The engine's network mode: `bridge`, or `none` unless something else is known.
        environment: Variables that tell programs of it.
    """

    network: str = "none"
    environment: Mapping[str, str] = field(default_factory=dict)


def create_container(
    client: APIClient, spec: SandboxSpec, secrets: Mapping[str, str], facts: EngineFacts, way_out: WayOut
) -> object:
    """Ask the engine for a spec's container; to be called in a thread.

    Everything that keeps the sandbox in is decided here and cannot be loosened by a spec: no capability, no new
    privileges, the engine's own system call filter, a read-only root, no terminal, no input, no other mount than the
    spec's. `/tmp` and HOME are writable and in memory; programs there may be run, since agents compile and test there
    and the workspace is executable anyway.

    Secrets become variables, which is where every runner looks for them; they travel in the request's body only. Who
    may talk to the engine can read them from it.

    Raises:
        EngineError: The spec asks for what this engine does not offer.
    """
    user = sandbox_user(_owner(spec.workspace), rootless=facts.rootless, remaps_users=facts.remaps_users)
    environment = {"HOME": SANDBOX_HOME, **spec.environment, **secrets, **way_out.environment}
    entry: dict[str, Any] = {"entrypoint": list(spec.command)} if spec.command else {}
    return client.create_container(
        spec.image,
        name=container_name(spec),
        user=f"{user.uid}:{user.gid}",
        environment=environment,
        working_dir=_working_directory(spec),
        labels={
            HOME_LABEL: spec.home,
            SESSION_LABEL: spec.session,
            AGENT_LABEL: spec.agent,
            LIFECYCLE_LABEL: spec.lifecycle,
        },
        host_config=_host_config(client, spec, facts, user, environment["HOME"], way_out.network),
        use_config_proxy=False,
        **entry,
    )


def _host_config(
    client: APIClient, spec: SandboxSpec, facts: EngineFacts, user: SandboxUser, home: str, network: str
) -> dict[str, Any]:
    from docker.types import LogConfig as EngineLogConfig
    from docker.types import Mount as EngineMount

    limits = spec.limits
    scratch = _scratch_size(limits.memory)
    options = f"rw,exec,nosuid,nodev,size={scratch}"
    scratches = {"/tmp": f"{options},mode=1777"}
    if home.startswith(("/home/", "/root")):
        scratches[home] = f"{options},mode=0700,uid={user.uid},gid={user.gid}"
    more: dict[str, Any] = {}
    if limits.memory is not None:
        more |= {"mem_limit": limits.memory, "memswap_limit": limits.memory}
    if limits.cpus is not None:
        more["nano_cpus"] = int(min(limits.cpus, facts.cpus or limits.cpus) * 1e9)
    if limits.pids is not None:
        more["pids_limit"] = limits.pids
    if user.as_outside:
        more["userns_mode"] = "host"
    return client.create_host_config(
        mounts=[
            EngineMount(mount.target, _source(mount), type="bind", read_only=not mount.writable, propagation="rprivate")
            for mount in spec.mounts
        ]
        + [_engine_mask(mask) for mask in spec.masks],
        tmpfs={place: options for place, options in scratches.items() if not _is_mounted(place, spec.mounts)},
        network_mode=network,
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        read_only=True,
        init=True,
        log_config=EngineLogConfig(type="local", config=log_options(spec.output_limit)),
        **more,
    )


def _engine_mask(mask: Mask) -> EngineMount:
    """An empty directory nobody may enter, or an empty file, over what must not be seen."""
    from docker.types import Mount as EngineMount

    if mask.directory:
        return EngineMount(mask.target, None, type="tmpfs", read_only=True, tmpfs_size=4096, tmpfs_mode=0)
    return EngineMount(mask.target, os.devnull, type="bind", read_only=True, propagation="rprivate")


def log_options(output_limit: int) -> dict[str, str]:
    """Choose the files of the engine's log: together no less than the limit, each large.

    An engine whose reader falls more than a file behind skips one without a word, so files are large even where the
    limit is small. They are not compressed: the next one would have to wait for it, and the sandbox for that.

    Args:
        output_limit: Bytes of output to keep.
    """
    size = max(_SMALLEST_LOG_FILE, output_limit // 4)
    return {"max-size": str(size), "max-file": str(-(-output_limit // size) + 1), "compress": "false"}


def _working_directory(spec: SandboxSpec) -> str:
    return next((mount.target for mount in spec.mounts if mount.source == spec.workspace), WORKSPACE)


def _source(mount: Mount) -> str:
    """Resolve links, so that what was judged is mounted; whether it is there, the engine says."""
    if not PurePosixPath(mount.source).is_absolute():
        raise EngineError(f"cannot mount {mount.source}", why="it is not an absolute path")
    return os.path.realpath(mount.source)


def _is_mounted(place: str, mounts: tuple[Mount, ...]) -> bool:
    return any(place == mount.target or place.startswith(f"{mount.target.rstrip('/')}/") for mount in mounts)


def _scratch_size(memory: int | None) -> int:
    """Bytes for each of /tmp and HOME: a quarter of the memory, which they count against."""
    return _SCRATCH_WITHOUT_LIMIT if memory is None else max(_SMALLEST_SCRATCH, memory // 4)


def _owner(workspace: str) -> tuple[int, int] | None:
    try:
        found = os.stat(workspace)  # noqa: PTH116 - beside realpath, one way to name a path
    except OSError:
        return None
    return found.st_uid, found.st_gid
