"""Output from the engine's log into the spool: every byte once, whatever it is and however it comes."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from docker import APIClient
from docker.types import LogConfig

from services.errors import SandboxGone
from services.output import Stream
from services.sandbox.engines.docker import DockerEngine
from tests.engine.conditions import eventually
from tests.engine.followed import following, made_outside, started, until_ended
from tests.engine.sandboxes import Sandboxes
from tests.engine.socket_proxy import SocketProxy
from tests.engine.spools import Spool

MIB = 1024 * 1024
COUNTER = "awk 'BEGIN { for (i = 0; i < %d; i++) print i }'"
BOTH_STREAMS = """
i=0
while [ $i -lt %d ]; do
  echo "out $i"; echo "err $i" >&2; i=$((i + 1)); [ $((i %% 20)) = 0 ] && sleep 0.02
done
"""


def numbered(word: str, count: int) -> list[bytes]:
    return [f"{word} {number}".encode() for number in range(count)]


async def test_both_streams_come_in_their_own_order_and_the_last_line_needs_no_end(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool
) -> None:
    sandbox = await started(engine, sandboxes.script(BOTH_STREAMS % 500 + "printf end"))
    await engine.follow(sandbox, spool.writer)
    assert spool.stdout == [*numbered("out", 500), b"end"]
    assert spool.stderr == numbered("err", 500)
    assert spool.notes == []


async def test_following_may_begin_before_the_start_and_after_the_end(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool, tmp_path: Path
) -> None:
    sandbox = await engine.create(sandboxes.script("echo one; echo two"), {})
    async with following(engine, sandbox, spool):
        await engine.start(sandbox)
    later = Spool(tmp_path / "later")
    await engine.follow(sandbox, later.writer)
    assert spool.lines() == later.lines() == [b"one", b"two"]
    later.close()


async def test_a_silent_sandbox_ends_the_following_too(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool
) -> None:
    await engine.follow(await started(engine, sandboxes.spec("true")), spool.writer)
    assert spool.lines() == []


@pytest.mark.parametrize("attempt", range(4))
async def test_a_burst_right_before_the_end_loses_nothing(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool, attempt: int
) -> None:
    sandbox = await engine.create(sandboxes.script(COUNTER % 20_000), {})
    async with following(engine, sandbox, spool):
        await engine.start(sandbox)
    assert spool.stdout == [str(number).encode() for number in range(20_000)]


async def test_many_sandboxes_bursting_at_once_lose_nothing(
    engine: DockerEngine, sandboxes: Sandboxes, tmp_path: Path
) -> None:
    spools = [Spool(tmp_path / f"spool-{number}") for number in range(4)]
    async with asyncio.TaskGroup() as group:
        for spool in spools:
            sandbox = await started(engine, sandboxes.script(f"{COUNTER % 20_000}; {COUNTER % 5_000} >&2"))
            group.create_task(engine.follow(sandbox, spool.writer))
    for spool in spools:
        assert spool.stdout == [str(number).encode() for number in range(20_000)]
        assert spool.stderr == [str(number).encode() for number in range(5_000)]
        spool.close()


async def test_long_lines_stay_whole(engine: DockerEngine, sandboxes: Sandboxes, spool: Spool) -> None:
    """16 KiB and its neighbours, 200 kB, and a line broken by the other stream."""
    script = """
    for size in 16383 16384 16385 200000; do head -c $size /dev/zero | tr '\\0' x; echo; done
    head -c 20000 /dev/zero | tr '\\0' a; echo between >&2; head -c 20000 /dev/zero | tr '\\0' b; echo
    """
    await engine.follow(await started(engine, sandboxes.script(script)), spool.writer)
    sizes = [16383, 16384, 16385, 200_000]
    assert spool.stdout == [*(b"x" * size for size in sizes), b"a" * 20_000 + b"b" * 20_000]
    assert spool.stderr == [b"between"]


async def test_bytes_are_kept_as_they_came(engine: DockerEngine, sandboxes: Sandboxes, spool: Spool) -> None:
    """Every byte value, a character over the engine's 16 KiB border, what looks like a frame, empty lines."""
    workspace = sandboxes.workspace
    spec = sandboxes.script("cat data")
    every = bytes(byte for byte in range(256) if byte != 10)
    lookalike = b"\x01\0\0\0\0\0\0\x05hello"
    lines = [
        every,
        b"a" * 16383 + "方".encode(),
        lookalike,
        b"",
        b"",
        b"p1\rp2",
        b"caf\xc3",
        b"2026-01-01T00:00:00.0Z x",
    ]
    (workspace / "data").write_bytes(b"\n".join(lines) + b"\n")
    await engine.follow(await started(engine, spec), spool.writer)
    assert spool.stdout == lines


async def test_a_line_without_its_end_is_shown_when_output_pauses(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool
) -> None:
    wait = "while [ ! -e go ]; do sleep 0.05; done"
    long = "head -c 20000 /dev/zero | tr '\\0' x"
    sandbox = await started(engine, sandboxes.script(f"{long}; {wait}; echo done"))
    async with following(engine, sandbox, spool):
        await eventually(lambda: spool.stdout == [b"x" * 16384])  # the engine keeps what is no whole part
        (sandboxes.workspace / "go").touch()
    assert spool.stdout == [b"x" * 20_000 + b"done"]


async def test_a_follower_that_is_replaced_at_any_moment_repeats_and_loses_nothing(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool
) -> None:
    chance = random.Random(7)
    sandbox = await started(engine, sandboxes.script(BOTH_STREAMS % 2000))
    for _ in range(10):
        async with following(engine, sandbox, spool) as task:
            await asyncio.sleep(chance.uniform(0.0, 0.3))
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        spool.reopen()
    await engine.follow(sandbox, spool.writer)
    assert spool.stdout == numbered("out", 2000)
    assert spool.stderr == numbered("err", 2000)
    assert spool.notes == []


async def test_a_long_line_that_spans_two_followers_while_the_other_stream_runs_on_is_whole(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool
) -> None:
    """All parts of a line carry the time of its first, here older than the usual look back."""
    script = """
    head -c 20000 /dev/zero | tr '\\0' x
    for i in 1 2 3 4 5 6 7; do echo $i >&2; sleep 1; done
    touch behind; while [ ! -e go ]; do sleep 0.05; done
    head -c 20000 /dev/zero | tr '\\0' x; echo
    """
    sandbox = await started(engine, sandboxes.script(script))
    async with following(engine, sandbox, spool) as task:
        await eventually(lambda: len(spool.stderr) == 7 and (sandboxes.workspace / "behind").exists())
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    (sandboxes.workspace / "go").touch()
    await until_ended(engine, sandbox)
    spool.reopen()
    await engine.follow(sandbox, spool.writer)
    assert b"".join(spool.stdout) == b"x" * 40_000
    assert spool.stderr == [b"1", b"2", b"3", b"4", b"5", b"6", b"7"]


async def test_a_sandbox_that_is_removed_while_followed_is_gone(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool
) -> None:
    sandbox = await started(engine, sandboxes.script("echo here; sleep 60"))
    task = asyncio.create_task(engine.follow(sandbox, spool.writer))
    await eventually(lambda: spool.lines() == [b"here"])
    await engine.remove(sandbox)
    with pytest.raises(SandboxGone):
        await asyncio.wait_for(task, 30)
    assert spool.lines() == [b"here"]


async def test_a_terminals_output_has_no_frames_and_is_read_as_such(
    engine: DockerEngine, sandboxes: Sandboxes, api: APIClient, spool: Spool
) -> None:
    script = "echo one; echo two >&2; head -c 20000 /dev/zero | tr '\\0' x; echo"
    sandbox = made_outside(api, sandboxes, script, {}, tty=True)
    await engine.start(sandbox)
    await engine.follow(sandbox, spool.writer)
    assert spool.lines(Stream.STDOUT) == [b"one\r", b"two\r", b"x" * 20_000 + b"\r"]


async def test_a_log_that_cannot_be_read_is_said_once_and_does_not_hang(
    engine: DockerEngine, sandboxes: Sandboxes, api: APIClient, spool: Spool, home_id: str
) -> None:
    labels = {"pinfold.home": home_id, "pinfold.session": "none", "pinfold.agent": "reviewer"}
    host = api.create_host_config(log_config=LogConfig(type="none"), network_mode="none")
    made = api.create_container(sandboxes.image, ["echo", "unheard"], labels=labels, host_config=host)
    await engine.start(made["Id"])
    await engine.follow(made["Id"], spool.writer)
    assert [b"does not support reading" in note for note in spool.notes] == [True, False]
    assert b"rest of the output" in spool.notes[1]


@pytest.mark.parametrize("fault", ["drop", "cut", "freeze"])
async def test_a_lost_connection_is_taken_up_again_without_a_gap_or_a_repeat(
    through_proxy: DockerEngine,
    sandboxes: Sandboxes,
    proxy: SocketProxy,
    spool: Spool,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
) -> None:
    monkeypatch.setattr("services.sandbox.engines.docker.api.SILENCE_SECONDS", 0.3)
    sandbox = await started(through_proxy, sandboxes.script(BOTH_STREAMS % 3000))
    async with following(through_proxy, sandbox, spool):
        for lines in (100, 500, 1200):

            async def came(lines: int = lines) -> bool:
                return len(spool.stdout) > lines

            await eventually(came)
            match fault:
                case "drop":
                    await proxy.drop()
                case "cut":
                    await proxy.cut()
                    await asyncio.sleep(0.2)
                    await proxy.start()
                case "freeze":
                    proxy.freeze()
                    await eventually(proxy.is_called_again())  # it was noticed
                    proxy.thaw()
    assert spool.stdout == numbered("out", 3000)
    assert spool.stderr == numbered("err", 3000)
    assert spool.notes == []


async def test_following_waits_for_an_engine_that_is_not_there_yet(
    engine: DockerEngine, through_proxy: DockerEngine, sandboxes: Sandboxes, proxy: SocketProxy, spool: Spool
) -> None:
    sandbox = await started(engine, sandboxes.script("echo late"))
    await proxy.cut()
    async with following(through_proxy, sandbox, spool):
        await asyncio.sleep(0.3)
        await proxy.start()
    assert spool.lines() == [b"late"]


async def test_two_hundred_followers_one_after_the_other_leave_nothing_behind(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool
) -> None:
    sandbox = await started(engine, sandboxes.script("echo here; sleep 60"))
    await engine.inspect(sandbox)
    files, tasks = open_files(), len(asyncio.all_tasks())
    for _ in range(200):
        task = asyncio.create_task(engine.follow(sandbox, spool.writer))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await eventually(lambda: len(asyncio.all_tasks()) <= tasks)
    assert open_files() <= files + 4


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
