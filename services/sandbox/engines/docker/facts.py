"""What an engine says of itself: its versions, its machine, and what it lacks."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from services.errors import EngineError
from services.sandbox.engines.docker.api import Api

OLDEST_API = (1, 41)
"""Docker 20.10."""

_NEWEST_API = (1, 51)


class _Version(msgspec.Struct, rename="pascal"):
    version: str = ""
    api_version: str = ""
    oldest_api: str = msgspec.field(default="", name="MinAPIVersion")
    os: str = ""


class _Plugins(msgspec.Struct, rename="pascal"):
    log: list[str] | None = None


class _Info(msgspec.Struct, rename="pascal"):
    identity: str = msgspec.field(default="", name="ID")
    cpus: int = msgspec.field(default=0, name="NCPU")
    memory: int = msgspec.field(default=0, name="MemTotal")
    memory_limit: bool = False
    swap_limit: bool = False
    pids_limit: bool = False
    cpu_limit: bool = msgspec.field(default=False, name="CpuCfsQuota")
    live_restore_enabled: bool = False
    security_options: list[str] | None = None
    plugins: _Plugins | None = None


class EngineFacts(msgspec.Struct, frozen=True):
    """An engine as found when it was asked.

    Attributes:
        version: Of the engine, for people.
        api: The version of the API to speak, as in `1.41`.
        identity: Stays over restarts.
        cpus: Cores of its machine; 0 when unknown.
        memory: Bytes of its machine; 0 when unknown.
        rootless: It runs as a plain user, who is root inside its sandboxes.
        remaps_users: Users inside sandboxes are others outside.
        notes: What it lacks or should change, for people.
    """

    version: str
    api: str
    identity: str
    cpus: int
    memory: int
    rootless: bool
    remaps_users: bool
    notes: tuple[str, ...]


async def read_facts(api: Api) -> EngineFacts:
    """Ask an engine what it is; works before a version was agreed on.

    Raises:
        EngineUnavailable: It does not answer.
        EngineError: It is too old, or runs no Linux sandboxes.
    """
    found = await api.get("cannot ask the engine for its version", "/version", _Version, version="")
    version = _agreed(found)
    if found.os not in ("", "linux"):
        raise EngineError("the docker engine cannot be used", why=f"it runs {found.os} containers, not Linux ones")
    info = await api.get("cannot ask the engine what it offers", "/info", _Info, version=version)
    security = info.security_options or []
    return EngineFacts(
        version=found.version,
        api=version,
        identity=info.identity,
        cpus=info.cpus,
        memory=info.memory,
        rootless=any("name=rootless" in option for option in security),
        remaps_users=any("name=userns" in option for option in security),
        notes=tuple(_notes(info)),
    )


def _agreed(found: _Version) -> str:
    """Choose the newest version both know; an engine that dropped all we know is spoken to in its oldest."""
    theirs, oldest = _numbers(found.api_version), _numbers(found.oldest_api)
    if theirs < OLDEST_API:
        raise EngineError(
            "the docker engine is too old",
            why=f"it speaks API {found.api_version or 'unknown'}, Pinfold needs {OLDEST_API[0]}.{OLDEST_API[1]}",
            fix="Install Docker Engine 20.10 or later.",
        )
    major, minor = max(min(theirs, _NEWEST_API), oldest)
    return f"{major}.{minor}"


def _numbers(version: str) -> tuple[int, int]:
    major, _, minor = version.partition(".")
    return (int(major), int(minor)) if major.isdecimal() and minor.isdecimal() else (0, 0)


def _notes(info: _Info) -> Iterator[str]:
    if not info.live_restore_enabled:
        yield "live-restore is off: a restart of the engine ends every sandbox"
    if not info.memory_limit:
        yield "it cannot limit memory"
    elif not info.swap_limit:
        yield "it cannot limit swap: a sandbox at its memory limit swaps instead of ending"
    if not info.pids_limit:
        yield "it cannot limit the number of processes"
    if not info.cpu_limit:
        yield "it cannot limit processor time"
    if not any("name=seccomp" in option for option in info.security_options or []):
        yield "it filters no system calls (seccomp is off)"
    if info.plugins is not None and "local" not in (info.plugins.log or []):
        yield "it has no log driver `local`: no sandbox can be made"
