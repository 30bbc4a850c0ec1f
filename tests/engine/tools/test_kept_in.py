"""From inside a container nothing but an agent's own is reached, and nobody outside sees its token."""

from __future__ import annotations

import json
from pathlib import Path

from docker import APIClient

from services.memory import Draft
from services.pinfold import Pinfold
from services.sandbox import Session, SessionState
from services.sandbox.tools import Token
from tests.engine.tools.clients import ClientWorld, answers, spoken
from tests.engine.tools.python_image import PYTHON
from tests.support.sessions import lines_of, ran, started, until

PERMISSIONS = '[permissions]\nexcluded_tools = ["memory_forget"]\n'
SECRET_CALLS = ("memory_store", {"key": "hidden-key", "content": "hidden-value"})


async def test_what_is_not_the_agents_is_refused_from_inside(world: ClientWorld) -> None:
    world.caller(rest=PERMISSIONS, profile="thrifty")
    async with world.pinfold() as pinfold:
        await pinfold.agent_memories.of("system").store(Draft(key="theirs", content="a secret of theirs"))
        documents = await answers(
            pinfold,
            "http",
            ("memory_recall", {"query": "secret", "agents": ["system"]}),
            ("memory_get", {"key": "theirs"}),
            ("memory_forget", {"key": "theirs"}),
            ("namespace_get", {"scope": "user", "key": "a"}),
            ("memory_store", {"key": ["list"]}),
            SECRET_CALLS,
            ("memory_store", {"key": "b", "content": "one too many"}),
        )
        assert "memory_forget" not in documents[1]["tools"]
        said = spoken(documents)
        assert [failed for failed, _ in said] == [False, True, True, True, True, False, True]
        assert json.loads(said[0][1]) == {"memories": []}
        assert "theirs" not in said[1][1]
        assert said[2][1] == "memory_forget is refused: it is excluded"
        assert "max_actions_per_hour" in said[6][1]
        entries = await pinfold.activity.recent(100)
        lines = [entry for entry in entries if entry.verb == "tool.call"]
        assert [line.outcome for line in lines] == [
            "done", "refused", "refused", "refused", "refused", "done", "refused",
        ]  # fmt: skip
        assert "hidden" not in str(lines)
        assert "hidden-value" not in str(entries)


async def test_a_token_is_seen_by_nobody_outside_and_ends_when_its_sandbox_is_taken_away(
    world: ClientWorld, api: APIClient
) -> None:
    world.caller()
    async with world.pinfold() as pinfold:
        session = await started(pinfold, command=("/usr/bin/sleep", "600"))
        token = (world.home.session_dir(session.id) / "shared" / "token").read_text().strip()
        secret = token.rpartition(".")[2]
        assert [secret in told for told in await everything_told(pinfold, session, api)] == [False] * 6
        assert await pinfold.tools.tokens.check(Token(token)) is not None
        api.remove_container(session.sandbox, force=True)
        await until(pinfold, session.id, lambda now: now.state is SessionState.LOST)
        assert await pinfold.tools.tokens.check(Token(token)) is None


async def everything_told(pinfold: Pinfold, session: Session, api: APIClient) -> list[str]:
    """What whoever may talk to the engine, list processes or read Pinfold's records is told."""
    names = [session.sandbox, f"{api.inspect_container(session.sandbox)['Name'].lstrip('/')}-door"]
    told = [json.dumps(api.inspect_container(name)) for name in names]
    told.append(str([api.logs(name) for name in names]))
    told.append(str([process.read_bytes() for process in Path("/proc").glob("[0-9]*/cmdline")]))
    told.append(f"{await pinfold.activity.recent(1000)}{session}{await pinfold.sandboxes.steps(session.id)}")
    log = pinfold.home.state_dir / "tool-server.log"
    told.append(log.read_text() + str([file.read_bytes() for file in pinfold.home.state_dir.glob("pinfold.db*")]))
    return told


FETCH = """
import json, os, socket, urllib.request
from pathlib import Path
call = {"name": "namespace_incr", "arguments": {"scope": "chat", "key": "n"}}
request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
headers = {
    "Authorization": "Bearer " + Path(os.environ["PINFOLD_TOKEN_FILE"]).read_text().strip(),
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}
asked = urllib.request.Request(os.environ["PINFOLD_TOOLS_URL"], json.dumps(request).encode(), headers)
no_proxy = urllib.request.build_opener(urllib.request.ProxyHandler({}))
print("1" in no_proxy.open(asked).read().decode().partition("text")[2], len(socket.if_nameindex()) == 1)
"""


async def test_tools_are_reached_over_http_whatever_the_network_and_nothing_is_left(
    world: ClientWorld, api: APIClient
) -> None:
    networks = ("allowlist", "open")
    for network in networks:
        world.caller(network, sandbox=f'tools = "http"\nnetwork = "{network}"')
    async with world.pinfold() as pinfold:
        sessions = [await ran(pinfold, network, command=(PYTHON, "-c", FETCH)) for network in networks]
        printed = [await lines_of(pinfold, session.id) for session in sessions]
        assert printed == [["True True"], ["True False"]]
    for session in sessions:
        assert api.containers(all=True, filters={"name": session.id}) == []
