"""Each program that can carry stdio to the tool server does so inside a container that has no other, and no network."""

from __future__ import annotations

import json
from pathlib import Path

from tests.engine.conftest import IN_CI
from tests.engine.tools.clients import ClientWorld
from tests.engine.tools.python_image import PYTHON
from tests.support.sessions import lines_of, ran

PROGRAMS = {"python3": PYTHON, **{name: f"/usr/bin/{name}" for name in ("node", "perl", "socat")}}
NEEDED = ("cat", "dirname", "mkfifo", "rm")
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LONG = "é" * 200_000
"""More than any pipe or socket takes at once."""

STORE, FETCH = (
    {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    for number, tool, arguments in (
        (1, "namespace_set", {"scope": "chat", "key": "k", "value": LONG}),
        (2, "namespace_get", {"scope": "chat", "key": "k"}),
    )
)

TALK = """
LC_ALL=C
for program in "$@"; do
    PATH=/workspace/$program
    rm -f /tmp/in /tmp/out; mkfifo /tmp/in /tmp/out
    "$PINFOLD_TOOLS_STDIO" </tmp/in >/tmp/out & bridge=$!
    exec 3>/tmp/in 4</tmp/out
    cat /workspace/hello >&3; read -r greeting <&4
    cat /workspace/store >&3; read -r stored <&4
    cat /workspace/fetch >&3; read -r found <&4
    echo ${#found}
    exec 3>&-; read -r more <&4; wait $bridge; echo "$program $?"
done
"""


def directory_of(world: ClientWorld, name: str, program: str = "") -> None:
    """A directory for PATH with what the bridge's shell needs, and perhaps one program more."""
    folder = world.home.default_workspace("worker") / name
    folder.mkdir()
    for needed in NEEDED:
        (folder / needed).symlink_to(f"/usr/bin/{needed}")
    if program:
        (folder / name).symlink_to(program)


async def test_every_bridge_carries_calls_both_ways_and_ends_with_its_input(world: ClientWorld) -> None:
    world.caller(sandbox='tools = "socket"')
    programs = {name: path for name, path in PROGRAMS.items() if Path(path).exists()}
    assert {"python3", "perl", "socat"} <= programs.keys() or not IN_CI  # node is too large to install for this alone
    for name, path in programs.items():
        directory_of(world, name, path)
    workspace = world.home.default_workspace("worker")
    for name, messages in {"hello": (HELLO,), "store": (READY, STORE), "fetch": (FETCH,)}.items():
        (workspace / name).write_text("".join(json.dumps(message) + "\n" for message in messages))
    async with world.pinfold() as pinfold:
        session = await ran(pinfold, command=("/bin/bash", "-c", TALK, "bash", *programs))
        printed = await lines_of(pinfold, session.id)
    assert printed[1::2] == [f"{name} 0" for name in programs], [line[:200] for line in printed]
    assert len(set(printed[0::2])) == 1
    assert int(printed[0]) > 2 * len(LONG.encode())  # as text and as a value


async def test_where_there_is_none_it_says_what_it_needs(world: ClientWorld) -> None:
    world.caller(sandbox='tools = "socket"')
    directory_of(world, "none")
    async with world.pinfold() as pinfold:
        session = await ran(pinfold, command=("/bin/sh", "-c", 'PATH=/workspace/none "$PINFOLD_TOOLS_STDIO"'))
        assert session.exit_code == 127
        (line,) = await lines_of(pinfold, session.id)
        assert line == (
            "tools-stdio: it needs python3, node, perl or socat; over HTTP no program is needed:"
            ' tools = "http" in agent.toml'
        )
