"""Kills Pinfold processes at random moments and checks what the next one makes of it."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from services.output import Stream
from services.pinfold import Pinfold
from services.sandbox import Session, SessionState
from tests.support.sessions import World, echo_lines, ended, eventually, lines_of, logged, step_states
from tests.support.terminal import ROOT

LINES = 150
ENDS = ("session.end", "session.end failed", "session.lost failed", "session.start failed", "session.cancel")


def write_agents(world: World) -> None:
    """Write agents whose sessions are in every phase: being prepared, running, being stopped."""
    world.agent("printer", script=echo_lines(LINES, 0.005))
    world.agent("prepared", script=echo_lines(LINES), sandbox='prepare = [{ cmd = ["sleep", "0.3"] }]')
    script = f"trap '' INT; {echo_lines(LINES, 0.01)}; sleep 4"
    world.agent("stubborn", script=script, sandbox="stop_timeout = '300ms'")


@contextmanager
def doomed(world: World) -> Iterator[subprocess.Popen[bytes]]:
    """A Pinfold in a process of its own, killed with SIGKILL at the end of the block; see `tests.support.doomed`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.doomed", str(world.home.root)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, **world.env},
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


async def kill_at_random_moments(world: World, times: int, seed: int) -> None:
    """Start a Pinfold again and again and kill it within three seconds of its being open."""
    moments = random.Random(seed)
    for _ in range(times):
        with doomed(world) as process:
            assert process.stdout is not None
            assert await asyncio.to_thread(process.stdout.readline) == b"open\n"
            await asyncio.sleep(moments.uniform(0.0, 3.0))


async def check_all(pinfold: Pinfold) -> Counter[str]:
    """Wait until every session has ended and check each; return how many ended in which state."""
    sessions = [await ended(pinfold, session.id) for session in await pinfold.sandboxes.sessions()]
    for session in sessions:
        await _check(pinfold, session)

    async def all_clean() -> bool:
        return not any(session.sandbox for session in await pinfold.sandboxes.sessions())

    await eventually(all_clean)
    assert await pinfold.sandboxes.find_orphans() == ()
    return Counter(session.state.value for session in sessions)


async def _check(pinfold: Pinfold, session: Session) -> None:
    lines = await lines_of(pinfold, session.id, Stream.STDOUT)
    assert lines == [f"line {number}" for number in range(1, len(lines) + 1)], f"{session.id}: lost or repeated lines"
    if session.state is SessionState.EXITED:
        assert len(lines) == LINES
    assert session.state in (SessionState.EXITED, SessionState.STOPPED, SessionState.FAILED), session
    if session.state is SessionState.FAILED:
        assert session.detail == "Pinfold ended while starting it"
    assert "running" not in {state for _, state in await step_states(pinfold, session.id)}
    verbs = await logged(pinfold, session.id)
    assert sum(verb in ENDS for verb in verbs) == 1, verbs
    reader = await pinfold.sandboxes.output(session.id)
    assert reader.complete
    reader.close()
