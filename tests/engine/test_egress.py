"""A sandbox kept to allowed hosts reaches those and nothing else, whatever it tries. Nothing leaves this machine."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from docker import APIClient

from services.errors import EngineError, ImageMissing
from services.home import BlockingCalls, Home
from services.sandbox import SessionState
from services.sandbox.engines.docker import DockerEngine
from services.sandbox.engines.docker.container import container_name
from tests.engine.conditions import eventually
from tests.engine.sandboxes import Sandboxes
from tests.support.killing import doomed, kill_at_random_moments
from tests.support.sessions import World, cleaned_up, ended, started, until

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nreached\n"


class Server:
    """Answers everybody on one address of this machine, and counts them."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.port = 0
        self.visitors = 0

    async def __aenter__(self) -> Server:
        self._server = await asyncio.start_server(self._answer, self.address, 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.visitors += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        await writer.drain()
        writer.close()
        await writer.wait_closed()


@pytest.fixture(scope="session")
def gateway(api: APIClient) -> str:
    """This machine's address in the engine's own network."""
    address = str(api.inspect_network("bridge")["IPAM"]["Config"][0]["Gateway"])
    try:
        with socket.socket() as probe:
            probe.bind((address, 0))
    except OSError:
        pytest.skip("the engine's network is not on this machine")
    return address


@pytest.fixture
async def server(gateway: str) -> AsyncIterator[Server]:
    async with Server(gateway) as server:
        yield server


@pytest.fixture
async def engine(docker_host: str, home_id: str, calls: BlockingCalls, gateway: str) -> AsyncIterator[DockerEngine]:
    """An engine whose proxies know some names; those that end in `.lan` may be private when a policy names them."""
    names = dict.fromkeys(("allowed.lan", "denied.lan", "public.example.org"), gateway)
    names["rebound.example.org"] = "169.254.169.254"
    engine = DockerEngine(home_id, calls, {"DOCKER_HOST": docker_host}, names)
    yield engine
    await engine.close()


@pytest.fixture(autouse=True)
def nothing_left(api: APIClient, home_id: str) -> Iterator[None]:
    """Takes away what a failed test left."""
    yield
    for container in beside(api, home_id):
        api.remove_container(container, force=True, v=True)


def beside(api: APIClient, home_id: str) -> list[str]:
    found = api.containers(all=True, filters={"label": f"pinfold.egress={home_id}"})
    return sorted(str(container["Names"][0]).removeprefix("/") for container in found)


@pytest.fixture
async def kept(engine: DockerEngine, sandboxes: Sandboxes, server: Server) -> str:
    """A running sandbox that may reach one name on the server's port, and two more names."""
    allowed = (f"allowed.lan:{server.port}", f"public.example.org:{server.port}", "rebound.example.org")
    spec = sandboxes.script("sleep 600", network="allowlist", allowed_domains=allowed)
    sandbox = await engine.create(spec, {})
    await engine.start(sandbox)
    return sandbox


async def ask(engine: DockerEngine, sandbox: str, request: str) -> str:
    """Send a request to the proxy from inside, `|` for the ends of lines, and return the whole answer."""
    text = request.replace("|", "\\r\\n")
    _, printed = await engine.run(sandbox, ("sh", "-c", f"printf '{text}' | nc -w 5 127.0.0.1 3128"))
    return printed.decode()


async def test_an_allowed_name_is_reached_in_both_ways(engine: DockerEngine, kept: str, server: Server) -> None:
    plain = await ask(engine, kept, f"GET http://allowed.lan:{server.port}/x HTTP/1.1|Host: elsewhere||")
    tunnelled = await ask(engine, kept, f"CONNECT allowed.lan:{server.port} HTTP/1.1||GET / HTTP/1.1||")
    assert plain.endswith("reached\n")
    assert tunnelled.startswith("HTTP/1.1 200 Connection established")
    assert tunnelled.endswith("reached\n")
    assert server.visitors == 2


async def test_everything_else_is_refused(engine: DockerEngine, kept: str, server: Server, gateway: str) -> None:
    port = server.port
    number = int.from_bytes(socket.inet_aton(gateway))
    refused = [
        f"denied.lan:{port}", "allowed.lan:80", f"allowed.lan.evil.org:{port}", f"{gateway}:{port}", f"{number}:{port}",
        f"0x{number:x}:{port}", f"[::ffff:{gateway}]:{port}", "127.0.0.1:3128", "localhost:80", "169.254.169.254:80",
        "metadata.google.internal:80", f"public.example.org:{port}", "rebound.example.org:80", "10.255.255.53:53",
    ]  # fmt: skip
    answers = {target: (await ask(engine, kept, f"CONNECT {target} HTTP/1.1||"))[:12] for target in refused}
    assert answers == dict.fromkeys(refused, "HTTP/1.1 403")
    assert server.visitors == 0


async def test_without_the_proxy_nothing_is_there(
    engine: DockerEngine, kept: str, sandboxes: Sandboxes, server: Server, gateway: str, api: APIClient
) -> None:
    open_ = await engine.create(sandboxes.script("while :; do nc -l -p 8000 </dev/null; done", network="open"), {})
    await engine.start(open_)
    neighbour = api.inspect_container(open_)["NetworkSettings"]["IPAddress"]
    proxy = api.inspect_container(next(name for name in beside(api, sandboxes.home_id) if name.endswith("-proxy")))
    async with Server("127.0.0.1") as own:
        targets = [
            (gateway, server.port), (gateway, 22), (neighbour, 8000), (proxy["NetworkSettings"]["IPAddress"], 3128),
            ("127.0.0.1", own.port), ("169.254.169.254", 80), ("10.255.255.53", 53), ("1.1.1.1", 443),
        ]  # fmt: skip
        for address, port in targets:
            status, _ = await engine.run(kept, ("sh", "-c", f"nc -w 2 {address} {port} </dev/null"))
            assert status != 0, f"{address}:{port} was reached"
    assert (server.visitors, own.visitors) == (0, 0)
    status, _ = await engine.run(kept, ("nslookup", "example.org"))
    assert status != 0
    list_all = "tail -n +3 /proc/net/dev; tail -n +2 /proc/net/route"
    _, devices = await engine.run(kept, ("sh", "-c", list_all))
    assert [line.split(":")[0].strip() for line in devices.decode().splitlines()] == ["lo"]


async def test_two_sandboxes_have_nothing_in_common(engine: DockerEngine, sandboxes: Sandboxes) -> None:
    listening = sandboxes.script("while :; do nc -l -p 8000 </dev/null; done", network="allowlist")
    other = sandboxes.script("sleep 600", network="allowlist")
    ids = [await engine.create(spec, {}) for spec in (listening, other)]
    for sandbox in ids:
        await engine.start(sandbox)
    reach = ("sh", "-c", "nc -w 1 127.0.0.1 8000 </dev/null")

    async def is_there() -> bool:
        return (await engine.run(ids[0], reach))[0] == 0

    await eventually(is_there)
    assert (await engine.run(ids[1], reach))[0] != 0


async def test_the_sandbox_is_told_of_its_proxy_and_cannot_be_told_otherwise(
    engine: DockerEngine, sandboxes: Sandboxes
) -> None:
    spec = sandboxes.script("sleep 600", network="allowlist", environment={"https_proxy": "http://elsewhere:1"})
    sandbox = await engine.create(spec, {})
    await engine.start(sandbox)
    _, printed = await engine.run(sandbox, ("env",))
    told = dict(line.split("=", 1) for line in printed.decode().splitlines())
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        assert told[name] == "http://127.0.0.1:3128"
    assert "127.0.0.1" in told["NO_PROXY"]
    assert told["no_proxy"] == told["NO_PROXY"]


async def test_refusals_are_told_once_with_their_number(engine: DockerEngine, sandboxes: Sandboxes) -> None:
    spec = sandboxes.script("sleep 600", network="allowlist", allowed_domains=("example.org",))
    sandbox = await engine.create(spec, {})
    await engine.start(sandbox)
    for target in ("evil.org:443", "evil.org:443", "evil.org:443", "example.org:22"):
        await ask(engine, sandbox, f"CONNECT {target} HTTP/1.1||")
    running = await engine.refused(spec.session, 0, ended=False)
    assert [str(refusal) for refusal in running.found] == [
        "evil.org:443: no entry names evil.org",
        "example.org:22: no entry opens port 22 of example.org",
    ]
    assert not running.complete
    await engine.signal(sandbox, "KILL")

    async def has_ended() -> bool:
        return (await engine.inspect(sandbox)).status == "exited"

    await eventually(has_ended)
    rest = await engine.refused(spec.session, running.position, ended=True)
    assert [str(refusal) for refusal in rest.found] == ["evil.org:443: no entry names evil.org (2 times)"]
    assert rest.complete
    assert (await engine.refused(spec.session, rest.position, ended=True)).found == ()


async def test_a_killed_proxy_comes_back_for_the_same_sandbox(
    engine: DockerEngine, kept: str, server: Server, api: APIClient, home_id: str
) -> None:
    proxy = next(name for name in beside(api, home_id) if name.endswith("-proxy"))
    before = api.inspect_container(proxy)["State"]["Pid"]
    await engine.run(kept, ("true",))
    api.exec_start(api.exec_create(proxy, ["/bin/sh", "-c", "kill -9 -1"])["Id"])
    await eventually(lambda: api.inspect_container(proxy)["State"]["Pid"] not in (0, before))
    assert (await ask(engine, kept, f"GET http://allowed.lan:{server.port}/ HTTP/1.1||")).endswith("reached\n")


async def test_removal_leaves_nothing_behind(
    engine: DockerEngine, sandboxes: Sandboxes, api: APIClient, home_id: str
) -> None:
    def rest() -> tuple[set[str], set[str]]:
        networks = {network["Id"] for network in api.networks()}
        return networks, {volume["Name"] for volume in api.volumes()["Volumes"] or ()}

    before = rest()
    spec = sandboxes.script("sleep 600", network="allowlist")
    sandbox = await engine.create(spec, {})
    await engine.start(sandbox)
    name = container_name(spec)
    assert beside(api, home_id) == [f"{name}-door", f"{name}-proxy"]
    assert [found.session for found in await engine.list()] == [spec.session]
    assert await engine.accompanied() == {spec.session}
    await engine.remove(sandbox)
    assert beside(api, home_id) == []
    assert rest() <= before


async def test_a_sandbox_that_cannot_be_made_leaves_no_proxy(
    engine: DockerEngine, sandboxes: Sandboxes, api: APIClient, home_id: str
) -> None:
    with pytest.raises(ImageMissing):
        await engine.create(sandboxes.spec("true", network="allowlist", image="pinfold/nothing:1"), {})
    assert beside(api, home_id) == []


async def test_another_home_touches_none_of_it(
    engine: DockerEngine, kept: str, sandboxes: Sandboxes, docker_host: str, calls: BlockingCalls, api: APIClient
) -> None:
    other = DockerEngine(sandboxes.home_id[:8] + "0" * 8, calls, {"DOCKER_HOST": docker_host})
    there = beside(api, sandboxes.home_id)
    try:
        assert await other.accompanied() == frozenset()
        await other.dismiss("session-1")
        spec = sandboxes.script("true", network="allowlist", session="session-1", home=sandboxes.home_id[:8] + "0" * 8)
        with pytest.raises(EngineError, match="not of this session"):
            await other.create(spec, {})
    finally:
        await other.close()
    assert beside(api, sandboxes.home_id) == there


WAITS = "while [ ! -e /workspace/go ]; do sleep 0.05; done; "
ASKS = "printf 'CONNECT evil.org:443 HTTP/1.1\\r\\n\\r\\n' | nc -w 5 127.0.0.1 3128 > /workspace/answer; "


@pytest.fixture
async def world(home: Home, docker_host: str, image: str) -> AsyncIterator[World]:
    """A home with one agent that is kept to allowed hosts, asks for another one when told to, and goes on."""
    world = World(home, engine="docker", env={"DOCKER_HOST": docker_host})
    with home.config_file.open("a", encoding="utf-8") as file:
        file.write(f'[defaults.sandbox]\nimage = "{image}"\nmemory = "64m"\n')
    script = WAITS + ASKS.replace("\\", "\\\\") + "sleep 600"
    world.agent(
        sandbox=f'network = "allowlist"\nlifecycle = "persistent"\ncommand = ["sh", "-c", "{script}"]',
        rest='[permissions]\nallowed_domains = ["example.org"]',
    )
    async with cleaned_up(world) as world:
        yield world


async def test_what_is_refused_while_no_pinfold_runs_is_logged_once_by_the_next(
    world: World, api: APIClient, tmp_path: Path
) -> None:
    with doomed(world):
        async with world.pinfold(supervise=False) as looking:

            async def runs() -> bool:
                return any(found.state is SessionState.RUNNING for found in await looking.sandboxes.sessions())

            await eventually(runs)
    workspace = world.home.agent_dir("worker") / "workspace"
    (workspace / "go").touch()
    await eventually(lambda: (workspace / "answer").exists() and b"403" in (workspace / "answer").read_bytes())
    async with world.pinfold() as first, world.pinfold() as second:
        (session,) = await first.sandboxes.sessions()

        async def refused() -> list[str]:
            entries = await first.activity.recent(1000, session=session.id)
            return [f"{each.actor}: {each.detail}" for each in entries if each.verb == "network.reach"]

        async def is_logged() -> bool:
            return bool(await refused())

        await eventually(is_logged)
        await second.sandboxes.kill(session.id)
        await first.sandboxes.remove(session.id, force=True)
        assert await refused() == ["agent:worker: evil.org:443: no entry names evil.org"]
    assert beside(api, world.home.identity()) == []


async def test_kills_at_random_moments_leave_no_proxy_behind(world: World, api: APIClient) -> None:
    world.agent(script="sleep 0.3", sandbox='network = "allowlist"\nlifecycle = "oneshot"')
    await kill_at_random_moments(world, times=2, seed=5)
    async with world.pinfold() as pinfold:
        for session in await pinfold.sandboxes.sessions():
            await ended(pinfold, session.id)

        async def all_clean() -> bool:
            return not any(session.sandbox for session in await pinfold.sandboxes.sessions())

        await eventually(all_clean)
        await eventually(lambda: beside(api, world.home.identity()) == [])


async def test_a_proxy_without_its_sandbox_is_removed_when_engine_and_records_are_compared(
    world: World, api: APIClient
) -> None:
    identity = world.home.identity()
    async with world.pinfold() as pinfold:
        session = await started(pinfold)
        assert len(beside(api, identity)) == 2
        api.remove_container(session.sandbox, force=True, v=True)
        await until(pinfold, session.id, lambda found: found.state is SessionState.LOST)
        await eventually(lambda: beside(api, identity) == [])
