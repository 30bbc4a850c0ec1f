"""A session on this machine finds its token, its sockets and a program for stdio, and nobody else does."""

from __future__ import annotations

import json
import os
import signal
import stat
from pathlib import Path

import pytest

from services.errors import SessionRefused
from services.home import Home
from services.pinfold import Pinfold
from services.sandbox import StartRequest
from services.sandbox.engines.local.bubblewrap import find_bubblewrap
from services.sandbox.tools import INLET_PYTHON, Token
from tests.services.sandbox.tools.desk import PROFILES
from tests.services.sandbox.tools.serving import server_of
from tests.support.sessions import World, ended, eventually, lines_of, ran, started

CONFINED = bool(find_bubblewrap(os.environ).path)
needs_bubblewrap = pytest.mark.skipif(not CONFINED, reason="bubblewrap does not work here")
needs_python = pytest.mark.skipif(not INLET_PYTHON.exists(), reason="no Python is in /usr")

HELLO = (
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    '"clientInfo":{"name":"t","version":"1"}}}'
)
READY = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
STORE = (
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_store","arguments":'
    '{"key":"from","content":"inside"}}}'
)
CORRECT = STORE.replace("inside", "corrected")
OVER_STDIO = f"""{{ echo '{HELLO}'; echo '{READY}'; echo '{STORE}'; sleep 1; }} | "$PINFOLD_TOOLS_STDIO" """
OVER_HTTP = """/usr/bin/python3 -c '
import os, urllib.request
token = open(os.environ["PINFOLD_TOKEN_FILE"]).read().strip()
body = os.environ["CALL"].encode()
headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json",
           "Accept": "application/json, text/event-stream"}
print(urllib.request.urlopen(urllib.request.Request(os.environ["PINFOLD_TOOLS_URL"], body, headers)).read().decode())
'"""


class LocalWorld(World):
    """A home whose agents may use every tool."""

    def __init__(self, home: Home, env: dict[str, str] | None = None) -> None:
        super().__init__(home, env=env)
        with home.config_file.open("a", encoding="utf-8") as file:
            file.write(PROFILES.replace('level = "full"', 'level = "full"\nallow_unconfined = true', 1))


@pytest.fixture
def world(home: Home) -> LocalWorld:
    return LocalWorld(home)


async def stored(pinfold: Pinfold) -> str:
    row = await pinfold.agent_memories.of("worker").get("from")
    return "" if row is None else row.content


@needs_bubblewrap
@needs_python
async def test_a_confined_session_calls_tools_over_stdio_and_on_its_own_loopback(world: LocalWorld) -> None:
    variables = f"[sandbox.environment]\nCALL = '{CORRECT}'"
    world.agent(script=f"{OVER_STDIO}\n{OVER_HTTP}", profile="free", sandbox=f'tools = "http"\n{variables}')
    async with world.pinfold() as pinfold:
        session = await ran(pinfold)
        printed = "\n".join(await lines_of(pinfold, session.id))
        assert session.exit_code == 0, printed
        assert printed.count("Stored from (core).") == 2
        assert await stored(pinfold) == "corrected"


async def test_a_session_that_nothing_confines_finds_the_same(home: Home, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "dirname", "cat", "sleep", "python3"):
        found = next(folder / name for folder in (Path("/usr/bin"), Path("/bin")) if (folder / name).exists())
        (programs / name).symlink_to(found)
    world = LocalWorld(home, env={"PATH": str(programs)})
    world.agent(script=OVER_STDIO, profile="free", sandbox='tools = "socket"')
    async with world.pinfold() as pinfold:
        session = await ran(pinfold)
        assert not session.confined
        assert "Stored from (core)." in "\n".join(await lines_of(pinfold, session.id))


async def test_a_port_that_would_be_the_machines_own_is_refused(world: LocalWorld) -> None:
    world.agent(script="true", profile="free", sandbox='tools = "http"\nnetwork = "open"')
    async with world.pinfold() as pinfold:
        with pytest.raises(SessionRefused, match="cannot reach its tools over HTTP"):
            await pinfold.sandboxes.preview(StartRequest("worker"))


async def test_a_session_without_tools_has_no_token_and_starts_no_server(world: LocalWorld) -> None:
    world.agent(script="ls /run/pinfold; env", profile="free")
    async with world.pinfold() as pinfold:
        session = await ran(pinfold)
        assert "PINFOLD_TOKEN" not in "\n".join(await lines_of(pinfold, session.id))
        assert await pinfold.tools.tokens.in_use() == 0
    assert server_of(world.home) is None


async def test_a_token_is_in_one_private_file_and_ends_with_its_session(world: LocalWorld) -> None:
    world.agent(script="echo up; sleep 60", profile="free", sandbox='tools = "socket"')
    async with world.pinfold() as pinfold:
        session = await started(pinfold)
        shared = world.home.session_dir(session.id) / "shared"
        token = (shared / "token").read_text().strip()
        assert {stat.S_IMODE((shared / name).stat().st_mode) for name in ("token", "mcp.json")} == {0o600}
        config = json.loads((shared / "mcp.json").read_text())  # over stdio, a client needs no token in it
        command = session.spec.environment["PINFOLD_TOOLS_STDIO"]
        assert config == {"mcpServers": {"pinfold": {"type": "stdio", "command": command}}}
        secret = token.rpartition(".")[2]
        assert secret not in str(session)
        assert secret not in str(await pinfold.activity.recent(100))
        assert secret not in str([process.read_bytes() for process in Path("/proc").glob("[0-9]*/cmdline")])
        assert await pinfold.tools.tokens.check(Token(token)) is not None
        await pinfold.sandboxes.kill(session.id)
        await ended(pinfold, session.id)
        assert await pinfold.tools.tokens.check(Token(token)) is None


async def test_a_server_that_was_killed_is_started_again_for_the_sessions_there_are(world: LocalWorld) -> None:
    world.agent(script="sleep 60", profile="free", sandbox='tools = "socket"')
    async with world.pinfold() as pinfold:
        session = await started(pinfold)
        first = server_of(world.home)
        assert first is not None
        os.kill(first, signal.SIGKILL)

        async def is_back() -> bool:
            found = server_of(world.home)
            return found is not None and found != first

        await eventually(is_back)
        await pinfold.sandboxes.kill(session.id)
