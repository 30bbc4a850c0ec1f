"""The sandbox settings in force: the agent's own, else `[defaults.sandbox]`, else Pinfold's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from services.agents.model import EngineName, Lifecycle, Network, PrepareStep, Runner, SandboxSection, Tools
from services.agents.units import parse_duration, parse_size

Origin = Literal["agent.toml", "pinfold.toml", "built in"]

_BUILT_IN = SandboxSection(
    runner="yaocode",
    engine="",
    image="pinfold/agent:latest",
    lifecycle="oneshot",
    stop_timeout="2s",
    pids=512,
    network="none",
    tools="none",
    output_limit="1g",
    secrets=(),
    environment={},
    prepare=(),
)
_IDLE_TIMEOUTS = {"session": "30m", "longrunning": "2h"}


class SandboxSettings(msgspec.Struct, frozen=True):
    """What a sandbox of an agent is made with.

    Attributes:
        engine: "" is the first engine that answers.
        idle_timeout: Seconds; None is never. Only `session` and `longrunning` sandboxes have one.
        stop_timeout: Seconds between one rung of the stop ladder and the next.
        memory: Bytes; None is unlimited.
        cpus: Cores; None is unlimited.
        pids: Processes and threads; None is unlimited.
        output_limit: Bytes of output kept.
        secrets: Names of variables; their values are looked up when a sandbox is made.
        command: Empty when none is configured.
        origins: For each field above, which file decided it.
    """

    runner: Runner
    engine: EngineName
    image: str
    lifecycle: Lifecycle
    idle_timeout: float | None
    stop_timeout: float
    memory: int | None
    cpus: float | None
    pids: int | None
    network: Network
    tools: Tools
    output_limit: int
    secrets: tuple[str, ...]
    environment: Mapping[str, str]
    prepare: tuple[PrepareStep, ...]
    command: tuple[str, ...]
    origins: Mapping[str, Origin]
    _stated_idle_timeout: str | None = None

    def with_lifecycle(self, lifecycle: Lifecycle) -> SandboxSettings:
        """The same settings for a session whose lifecycle the operator chose at its start."""
        idle_timeout = _idle_timeout(lifecycle, self._stated_idle_timeout)
        return msgspec.structs.replace(self, lifecycle=lifecycle, idle_timeout=idle_timeout)


def resolve(own: SandboxSection, defaults: SandboxSection) -> SandboxSettings:
    """Take each setting whole from the first place that gives it.

    Args:
        own: `[sandbox]` of the agent.
        defaults: `[defaults.sandbox]` of `pinfold.toml`.
    """
    places: tuple[tuple[Origin, SandboxSection], ...] = (
        ("agent.toml", own),
        ("pinfold.toml", defaults),
        ("built in", _BUILT_IN),
    )
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for name in SandboxSection.__struct_fields__:
        for origin, section in places:
            origins[name], values[name] = origin, getattr(section, name)
            if values[name] is not None:
                break
    stated = values["idle_timeout"]
    values["idle_timeout"] = _idle_timeout(values["lifecycle"], stated)
    values["stop_timeout"] = parse_duration(values["stop_timeout"])
    for name in ("memory", "output_limit"):
        values[name] = None if values[name] is None else parse_size(values[name])
    values["command"] = values["command"] or ()
    return SandboxSettings(**values, origins=origins, _stated_idle_timeout=stated)


def _idle_timeout(lifecycle: Lifecycle, stated: str | None) -> float | None:
    if lifecycle not in _IDLE_TIMEOUTS:
        return None
    return parse_duration(stated or _IDLE_TIMEOUTS[lifecycle])
