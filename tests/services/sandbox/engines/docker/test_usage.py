"""Statistics of engines, control groups and sandboxes of every kind."""

from __future__ import annotations

import msgspec
import pytest

from services.sandbox.engines.docker.usage import Statistics, measured
from services.sandbox.engines.engine import Usage

READ = "2026-11-30T08:00:01.5Z"
AT = 1796025601_500_000_000
BUSY = '"cpu_stats": {"cpu_usage": {"total_usage": 3000000000}}'


def sample(fields: str, read: str = READ) -> Statistics:
    return msgspec.json.decode(f'{{"read": "{read}", {fields}}}', type=Statistics)


def before(at: int, cpu_seconds: float) -> Usage:
    return Usage(at=at, cpu=None, cpu_seconds=cpu_seconds, memory=0, memory_limit=None, pids=0)


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        pytest.param(
            '{"usage": 1000, "limit": 5000, "stats": {"total_inactive_file": 300, "total_active_file": 100,'
            ' "inactive_file": 1, "cache": 400}}',
            (600, 5000),
            id="control groups v1",
        ),
        pytest.param(
            '{"usage": 1000, "limit": 5000, "stats": {"inactive_file": 300, "active_file": 200, "shmem": 50}}',
            (500, 5000),
            id="control groups v2",
        ),
        pytest.param('{"usage": 1000, "limit": 5000, "stats": {"inactive_file": 2000}}', (1000, 5000), id="nonsense"),
        pytest.param('{"usage": 1000, "limit": 5000}', (1000, 5000), id="no details"),
        pytest.param('{"usage": 1000, "limit": 5000, "stats": null}', (1000, 5000), id="null details"),
        pytest.param('{"usage": 1000, "limit": 8000}', (1000, None), id="the machine's own size is no limit"),
        pytest.param('{"usage": 1000, "limit": 9223372036854771712}', (1000, None), id="the kernel's no limit"),
        pytest.param('{"usage": 1000}', (1000, None), id="no limit told"),
        pytest.param("{}", (0, None), id="empty"),
        pytest.param("null", (0, None), id="null"),
    ],
)
def test_memory_is_told_without_cache_and_with_its_limit(memory: str, expected: tuple[int, int | None]) -> None:
    found = measured(sample(f'{BUSY}, "memory_stats": {memory}'), None, 8000)
    assert found is not None
    assert (found.memory, found.memory_limit) == expected


@pytest.mark.parametrize(
    ("earlier", "cpu"),
    [
        pytest.param(None, None, id="the first"),
        pytest.param(before(AT - 1_000_000_000, 2.0), 1.0, id="one core"),
        pytest.param(before(AT - 2_000_000_000, 2.0), 0.5, id="half a core"),
        pytest.param(before(AT - 1_000_000_000, 5.0), 0.0, id="counted backwards"),
        pytest.param(before(AT, 2.0), None, id="no time between"),
        pytest.param(before(AT + 1, 2.0), None, id="a clock set back"),
    ],
)
def test_processor_time_is_told_in_cores(earlier: Usage | None, cpu: float | None) -> None:
    found = measured(sample(BUSY), earlier, 0)
    assert found is not None
    assert found.cpu == (None if cpu is None else pytest.approx(cpu))
    assert (found.cpu_seconds, found.at, found.pids) == (3.0, AT, 0)


@pytest.mark.parametrize(
    "ended",
    [
        pytest.param(sample(BUSY, read="0001-01-01T00:00:00Z"), id="the zero time"),
        pytest.param(sample('"cpu_stats": {}, "memory_stats": {}'), id="nothing used"),
        pytest.param(sample('"cpu_stats": null, "memory_stats": null, "pids_stats": null'), id="nulls"),
        pytest.param(Statistics(), id="nothing at all"),
    ],
)
def test_a_sandbox_that_has_ended_gives_no_sample(ended: Statistics) -> None:
    assert measured(ended, None, 0) is None
