"""How sandboxes end: by signals, with all they started, when their supervisor is killed, and when they are removed."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace

import pytest

from services.errors import SandboxGone
from services.output import Stream
from services.sandbox.engines.engine import Signal
from services.sandbox.engines.local.marks import SANDBOX, mark, marked
from services.sandbox.engines.local.supervisor import Process, identify, is_alive, send, write_record
from tests.services.sandbox.engines.local.bench import PATH, Bench, eventually, gone

TRAPS = """
trap 'echo INT' INT
trap 'echo TERM' TERM
echo up
while :; do sleep 0.02; done
"""


async def test_rungs_of_the_stop_ladder_arrive_in_order(bench: Bench) -> None:
    sandbox = await bench.start(bench.sh(TRAPS))
    await bench.printed(sandbox, "up")

    await bench.engine.signal(sandbox, "INT")
    await bench.printed(sandbox, "INT")
    await bench.engine.signal(sandbox, "TERM")
    await bench.printed(sandbox, "TERM")
    await bench.engine.signal(sandbox, "KILL")

    assert (await bench.end(sandbox)).exit_code == 137
    assert bench.lines(sandbox) == ["up", "INT", "TERM"]


@pytest.mark.parametrize(("sent", "status"), [("INT", 130), ("TERM", 143), ("KILL", 137)])
async def test_signal_ends_a_command_that_does_not_mind_it(bench: Bench, sent: Signal, status: int) -> None:
    sandbox = await bench.start(bench.spec("sleep", "60"))

    await bench.engine.signal(sandbox, sent)

    assert (await bench.end(sandbox)).exit_code == status


async def test_kill_ends_the_whole_sandbox(bench: Bench) -> None:
    sandbox = await bench.start(bench.sh("sleep 61 & setsid sleep 62 & echo up; wait"))
    await bench.printed(sandbox, "up")

    await bench.engine.signal(sandbox, "KILL")

    assert (await bench.end(sandbox)).exit_code == 137
    assert bench.left_running() == []


async def test_signal_after_the_end_does_nothing(unconfined: Bench) -> None:
    state = await unconfined.run(unconfined.sh("exit 4"))

    for each in ("INT", "TERM", "KILL"):
        await unconfined.engine.signal(state.id, each)

    assert (await unconfined.engine.inspect(state.id)).exit_code == 4


@pytest.mark.parametrize(
    "leftover",
    [
        pytest.param("sleep 60 &", id="in the background, holding the output"),
        pytest.param("sleep 60 >/dev/null 2>&1 &", id="in the background, silent"),
        pytest.param("setsid sleep 60 &", id="in a session of its own"),
        pytest.param("(setsid sh -c 'sleep 60 & sleep 61 & wait' &)", id="a daemon"),
        pytest.param("(trap '' INT TERM HUP; sleep 60) &", id="deaf to signals"),
    ],
)
async def test_sandbox_ends_with_its_main_process(bench: Bench, leftover: str) -> None:
    state = await bench.run(bench.sh(f"{leftover}\necho last; exit 6"))

    assert (state.exit_code, bench.lines(state.id)) == (6, ["last"])
    assert bench.left_running() == []


async def test_killed_supervisor_takes_the_sandbox_along_and_the_next_look_says_so(bench: Bench) -> None:
    script = "echo before; sleep 61 & setsid sleep 62 & echo up; wait"
    sandbox = await bench.start(bench.sh(script))
    await bench.printed(sandbox, "up")
    record = bench.record(sandbox)
    send(record.supervisor, signal.SIGKILL)
    await gone(record)

    state = await bench.another_engine().inspect(sandbox)

    assert (state.status, state.exit_code) == ("exited", 137)
    assert "supervisor was killed" in state.error
    assert state.ended_at is not None
    assert bench.left_running() == []
    assert bench.lines(sandbox, Stream.STDOUT) == ["before", "up"]
    assert len(bench.lines(sandbox, Stream.NOTE)) == 1
    with bench.reader(sandbox) as reader:
        assert reader.complete
    assert await bench.engine.inspect(sandbox) == state


async def test_followers_notice_that_a_supervisor_was_killed(unconfined: Bench) -> None:
    sandbox = await unconfined.start(unconfined.spec("sleep", "60"))
    following = asyncio.create_task(unconfined.end(sandbox))
    await asyncio.sleep(0)

    send(unconfined.record(sandbox).supervisor, signal.SIGKILL)

    assert (await following).exit_code == 137


async def test_supervisor_told_to_end_stops_its_sandbox_first(bench: Bench) -> None:
    sandbox = await bench.start(bench.sh("trap 'echo asked; exit 9' TERM; echo up; while :; do sleep 0.02; done"))
    await bench.printed(sandbox, "up")

    send(bench.record(sandbox).supervisor, signal.SIGTERM)

    assert (await bench.end(sandbox)).exit_code == 9
    assert bench.lines(sandbox) == ["up", "asked"]


async def test_supervisor_told_to_end_kills_what_does_not_stop_in_time(unconfined: Bench) -> None:
    sandbox = await unconfined.start(
        unconfined.sh("trap '' TERM; echo up; while :; do sleep 0.02; done", stop_timeout=0.2)
    )
    await unconfined.printed(sandbox, "up")

    send(unconfined.record(sandbox).supervisor, signal.SIGTERM)

    assert (await unconfined.end(sandbox)).exit_code == 137


async def test_record_that_names_a_foreign_process_never_gets_it_signalled(unconfined: Bench) -> None:
    state = await unconfined.run(unconfined.sh("true"))
    before = unconfined.record(state.id)
    with stranger({}) as found:
        for forged in (replace(found, started=found.started - 1), replace(found, boot="another")):
            record = replace(before, status="running", main=forged, root=forged)
            write_record(unconfined.directory(state.id), record)
            for each in ("INT", "TERM", "KILL"):
                await unconfined.engine.signal(state.id, each)
            assert (await unconfined.engine.inspect(state.id)).status == "exited"
            write_record(unconfined.directory(state.id), replace(record, supervisor=forged))
            await unconfined.engine.remove(state.id)
            await unconfined.run(unconfined.sh("true", session=state.id))

        assert is_alive(found)


async def test_supervisor_that_writes_the_output_lives_even_where_its_number_cannot_be_seen(unconfined: Bench) -> None:
    sandbox = await unconfined.start(unconfined.sh("exec sleep 60"))
    record = unconfined.record(sandbox)
    unseen = replace(record.supervisor, started=record.supervisor.started - 1)
    write_record(unconfined.directory(sandbox), replace(record, supervisor=unseen))

    assert (await unconfined.engine.inspect(sandbox)).status == "running"

    write_record(unconfined.directory(sandbox), record)


async def test_restart_of_the_machine_ends_what_ran(unconfined: Bench) -> None:
    state = await unconfined.run(unconfined.sh("echo printed"))
    record = unconfined.record(state.id)
    assert record.main is not None
    elsewhere = replace(record.main, boot="earlier")
    write_record(
        unconfined.directory(state.id),
        replace(record, status="running", main=elsewhere, root=elsewhere, supervisor=elsewhere),
    )

    ended = await unconfined.engine.inspect(state.id)

    assert (ended.status, ended.exit_code, ended.error) == ("exited", 137, "the machine was started again")


@pytest.mark.parametrize("script", ["exec sleep 60", "trap '' INT TERM HUP; sleep 60 & sleep 61; sleep 62", "exit 2"])
async def test_removing_ends_everything_and_leaves_the_output(bench: Bench, script: str) -> None:
    sandbox = await bench.start(bench.sh(f"echo printed; {script}"))
    await bench.printed(sandbox, "printed")

    await bench.engine.remove(sandbox)

    assert bench.left_running() == []
    assert bench.lines(sandbox) == ["printed"]
    assert [path.name for path in bench.directory(sandbox).iterdir()] == ["output"]
    assert await bench.engine.list() == []
    with pytest.raises(SandboxGone):
        await bench.engine.inspect(sandbox)
    await bench.engine.remove(sandbox)


async def test_removing_clears_files_their_agent_locked(bench: Bench) -> None:
    (bench.workspace / "kept").touch()
    script = 'ln -s "$PWD" ~/link; cd; mkdir -p a/b; touch a/b/c; chmod 500 a/b; chmod 000 a'

    state = await bench.run(bench.sh(script))
    await bench.engine.remove(state.id)

    assert [path.name for path in bench.directory(state.id).iterdir()] == ["output"]
    assert (bench.workspace / "kept").exists()


@pytest.mark.parametrize("file", ["local.json", "sandbox.json"])
async def test_sandbox_with_damaged_files_is_shown_and_can_be_removed(unconfined: Bench, file: str) -> None:
    damaged = await unconfined.start(unconfined.sh("sleep 60 & exec sleep 61"))
    sound = await unconfined.run(unconfined.sh("true"))
    (unconfined.directory(damaged) / file).write_bytes(b'{"status": "running"')

    states = {state.id: state for state in await unconfined.engine.list()}

    assert states[sound.id] == sound
    assert "damaged" in states[damaged].error
    await unconfined.engine.remove(damaged)
    assert [state.id for state in await unconfined.engine.list()] == [sound.id]
    assert [path.name for path in unconfined.directory(damaged).iterdir()] == ["output"]
    assert unconfined.left_running() == []


async def test_process_that_carries_the_mark_of_another_sandbox_is_left_alone(unconfined: Bench) -> None:
    sandbox = await unconfined.start(unconfined.spec("sleep", "60"))
    other = mark(unconfined.home_id[::-1], sandbox)
    with stranger({SANDBOX: other}) as process:
        await eventually(lambda: process in marked(SANDBOX, other))
        send(unconfined.record(sandbox).supervisor, signal.SIGKILL)
        await gone(unconfined.record(sandbox))
        await unconfined.engine.inspect(sandbox)
        await unconfined.engine.remove(sandbox)

        assert is_alive(process)


@contextlib.contextmanager
def stranger(environment: dict[str, str]) -> Iterator[Process]:
    """A process that is none of Pinfold's."""
    with subprocess.Popen(["sleep", "60"], env={"PATH": PATH, **environment}) as process:
        found = identify(process.pid)
        assert found is not None
        yield found
        process.kill()
