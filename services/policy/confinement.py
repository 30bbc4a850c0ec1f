"""Which directories of this machine a sandbox sees, and what it may use.

The most specific rule that covers a resolved path decides, and a tie goes to the stricter: a sibling granted read-only
stays so when an allowed root or the workspace covers it, which takes a mount of its own at every place it shows.

| rule | in the sandbox | writable |
| --- | --- | --- |
| the agent's workspace | `/workspace` | yes |
| a sibling, `read` | `/siblings/<alias>` | no |
| a sibling, `write` or `read_write` | `/siblings/<alias>` | yes |
| a sibling, `write_only` | not mounted | - |
| an allowed root | its own path, as written; one in the workspace only there | yes |
| a forbidden path inside one of these | empty, wherever it would show | no |
| a file the runner takes as its own rules | where it is in the workspace | no |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from services.agents import Agent, AgentConfig, Network, RiskProfile, SandboxSettings, parse_size
from services.errors import PinfoldError
from services.policy.places import Look, covers, look_on_disk, moved, written_path
from services.policy.policy import least
from services.policy.runner_rules import RUNNER_RULES

WORKSPACE = "/workspace"
SIBLINGS = "/siblings"

_KEPT_BY_THE_SYSTEM = ("/proc", "/sys", "/dev")
_KEPT_BY_PINFOLD = (WORKSPACE, SIBLINGS, "/run/pinfold")
_ENGINE_SOCKETS = ("/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock")
_NO_ROOT = frozenset({"", "*", "<unset>"})


class Mount(msgspec.Struct, frozen=True):
    """A directory or file of this machine that a sandbox sees.

    Attributes:
        source: Absolute and resolved.
        target: Absolute, inside the sandbox.
    """

    source: str
    target: str
    writable: bool


class Mask(msgspec.Struct, frozen=True):
    """Something inside a mount that a sandbox must not see; an empty one stands there instead.

    Attributes:
        target: Absolute, inside the sandbox.
        directory: Whether it is one, else it is a file.
    """

    target: str
    directory: bool


class Limits(msgspec.Struct, frozen=True):
    """The most a sandbox may use; None is unlimited.

    Attributes:
        memory: Bytes.
        cpus: Cores.
        pids: Processes and threads.
    """

    memory: int | None = None
    cpus: float | None = None
    pids: int | None = None


class Confinement(msgspec.Struct, frozen=True):
    """What a sandbox of an agent gets.

    Attributes:
        workspace: The agent's workspace on this machine, resolved.
        mounts: Outer directories before what lies in them.
        masks: What to hide inside the mounts.
        environment: Plain variables.
        passthrough: Names of variables of Pinfold's own environment that the sandbox may have.
        allowed_domains: What it reaches under `network = "allowlist"`; see `AllowedDomain`.
        workspace_problem: Why there is no workspace to start in, "" when there is one.
        refusals: Why else a sandbox that keeps to this cannot be made; one clause each.
    """

    workspace: str
    mounts: tuple[Mount, ...]
    masks: tuple[Mask, ...]
    environment: dict[str, str]
    passthrough: tuple[str, ...]
    limits: Limits
    network: Network
    workspace_problem: str = ""
    refusals: tuple[str, ...] = ()
    allowed_domains: tuple[str, ...] = ()


class _Grant(NamedTuple):
    """A rule that opens one directory; `what` names it in messages."""

    source: str
    target: str
    writable: bool
    what: str


def confinement(
    agent: Agent, siblings: Mapping[str, Agent], settings: SandboxSettings, look: Look = look_on_disk
) -> Confinement:
    """Compute what a sandbox of `agent` sees and may use.

    Args:
        agent: Must have a configuration and a profile.
        siblings: The other agents by alias.
        settings: The agent's effective sandbox settings.
        look: Asks the file system; every path is resolved by it before it is judged.

    Raises:
        PinfoldError: The agent has no valid configuration, or its profile does not exist.
    """
    if agent.config is None or agent.profile is None:
        raise PinfoldError(f"cannot tell what {agent.alias} may do", why="its configuration is not valid")
    workspace = look(str(agent.workspace))
    refusals: list[str] = []
    missing = (
        "" if workspace.kind == "directory" else f"the workspace {agent.workspace} {_is_no_directory(workspace.kind)}"
    )
    grants = [_Grant(workspace.path, WORKSPACE, True, "the workspace")]
    grants += _sibling_grants(agent.config, siblings, look, refusals)
    grants += _root_grants(agent.config, agent.profile, workspace.path, look, refusals)
    refusals += _exposures(grants, agent, siblings, look)
    grants += _runner_rules(settings.runner, workspace.path, look)
    if (agent.config.permissions.level or agent.profile.level) == "readonly":
        grants = [grant._replace(writable=False) for grant in grants]
    masks = _masks(grants, agent.config, agent.profile, look, refusals)
    refusals += _readable_drop_boxes(grants, agent.config, siblings, look)
    return Confinement(
        workspace=workspace.path,
        mounts=_mounts(grants),
        masks=masks,
        environment=dict(settings.environment),
        passthrough=permitted_passthrough(agent.config, agent.profile),
        limits=_limits(settings, agent.profile),
        network=settings.network,
        workspace_problem=missing,
        refusals=tuple(refusals),
        allowed_domains=_allowed_domains(agent.config, agent.profile),
    )


def permitted_passthrough(config: AgentConfig, profile: RiskProfile) -> tuple[str, ...]:
    """Name the variables of Pinfold's environment that an agent may have, each once."""
    own = config.permissions.env_passthrough
    return tuple(dict.fromkeys(profile.env_passthrough if own is None else own))


def _allowed_domains(config: AgentConfig, profile: RiskProfile) -> tuple[str, ...]:
    own = config.permissions.allowed_domains
    return tuple(profile.allowed_domains if own is None else own)


def _sibling_grants(
    config: AgentConfig, siblings: Mapping[str, Agent], look: Look, refusals: list[str]
) -> Iterable[_Grant]:
    for alias, access in config.workspace.access.items():
        sibling = siblings.get(alias)
        if sibling is None:
            refusals.append(f"workspace.access names {alias}, and no agent has this alias")
            continue
        if access == "write_only":
            continue
        place = look(str(sibling.workspace))
        if place.kind != "directory":
            refusals.append(f"the workspace of {alias}, {sibling.workspace}, {_is_no_directory(place.kind)}")
            continue
        yield _Grant(place.path, f"{SIBLINGS}/{alias}", access != "read", f"the workspace of {alias}")


def _root_grants(
    config: AgentConfig, profile: RiskProfile, workspace: str, look: Look, refusals: list[str]
) -> Iterable[_Grant]:
    own = config.permissions.allowed_roots
    for text in profile.allowed_roots if own is None else own:
        if text in _NO_ROOT:
            continue
        target = written_path(text, workspace)
        place = look(target)
        what = f"the allowed root {text}"
        if place.kind == "missing":
            refusals.append(f"{what} does not exist")
        elif place.kind == "other":
            refusals.append(f"{what} is neither a directory nor a file")
        elif "/" in (target, place.path) or any(
            covers(kept, path) for kept in _KEPT_BY_THE_SYSTEM for path in (target, place.path)
        ):
            refusals.append(f"{what} would replace a part of the system inside the sandbox")
        elif covers(workspace, place.path):
            continue  # seen and writable in the workspace already
        elif any(covers(kept, target) for kept in _KEPT_BY_PINFOLD):
            refusals.append(f"{what} lies where Pinfold puts something else inside the sandbox")
        else:
            yield _Grant(place.path, target, True, what)


def _exposures(grants: Sequence[_Grant], agent: Agent, siblings: Mapping[str, Agent], look: Look) -> Iterable[str]:
    """Say which grants would let the agent out: over an engine's socket, or over Pinfold's own files."""
    home = agent.file.parents[2]
    state = look(str(home / "state")).path
    own_files = {look(str(file)).path for file in (home / "pinfold.toml", agent.file, *_files_of(siblings))}
    sockets = {look(socket).path for socket in _ENGINE_SOCKETS}
    for grant in grants:
        if any(covers(grant.source, socket) for socket in sockets if look(socket).kind == "other"):
            yield f"{grant.what} would hand over the engine's socket"
        if covers(state, grant.source) or any(covers(grant.source, file) for file in (state, *own_files)):
            yield f"{grant.what} holds files of Pinfold itself, which no agent may change"


def _masks(
    grants: Sequence[_Grant], config: AgentConfig, profile: RiskProfile, look: Look, refusals: list[str]
) -> tuple[Mask, ...]:
    """Hide each forbidden path at every place a mount would show it; refuse where that would hide a grant as well."""
    own = config.permissions.forbidden_paths
    found: dict[str, Mask] = {}
    for text in profile.forbidden_paths if own is None else own:
        place = look(written_path(text, grants[0].source))
        if place.kind == "missing":
            continue
        for grant in grants:
            if place.path == grant.source:
                refusals.append(f"the forbidden path {text} is {grant.what} itself")
            elif covers(grant.source, place.path):
                inner = next((other for other in grants if covers(place.path, other.source)), None)
                if inner is not None:
                    refusals.append(f"the forbidden path {text} lies inside {grant.what} and holds {inner.what}")
                else:
                    target = moved(place.path, grant.source, grant.target)
                    found[target] = Mask(target, place.kind == "directory")
    return tuple(found[target] for target in sorted(found))


def _readable_drop_boxes(
    grants: Sequence[_Grant], config: AgentConfig, siblings: Mapping[str, Agent], look: Look
) -> Iterable[str]:
    """Say which workspace that may only be written would be seen inside what is mounted."""
    for alias, access in config.workspace.access.items():
        if access == "write_only" and alias in siblings:
            place = look(str(siblings[alias].workspace))
            for grant in grants:
                if covers(grant.source, place.path):
                    yield f"the workspace of {alias} may not be read, and lies inside {grant.what}"


def _runner_rules(runner: str, workspace: str, look: Look) -> Iterable[_Grant]:
    for file in RUNNER_RULES.get(runner, ()):
        place = look(f"{workspace}/{file}")
        if place.kind == "file" and covers(workspace, place.path):
            yield _Grant(place.path, f"{WORKSPACE}/{file}", False, f"the runner's {file}")


def _limits(settings: SandboxSettings, profile: RiskProfile) -> Limits:
    """The agent's settings, held to what its profile allows at most."""
    return Limits(
        least(settings.memory, parse_size(profile.max_memory) if profile.max_memory else None),
        least(settings.cpus, profile.max_cpus),
        least(settings.pids, profile.max_pids),
    )


def _mounts(grants: Sequence[_Grant]) -> tuple[Mount, ...]:
    writable: dict[str, bool] = {}
    for grant in grants:
        writable[grant.source] = writable.get(grant.source, True) and grant.writable
    found = {grant.target: Mount(grant.source, grant.target, writable[grant.source]) for grant in reversed(grants)}
    for outer in grants:
        for inner in writable:
            if inner != outer.source and covers(outer.source, inner) and _differs(inner, outer.source, writable):
                target = moved(inner, outer.source, outer.target)
                found.setdefault(target, Mount(inner, target, writable[inner]))
    return tuple(found[target] for target in sorted(found))


def _differs(inner: str, outer: str, writable: Mapping[str, bool]) -> bool:
    """Whether `inner` needs a mount of its own inside `outer`: something between or above it says otherwise."""
    between = [source for source in writable if covers(outer, source) and covers(source, inner)]
    return len({writable[source] for source in between}) > 1


def _files_of(siblings: Mapping[str, Agent]) -> list[str]:
    return [str(sibling.file) for sibling in siblings.values()]


def _is_no_directory(kind: str) -> str:
    return "does not exist" if kind == "missing" else "is not a directory"
