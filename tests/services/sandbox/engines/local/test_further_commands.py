"""Commands run beside the main process: to their end, or in a terminal."""

from __future__ import annotations

import asyncio

import pytest

from services.errors import EngineError
from services.sandbox.engines.engine import Shell
from tests.services.sandbox.engines.local.bench import WAIT, Bench


async def waiting(bench: Bench) -> str:
    """Start a sandbox that does nothing."""
    sandbox = await bench.start(bench.sh("echo up; exec sleep 60"))
    await bench.printed(sandbox, "up")
    return sandbox


@pytest.mark.parametrize(
    ("command", "status", "output"),
    [
        pytest.param(["sh", "-c", "echo a; echo b >&2; exit 3"], 3, b"a\nb\n", id="both streams and status"),
        pytest.param(["sh", "-c", "kill -9 $$"], 137, b"", id="killed"),
        pytest.param(["cat"], 0, b"", id="empty input"),
        pytest.param(["no-such-program"], 127, b"no-such-program: not found\n", id="missing"),
        pytest.param(["sh", "-c", "sleep 60 & echo left"], 0, b"left\n", id="leaves something running"),
        pytest.param(["sh", "-c", "setsid sleep 60 >/dev/null 2>&1 & echo left"], 0, b"left\n", id="leaves a daemon"),
    ],
)
async def test_command_runs_to_its_end(bench: Bench, command: list[str], status: int, output: bytes) -> None:
    sandbox = await waiting(bench)

    assert await bench.engine.run(sandbox, tuple(command)) == (status, output)

    await bench.engine.remove(sandbox)
    assert bench.left_running() == []


async def test_only_the_end_of_long_output_is_kept(unconfined: Bench) -> None:
    sandbox = await waiting(unconfined)

    status, output = await unconfined.engine.run(sandbox, ("sh", "-c", "seq 1 100000"))

    whole = "".join(f"{number}\n" for number in range(1, 100_001)).encode()
    assert (status, output) == (0, whole[-64 * 1024 :])


async def test_command_runs_where_the_main_process_does(bench: Bench) -> None:
    sandbox = await waiting(bench)

    _, output = await bench.engine.run(sandbox, ("sh", "-c", "pwd; echo $HOME; echo $PINFOLD_SANDBOX"))

    home = "/home/agent" if bench.confined else str(bench.directory(sandbox) / "scratch" / "home")
    assert output.decode().splitlines() == [str(bench.workspace), home, f"{bench.home_id}/{sandbox}"]


async def test_end_of_the_sandbox_ends_the_command(bench: Bench) -> None:
    sandbox = await waiting(bench)
    running = asyncio.create_task(bench.engine.run(sandbox, ("sleep", "60")))
    await asyncio.sleep(0)

    await bench.engine.signal(sandbox, "KILL")

    async with asyncio.timeout(WAIT):
        assert (await running)[0] == 137


async def test_giving_up_ends_the_command(bench: Bench) -> None:
    sandbox = await waiting(bench)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await bench.engine.run(sandbox, ("sh", "-c", "sleep 60"))

    await bench.engine.remove(sandbox)
    assert bench.left_running() == []


async def test_nothing_runs_in_a_sandbox_that_does_not(unconfined: Bench) -> None:
    created = await unconfined.engine.create(unconfined.sh("true"), {})
    ended = (await unconfined.run(unconfined.sh("true"))).id

    for sandbox in (created, ended):
        with pytest.raises(EngineError, match="is not running"):
            await unconfined.engine.run(sandbox, ("true",))
        with pytest.raises(EngineError, match="is not running"):
            await unconfined.engine.shell(sandbox, (), 80, 24)


async def read_until(shell: Shell, text: str) -> str:
    """Read what a shell prints until some text was in it."""
    seen = b""
    async with asyncio.timeout(WAIT):
        while text.encode() not in seen:
            piece = await shell.read()
            assert piece, f"the shell ended after {seen!r}"
            seen += piece
    return seen.decode()


async def read_to_end(shell: Shell) -> str:
    seen = b""
    async with asyncio.timeout(WAIT):
        while piece := await shell.read():
            seen += piece
    return seen.decode()


async def test_shell_has_a_terminal_whose_size_follows(bench: Bench) -> None:
    shell = await bench.engine.shell(await waiting(bench), ("sh",), 80, 24)

    await shell.write(b"PS1=; stty size; tty >/dev/null && echo a-'terminal'\n")
    assert "24 80" in await read_until(shell, "a-terminal\r\n")
    await shell.resize(50, 12)
    await shell.write(b"stty size; echo e'n'd\n")
    assert "12 50" in await read_until(shell, "end\r\n")

    await shell.close()


async def test_shell_learns_of_a_new_size_at_once(unconfined: Bench) -> None:
    script = 'trap "stty size" WINCH; echo ready; while :; do sleep 0.02; done'
    shell = await unconfined.engine.shell(await waiting(unconfined), ("sh", "-c", script), 80, 24)
    await read_until(shell, "ready\r\n")

    await shell.resize(132, 43)

    await read_until(shell, "43 132\r\n")
    await shell.close()


async def test_interrupt_key_reaches_what_runs_in_the_shell(bench: Bench) -> None:
    shell = await bench.engine.shell(await waiting(bench), ("sh",), 80, 24)
    await shell.write(b"PS1=; sh -c 'echo 1-$((1+1)); exec sleep 60'\n")
    await read_until(shell, "1-2\r\n")

    await shell.write(b"\x03")
    await shell.write(b"echo 3-$((2+2))\n")

    await read_until(shell, "3-4\r\n")
    await shell.close()


async def test_shell_returns_its_status_and_then_nothing_more(bench: Bench) -> None:
    shell = await bench.engine.shell(await waiting(bench), ("sh", "-c", "echo last; exit 5"), 80, 24)

    assert await read_to_end(shell) == "last\r\n"
    assert await shell.wait() == 5
    assert await shell.read() == b""
    await shell.write(b"into the void")
    await shell.close()


async def test_shell_ends_although_something_keeps_its_terminal(unconfined: Bench) -> None:
    sandbox = await waiting(unconfined)
    shell = await unconfined.engine.shell(sandbox, ("sh", "-c", "setsid sleep 60 & echo last"), 80, 24)

    assert await read_to_end(shell) == "last\r\n"
    assert await shell.wait() == 0
    await shell.close()


@pytest.mark.parametrize("script", ["exec sleep 60", "trap '' HUP; echo up; while :; do sleep 1; done"])
async def test_closing_hangs_up(bench: Bench, script: str) -> None:
    sandbox = await waiting(bench)
    shell = await bench.engine.shell(sandbox, ("sh", "-c", f"echo ready; {script}"), 80, 24)
    await read_until(shell, "ready\r\n")
    reading = asyncio.create_task(read_to_end(shell))

    await shell.close()

    await reading
    assert await shell.wait() in (129, 137)
    assert (await bench.engine.inspect(sandbox)).status == "running"
    await shell.close()


async def test_end_of_the_sandbox_hangs_up_its_shells(bench: Bench) -> None:
    sandbox = await waiting(bench)
    shell = await bench.engine.shell(sandbox, (), 80, 24)

    await bench.engine.signal(sandbox, "KILL")

    await read_to_end(shell)
    assert await shell.wait() in (129, 137)


async def test_large_paste_arrives_whole(unconfined: Bench) -> None:
    script = "stty raw -echo; echo ready; head -c 300000 | wc -c"
    shell = await unconfined.engine.shell(await waiting(unconfined), ("sh", "-c", script), 80, 24)
    await read_until(shell, "ready")

    await shell.write(b"x" * 300_000)

    assert "300000" in await read_to_end(shell)
    await shell.close()


async def test_default_shell_is_interactive(bench: Bench) -> None:
    shell = await bench.engine.shell(await waiting(bench), (), 80, 24)

    await shell.write(b"echo $TERM-$((20+2)); exit\n")

    assert "xterm-256color-22\r\n" in await read_to_end(shell)
    assert await shell.wait() == 0
    await shell.close()
