"""What a sandbox uses, from the engine's statistics."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec

from services.sandbox.engines.docker.api import Api
from services.sandbox.engines.docker.instants import nanoseconds
from services.sandbox.engines.engine import Usage


class CpuUsage(msgspec.Struct):
    """`cpu_stats.cpu_usage`.

    Attributes:
        total_usage: Nanoseconds of processor time since the start.
    """

    total_usage: int = 0


class CpuStats(msgspec.Struct):
    """`cpu_stats`."""

    cpu_usage: CpuUsage = msgspec.field(default_factory=CpuUsage)


class MemoryStats(msgspec.Struct):
    """`memory_stats`; bytes."""

    usage: int = 0
    limit: int = 0
    stats: dict[str, int] | None = None


class PidsStats(msgspec.Struct):
    """`pids_stats`."""

    current: int = 0


class Statistics(msgspec.Struct):
    """One sample; what an engine or its control groups lack is missing or null."""

    read: str = ""
    cpu_stats: CpuStats | None = None
    memory_stats: MemoryStats | None = None
    pids_stats: PidsStats | None = None


async def usage(api: Api, sandbox: str, machine_memory: int) -> AsyncGenerator[Usage, None]:
    """Yield a sample about once a second until the sandbox ends.

    Args:
        api: The engine.
        sandbox: Its container's id.
        machine_memory: Bytes; a limit that is no lower is none.

    Raises:
        Refused: The engine does not know the container.
        EngineUnavailable: The connection was lost.
    """
    what = "cannot read what the sandbox uses"
    before: Usage | None = None
    with await api.open(what, "GET", f"/containers/{sandbox}/stats", {"stream": 1}) as stream:
        async with aclosing(stream.documents(Statistics)) as samples:
            async for sample in samples:
                found = measured(sample, before, machine_memory)
                if found is None:
                    return
                yield found
                before = found


def measured(sample: Statistics, before: Usage | None, machine_memory: int) -> Usage | None:
    """Turn a sample into what people read; None when it comes from a sandbox that has ended."""
    at = nanoseconds(sample.read)
    processor = sample.cpu_stats.cpu_usage.total_usage if sample.cpu_stats else 0
    memory = sample.memory_stats or MemoryStats()
    if at is None or (not processor and not memory.usage):
        return None
    seconds = processor / 1e9
    busy = None
    if before is not None and at > before.at:
        busy = max(0.0, (seconds - before.cpu_seconds) * 1e9 / (at - before.at))
    limited = memory.limit > 0 and (not machine_memory or memory.limit < machine_memory)
    return Usage(
        at=at,
        cpu=busy,
        cpu_seconds=seconds,
        memory=_without_cache(memory),
        memory_limit=memory.limit if limited else None,
        pids=sample.pids_stats.current if sample.pids_stats else 0,
    )


def _without_cache(memory: MemoryStats) -> int:
    """Leave out files' pages, which the kernel can take back; control groups v1 call a whole tree's `total_…`."""
    details = memory.stats or {}
    pages = sum(details.get(f"total_{name}", details.get(name, 0)) for name in ("active_file", "inactive_file"))
    return memory.usage - pages if 0 < pages < memory.usage else memory.usage
