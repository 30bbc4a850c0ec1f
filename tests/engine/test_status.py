"""What an engine says of itself, and how it is said that there is none."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import time
from pathlib import Path

import pytest
from docker import APIClient

from services.errors import EngineError, EngineUnavailable
from services.home import BlockingCalls
from services.sandbox.engines.docker import DockerEngine
from tests.engine.socket_proxy import SocketProxy

ANSWER_SECONDS = 4.0


async def test_an_engine_that_answers_tells_version_address_and_identity(
    engine: DockerEngine, api: APIClient, docker_host: str
) -> None:
    status = await engine.status()
    assert status.usable, status.problem
    assert status.version == api.version()["Version"]
    assert status.identity == api.info()["ID"]
    assert status.address == docker_host
    assert status.confined


async def test_notes_recommend_live_restore_where_it_is_off(engine: DockerEngine, api: APIClient) -> None:
    status = await engine.status()
    assert any("live-restore" in note for note in status.notes) != api.info()["LiveRestoreEnabled"]


def _is_a_file(path: Path) -> None:
    path.write_text("")


def _listens_no_more(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


def _is_missing(path: Path) -> None:
    path.unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("prepare", "why"),
    [
        pytest.param(_is_missing, "there is no socket", id="no socket"),
        pytest.param(_is_a_file, "nobody listens", id="a file"),
        pytest.param(_listens_no_more, "nobody listens", id="a socket left behind"),
    ],
)
async def test_an_engine_that_is_not_there_is_unusable_with_reason_and_remedy(
    calls: BlockingCalls, tmp_path: Path, prepare, why: str
) -> None:
    path = tmp_path / "engine.sock"
    prepare(path)
    engine = DockerEngine("0" * 16, calls, {"DOCKER_HOST": f"unix://{path}"})
    status = await engine.status()
    assert not status.usable
    assert why in status.problem
    assert "DOCKER_HOST" in status.problem
    assert "systemctl start docker" in status.fix
    with pytest.raises(EngineUnavailable, match=why):
        await engine.list()
    await engine.close()


async def test_ssh_is_refused_with_the_way_around_it(calls: BlockingCalls) -> None:
    engine = DockerEngine("0" * 16, calls, {"DOCKER_HOST": "ssh://build@worker"})
    status = await engine.status()
    assert not status.usable
    assert "ssh -N -L /tmp/engine.sock:/var/run/docker.sock build@worker" in status.fix
    with pytest.raises(EngineError):
        await engine.has_image("anything")
    await engine.close()


async def test_a_frozen_engine_is_told_within_seconds(
    calls: BlockingCalls, tmp_path: Path, docker_host: str, home_id: str
) -> None:
    proxy = SocketProxy(tmp_path / "proxy.sock", Path(docker_host.removeprefix("unix://")))
    await proxy.start()
    engine = DockerEngine(home_id, calls, {"DOCKER_HOST": proxy.host})
    for known_before in (False, True):
        proxy.freeze()
        began = time.monotonic()
        status = await engine.status()
        assert not status.usable
        assert time.monotonic() - began < ANSWER_SECONDS, f"known before: {known_before}"
        assert "silent" in status.problem
        assert status.address == proxy.host
        proxy.thaw()
        assert (await engine.status()).usable
    await engine.close()
    await proxy.cut()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param(b"SSH-2.0-OpenSSH_9.2p1\r\n\r\n", "this is not HTTP", id="another protocol"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "JSON", id="no JSON"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", "middle", id="cut off"),
        pytest.param(b"", "without an answer", id="closed at once"),
        pytest.param(b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 20_000, "too long", id="an endless head"),
        pytest.param(
            b'HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n{"Version":"19.03","ApiVersion":"1.40"}  ',
            "it speaks API 1.40, Pinfold needs 1.41",
            id="too old",
        ),
        pytest.param(
            b'HTTP/1.1 503 Busy\r\nContent-Length: 22\r\n\r\n{"message": "go away"}', "go away", id="an error"
        ),
    ],
)
async def test_what_is_no_usable_engine_is_said_to_be_none(
    calls: BlockingCalls, tmp_path: Path, answer: bytes, why: str
) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    path = tmp_path / "engine.sock"
    server = await asyncio.start_unix_server(serve, path)
    engine = DockerEngine("0" * 16, calls, {"DOCKER_HOST": f"unix://{path}"})
    status = await engine.status()
    assert not status.usable
    assert why in status.problem
    await engine.close()
    server.close()
    await server.wait_closed()


async def test_the_current_docker_context_is_honoured(calls: BlockingCalls, tmp_path: Path, docker_host: str) -> None:
    digest = hashlib.sha256(b"worker").hexdigest()
    meta = tmp_path / ".docker" / "contexts" / "meta" / digest
    meta.mkdir(parents=True)
    (tmp_path / ".docker" / "config.json").write_text(json.dumps({"currentContext": "worker"}))
    (meta / "meta.json").write_text(json.dumps({"Name": "worker", "Endpoints": {"docker": {"Host": docker_host}}}))
    engine = DockerEngine("0" * 16, calls, {"HOME": str(tmp_path)})
    status = await engine.status()
    assert status.usable, status.problem
    assert status.address == docker_host
    await engine.close()
