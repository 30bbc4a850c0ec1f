"""What the engine notices of its sandboxes: changes, figures, and the end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import aclosing

from services.sandbox.engines.engine import Usage
from services.sandbox.engines.local.supervisor import send
from services.sandbox.model import Limits
from tests.services.sandbox.engines.local.bench import WAIT, Bench, gone


async def next_of(changes: AsyncIterator[None]) -> None:
    async with asyncio.timeout(WAIT):
        await anext(changes)


async def test_every_step_of_a_sandbox_is_a_change(bench: Bench) -> None:
    async with aclosing(bench.another_engine().changes()) as changes:
        await next_of(changes)
        sandbox = await bench.engine.create(bench.sh("exec sleep 60"), {})
        await next_of(changes)
        await bench.engine.start(sandbox)
        await next_of(changes)
        await bench.engine.signal(sandbox, "TERM")
        await next_of(changes)

        assert (await bench.end(sandbox)).status == "exited"


async def test_death_of_a_supervisor_is_a_change(unconfined: Bench) -> None:
    sandbox = await unconfined.start(unconfined.sh("exec sleep 60"))
    async with aclosing(unconfined.engine.changes()) as changes:
        await next_of(changes)
        record = unconfined.record(sandbox)
        send(record.supervisor, signal.SIGKILL)
        await gone(record)

        await next_of(changes)


async def test_changes_of_a_home_without_sessions_begin_at_once(unconfined: Bench) -> None:
    async with aclosing(unconfined.engine.changes()) as changes:
        await next_of(changes)


async def test_all_sandboxes_are_listed_with_their_states(bench: Bench) -> None:
    created = await bench.engine.create(bench.sh("true"), {})
    running = await bench.start(bench.sh("exec sleep 60"))
    exited = (await bench.run(bench.sh("exit 3"))).id

    found = {state.id: (state.status, state.exit_code, state.agent) for state in await bench.engine.list()}

    assert found == {
        created: ("created", None, "worker"),
        running: ("running", None, "worker"),
        exited: ("exited", 3, "worker"),
    }


async def test_usage_counts_all_processes_of_the_sandbox(bench: Bench) -> None:
    busy = "while :; do :; done"
    spec = bench.sh(f"sh -c '{busy}' & setsid sh -c '{busy}' & wait", limits=Limits(memory=2**30))
    sandbox = await bench.start(spec)
    samples: list[Usage] = []

    async with asyncio.timeout(WAIT), aclosing(bench.engine.usage(sandbox)) as usage:
        async for sample in usage:
            samples.append(sample)
            if len(samples) > 1 and sample.cpu_seconds > 0.5:
                break

    first, last = samples[0], samples[-1]
    assert first.cpu is None
    assert last.cpu is not None
    assert 0.1 < last.cpu < 4
    assert last.pids == 3
    assert last.memory_limit == 2**30
    assert 50_000 < last.memory < 50_000_000
    assert last.cpu_seconds > first.cpu_seconds
    assert last.at > first.at


async def test_processor_time_of_processes_that_ended_still_counts(bench: Bench) -> None:
    spin = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
    sandbox = await bench.start(bench.sh(f"sh -c '{spin}'; echo spun; exec sleep 60"))
    await bench.printed(sandbox, "spun")

    async with aclosing(bench.engine.usage(sandbox)) as usage:
        assert (await anext(usage)).cpu_seconds > 0.01


async def test_usage_ends_with_the_sandbox(bench: Bench) -> None:
    sandbox = await bench.start(bench.sh("exec sleep 60"))
    async with asyncio.timeout(WAIT), aclosing(bench.engine.usage(sandbox)) as usage:
        await anext(usage)
        await bench.engine.signal(sandbox, "KILL")
        assert [sample async for sample in usage if sample.pids > 1] == []

    assert [sample async for sample in bench.engine.usage(sandbox)] == []


async def test_there_are_no_images_and_so_none_is_missing(unconfined: Bench) -> None:
    assert await unconfined.engine.has_image("anything")
    assert [progress async for progress in unconfined.engine.pull("anything")] == []
