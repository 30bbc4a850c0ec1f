"""An engine over tcp with certificates, as one on another machine is reached."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from services.home import BlockingCalls
from services.sandbox.engines.docker import DockerEngine
from tests.engine.sandboxes import Sandboxes
from tests.engine.socket_proxy import TcpDoor
from tests.engine.spools import Spool


@dataclass(frozen=True)
class Worker:
    """An engine's tcp address, and the folder of certificates for its clients."""

    address: str
    certificates: Path


def openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def make_authority(folder: Path) -> None:
    folder.mkdir()
    new = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=tests"]
    openssl(folder, *new, "-keyout", "ca-key.pem", "-out", "ca.pem")


def sign(authority: Path, folder: Path, extensions: str) -> None:
    """Make cert.pem and key.pem in a folder, beside the authority's own ca.pem."""
    folder.mkdir()
    (folder / "extensions").write_text(extensions)
    key = ["req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=tests"]
    openssl(folder, *key, "-keyout", "key.pem", "-out", "request.pem")
    ca = ["-CA", f"{authority}/ca.pem", "-CAkey", f"{authority}/ca-key.pem", "-CAcreateserial"]
    openssl(
        folder, "x509", "-req", "-days", "2", *ca, "-in", "request.pem", "-out", "cert.pem", "-extfile", "extensions"
    )
    shutil.copy(authority / "ca.pem", folder)


@pytest.fixture
async def worker(docker_host: str, tmp_path: Path) -> AsyncIterator[Worker]:
    """The engine, behind a door that takes only clients with a certificate of its authority."""
    make_authority(tmp_path / "ca")
    sign(tmp_path / "ca", tmp_path / "server", "subjectAltName = IP:127.0.0.1\nextendedKeyUsage = serverAuth\n")
    sign(tmp_path / "ca", tmp_path / "client", "extendedKeyUsage = clientAuth\n")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=tmp_path / "server" / "ca.pem")
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_cert_chain(tmp_path / "server" / "cert.pem", tmp_path / "server" / "key.pem")
    door = TcpDoor(Path(docker_host.removeprefix("unix://")), tls)
    await door.start()
    yield Worker(f"tcp://127.0.0.1:{door.port}", tmp_path / "client")
    await door.cut()


@pytest.fixture
async def engine_over_tls(worker: Worker, home_id: str, calls: BlockingCalls) -> AsyncIterator[DockerEngine]:
    env = {"DOCKER_HOST": worker.address, "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": str(worker.certificates)}
    engine = DockerEngine(home_id, calls, env)
    yield engine
    await engine.close()


async def test_a_sandbox_runs_is_followed_and_has_a_terminal_over_tls(
    engine_over_tls: DockerEngine, worker: Worker, sandboxes: Sandboxes, spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):  # must not come between
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/etc/hostname")
    engine = engine_over_tls
    status = await engine.status()
    assert status.usable, status.problem
    assert status.address == worker.address
    script = "while [ ! -e go ]; do sleep 0.05; done; seq 1 20000; seq 1 5000 >&2"
    sandbox = await engine.create(sandboxes.script(script), {})
    await engine.start(sandbox)
    shell = await engine.shell(sandbox, ("sh", "-c", "touch go; echo typed; stty size"), 90, 30)
    shown = b""
    while data := await shell.read():
        shown += data
    assert shown == b"typed\r\n30 90\r\n"
    assert await shell.wait() == 0
    await shell.close()
    await engine.follow(sandbox, spool.writer)
    assert spool.stdout == [b"%d" % number for number in range(1, 20001)]
    assert spool.stderr == [b"%d" % number for number in range(1, 5001)]


async def test_certificates_that_do_not_fit_are_said_to_be_the_trouble(
    worker: Worker, calls: BlockingCalls, tmp_path: Path
) -> None:
    make_authority(tmp_path / "other-ca")
    sign(tmp_path / "other-ca", tmp_path / "other", "extendedKeyUsage = clientAuth\n")
    stranger = {"DOCKER_HOST": worker.address, "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": str(tmp_path / "other")}
    without = {"DOCKER_HOST": worker.address}
    wrong_name = {**stranger, "DOCKER_CERT_PATH": str(worker.certificates)}
    wrong_name["DOCKER_HOST"] = worker.address.replace("127.0.0.1", "localhost")
    for env, why in ((stranger, "certificate is not trusted"), (without, ""), (wrong_name, "not trusted")):
        engine = DockerEngine("0" * 16, calls, env)
        status = await engine.status()
        assert not status.usable
        assert why in status.problem
        await engine.close()
