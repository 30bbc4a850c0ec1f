"""The tool server from the command line: over standard input and output, and refused without a good token."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from services.pinfold import Pinfold
from services.sandbox.model import SessionState
from services.sandbox.store import SessionStore
from services.sandbox.tools import Grant
from tests.services.sandbox.records import recorded
from tests.support.terminal import ROOT
from tests.tui.verbs.conftest import Command


async def test_a_client_over_stdio_calls_tools_with_the_token_of_a_file(pinfold: Command, tmp_path: Path) -> None:
    pinfold.add_agent("worker", sandbox='[permissions]\nauto_approve = ["namespace_keys"]')
    file = tmp_path / "token"
    async with Pinfold.open(pinfold.home, supervise=False) as opened:
        store = SessionStore(opened.database, opened.activity, opened.events)
        await recorded(store, state=SessionState.RUNNING, sandbox="c1", started_at=1)
        file.write_text((await opened.tools.tokens.issue(Grant("s1", "worker"))).reveal())
        server = StdioServerParameters(
            command=sys.executable,
            args=["-c", "from tui.cli import main; main()", "serve-tools", "--stdio", "--token-file", str(file)],
            env={"PINFOLD_HOME": str(pinfold.home.root), "PYTHONPATH": str(ROOT)},
        )
        async with Client(stdio_client(server)) as client:
            assert "memory_recall" in {tool.name for tool in (await client.list_tools()).tools}
            result = await client.call_tool("namespace_keys", {"scope": "chat"})
            assert result.structured_content == {"keys": []}


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("--stdio",), 2, "--stdio and --token-file go together"),
        (("--token-file", "nowhere"), 2, "go together"),
        (("--stdio", "--token-file", "/nowhere/token"), 1, "cannot read the token"),
    ],
    ids=["no file", "no stdio", "missing file"],
)
def test_wrong_use_is_refused(pinfold: Command, arguments: tuple[str, ...], status: int, words: str) -> None:
    assert words in pinfold("serve-tools", *arguments, status=status).stderr


def test_a_void_token_is_refused_and_not_shown(pinfold: Command, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("s1.not-a-token")
    refused = pinfold.in_process("serve-tools", "--stdio", "--token-file", str(file), status=1)
    assert b"void" in refused.stderr
    assert b"not-a-token" not in refused.stderr + refused.stdout
