"""What a sandbox may use, and what happens when it uses more."""

from __future__ import annotations

import os

import pytest

from services.output import Stream
from services.sandbox.model import Limits
from tests.services.sandbox.engines.local.bench import Bench

MIB = 1024 * 1024
FILL = "x = bytearray({}); import time; print('filled', flush=True); time.sleep(60)"


def filling(size: int) -> tuple[str, ...]:
    return ("/usr/bin/python3", "-c", FILL.format(size))


async def test_sandbox_over_its_memory_is_killed_and_says_so(bench: Bench) -> None:
    spec = bench.spec(*filling(400 * MIB), limits=Limits(memory=100 * MIB))

    state = await bench.run(spec)

    assert (state.exit_code, state.out_of_memory) == (137, True)
    assert "100 MiB are allowed" in state.error
    assert "ended: it used" in bench.lines(state.id, Stream.NOTE)[0]


async def test_memory_of_all_processes_counts_together(unconfined: Bench) -> None:
    script = '"$@" & "$@" & wait'
    spec = unconfined.sh(script, *filling(60 * MIB), limits=Limits(memory=100 * MIB))

    assert (await unconfined.run(spec)).out_of_memory


async def test_pages_that_processes_share_count_once(unconfined: Bench) -> None:
    program = f"""
import os, time
x = bytearray({60 * MIB})
for _ in range(3):
    if os.fork() == 0: time.sleep(60)
time.sleep(1)
"""
    spec = unconfined.spec("/usr/bin/python3", "-c", program, limits=Limits(memory=100 * MIB))

    state = await unconfined.run(spec)

    assert (state.exit_code, state.out_of_memory) == (0, False)


async def test_sandbox_with_too_many_processes_is_killed_and_says_so(bench: Bench) -> None:
    spec = bench.sh("for n in $(seq 30); do sleep 60 & done; wait", limits=Limits(pids=20))

    state = await bench.run(spec)

    assert (state.exit_code, state.out_of_memory) == (137, False)
    assert "20 are allowed" in state.error


async def test_limits_that_are_kept_disturb_nothing(bench: Bench) -> None:
    spec = bench.sh("sleep 0.2; echo done", limits=Limits(memory=200 * MIB, pids=20, cpus=1.0))

    state = await bench.run(spec)

    assert (state.exit_code, bench.lines(state.id)) == (0, ["done"])


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="this machine has one processor")
@pytest.mark.parametrize(("cpus", "seen"), [(0.5, 1), (1.0, 1), (1.5, 2), (10_000.0, None), (None, None)])
async def test_processors_are_limited_in_whole_ones(unconfined: Bench, cpus: float | None, seen: int | None) -> None:
    expected = len(os.sched_getaffinity(0)) if seen is None else seen

    assert await unconfined.script("nproc", limits=Limits(cpus=cpus)) == [str(expected)]


async def test_no_core_is_dumped_into_the_workspace(unconfined: Bench) -> None:
    assert await unconfined.script("ulimit -c") == ["0"]
