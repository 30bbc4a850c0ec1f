"""A terminal inside a sandbox."""

from __future__ import annotations

import asyncio
import hashlib
import io
import shutil
import tarfile

import pytest
from docker import APIClient

from services.errors import EngineError
from services.sandbox.engines.docker import DockerEngine
from services.sandbox.engines.engine import Shell
from tests.engine.conditions import eventually
from tests.engine.sandboxes import Sandboxes

PLAIN = ("env", "PS1=> ", "sh")


class Screen:
    """What a shell has shown so far."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.shown = b""

    async def until(self, text: bytes) -> bytes:
        """Read until a text is shown; return what was shown since the last call, up to its end."""
        async with asyncio.timeout(30):
            while text not in self.shown:
                data = await self.shell.read()
                assert data, f"ended after {self.shown!r}"
                self.shown += data
        before, _, self.shown = self.shown.partition(text)
        return before + text

    async def to_the_end(self) -> bytes:
        async with asyncio.timeout(30):
            while data := await self.shell.read():
                self.shown += data
        return self.shown


@pytest.fixture
async def running(engine: DockerEngine, sandboxes: Sandboxes) -> str:
    sandbox = await engine.create(sandboxes.spec("sleep", "600"), {})
    await engine.start(sandbox)
    return sandbox


async def processes(engine: DockerEngine, sandbox: str) -> bytes:
    return (await engine.run(sandbox, ("ps", "-o", "args")))[1]


async def test_what_is_typed_is_run_and_the_status_comes_back(engine: DockerEngine, running: str) -> None:
    screen = Screen(await engine.shell(running, PLAIN, 80, 24))
    await screen.shell.write(b"echo $((6 * 7))\n")
    await screen.until(b"42\r\n")
    await screen.shell.write(b"exit 9\n")
    await screen.to_the_end()
    assert await screen.shell.wait() == 9
    await screen.shell.close()


async def test_without_a_command_there_is_the_best_shell_there_is(engine: DockerEngine, running: str) -> None:
    screen = Screen(await engine.shell(running, (), 80, 24))
    await screen.shell.write(b"echo $0-$TERM\n")
    await screen.until(b"sh-xterm-256color\r\n")
    await screen.shell.close()


async def test_bash_is_preferred(engine: DockerEngine, sandboxes: Sandboxes) -> None:
    spec = sandboxes.script(
        "printf '#!/bin/sh\\necho I am bash\\n' >/tmp/bash; chmod +x /tmp/bash; touch ready; sleep 600",
        environment={"PATH": "/bin:/tmp"},
    )
    sandbox = await engine.create(spec, {})
    await engine.start(sandbox)
    await eventually((sandboxes.workspace / "ready").exists)
    screen = Screen(await engine.shell(sandbox, (), 80, 24))
    assert await screen.to_the_end() == b"I am bash\r\n"
    await screen.shell.close()


async def test_the_size_is_the_terminals_from_the_start_and_follows_it(engine: DockerEngine, running: str) -> None:
    screen = Screen(await engine.shell(running, PLAIN, 111, 33))
    await screen.shell.write(b"stty size\n")
    await screen.until(b"33 111\r\n")
    await screen.shell.resize(50, 12)
    await screen.shell.write(b"stty size\n")
    await screen.until(b"12 50\r\n")
    await screen.shell.close()


async def test_every_byte_passes_both_ways_and_no_key_is_swallowed(engine: DockerEngine, running: str) -> None:
    keys = bytes(byte for byte in range(256) if byte not in b"\x1e") + b"\x10\x11"
    script = f"stty raw -echo; echo ready; head -c {len(keys)} | od -An -v -tx1 | tr -d ' \\n'; echo"
    screen = Screen(await engine.shell(running, ("sh", "-c", script), 80, 24))
    await screen.until(b"ready\n")
    for byte in keys:
        await screen.shell.write(bytes([byte]))
    assert keys.hex().encode() in await screen.to_the_end()
    await screen.shell.close()


async def test_nothing_is_lost_that_comes_with_the_answers_head_or_right_before_the_end(
    engine: DockerEngine, running: str
) -> None:
    for _ in range(5):
        screen = Screen(await engine.shell(running, ("seq", "1", "2000"), 80, 24))
        assert await screen.to_the_end() == b"".join(b"%d\r\n" % number for number in range(1, 2001))
        assert await screen.shell.wait() == 0
        await screen.shell.close()


async def test_a_large_paste_arrives_whole(engine: DockerEngine, running: str) -> None:
    size = 1_000_000
    script = f"stty raw -echo; echo ready; head -c {size} | md5sum"
    screen = Screen(await engine.shell(running, ("sh", "-c", script), 80, 24))
    await screen.until(b"ready\n")
    await screen.shell.write(b"x" * size)
    await screen.until(hashlib.md5(b"x" * size).hexdigest().encode())
    await screen.shell.close()


async def test_hanging_up_ends_the_shell_and_what_it_runs_but_not_the_sandbox(
    engine: DockerEngine, running: str
) -> None:
    screen = Screen(await engine.shell(running, PLAIN, 80, 24))
    await screen.shell.write(b"echo go; sleep 555\n")
    await screen.until(b"go\r\n")
    await screen.shell.close()

    async def hung_up() -> bool:
        return b"sleep 555" not in await processes(engine, running)

    await eventually(hung_up)
    assert b"sleep 600" in await processes(engine, running)
    await screen.shell.close()


async def test_two_shells_do_not_disturb_each_other(engine: DockerEngine, running: str) -> None:
    one, two = [Screen(await engine.shell(running, PLAIN, 80, 24)) for _ in range(2)]
    await one.shell.close()
    await two.shell.write(b"echo still here\n")
    await two.until(b"still here\r\n")
    await two.shell.close()


async def test_a_sandbox_that_ends_ends_its_shells(engine: DockerEngine, running: str) -> None:
    screen = Screen(await engine.shell(running, PLAIN, 80, 24))
    await engine.signal(running, "KILL")
    await screen.to_the_end()
    assert await screen.shell.wait() == 137
    await screen.shell.resize(10, 10)
    await screen.shell.close()


async def test_no_shell_in_a_sandbox_that_does_not_run(engine: DockerEngine, sandboxes: Sandboxes) -> None:
    sandbox = await engine.create(sandboxes.spec("true"), {})
    with pytest.raises(EngineError, match="is not running"):
        await engine.shell(sandbox, (), 80, 24)


async def test_a_command_that_does_not_exist_says_so_and_ends(engine: DockerEngine, running: str) -> None:
    screen = Screen(await engine.shell(running, ("no-such-program",), 80, 24))
    assert b"not found" in await screen.to_the_end()
    assert await screen.shell.wait() == 127
    await screen.shell.close()


async def test_an_image_without_a_shell_is_said_to_need_one(
    engine: DockerEngine, sandboxes: Sandboxes, api: APIClient
) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        tar.add(str(shutil.which("busybox")), "busybox")
    api.import_image_from_data(packed.getvalue(), repository="pinfold/bare", tag="test")
    try:
        sandbox = await engine.create(sandboxes.spec("/busybox", "sleep", "600", image="pinfold/bare:test"), {})
        await engine.start(sandbox)
        with pytest.raises(EngineError, match="no such file") as raised:
            await engine.shell(sandbox, (), 80, 24)
        assert "/bin/sh" in raised.value.fix
        await engine.remove(sandbox)
    finally:
        api.remove_image("pinfold/bare:test", force=True)
