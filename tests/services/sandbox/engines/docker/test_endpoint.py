"""Where the engine is looked for."""

from __future__ import annotations

import hashlib
import json
import socket
from pathlib import Path

import pytest

from services.errors import EngineError
from services.sandbox.engines.docker.endpoint import Endpoint, find_endpoint


def write_context(config: Path, name: str, endpoint: dict[str, object], *, tls: bool = False) -> Path:
    """Write a docker context as `docker context create` does; return the folder of its certificates."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    meta = config / "contexts" / "meta" / digest
    meta.mkdir(parents=True)
    (meta / "meta.json").write_text(json.dumps({"Name": name, "Metadata": {}, "Endpoints": {"docker": endpoint}}))
    certificates = config / "contexts" / "tls" / digest / "docker"
    if tls:
        certificates.mkdir(parents=True)
    return certificates


def found(home: Path, **env: str) -> Endpoint:
    return find_endpoint({"HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run"), **env})


@pytest.mark.parametrize(
    ("host", "socket_path", "address"),
    [
        ("unix:///run/a.sock", "/run/a.sock", "unix:///run/a.sock"),
        ("unix:///run/with space/ü.sock", "/run/with space/ü.sock", "unix:///run/with space/ü.sock"),
        ("  unix:///run/a.sock\n", "/run/a.sock", "unix:///run/a.sock"),
        ("unix://", "/var/run/docker.sock", "unix://"),
    ],
)
def test_a_socket_by_docker_host(tmp_path: Path, host: str, socket_path: str, address: str) -> None:
    endpoint = found(tmp_path, DOCKER_HOST=host)
    assert endpoint.socket == Path(socket_path)
    assert endpoint.address == address
    assert endpoint.origin == "DOCKER_HOST"


@pytest.mark.parametrize(
    ("host", "name", "port"),
    [
        ("tcp://worker:2375", "worker", 2375),
        ("worker:2375", "worker", 2375),
        ("tcp://[fd00::1]:2376", "fd00::1", 2376),
        ("http://127.0.0.1:2375", "127.0.0.1", 2375),
    ],
)
def test_a_host_by_docker_host(tmp_path: Path, host: str, name: str, port: int) -> None:
    endpoint = found(tmp_path, DOCKER_HOST=host)
    assert (endpoint.host, endpoint.port, endpoint.socket, endpoint.tls) == (name, port, None, None)


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("tcp://worker", "no host and port"),
        ("tcp://:2375", "no host and port"),
        ("tcp://worker:port", "no host and port"),
        ("tcp://[fd00::1:2375", "no host and port"),
        ("npipe:////./pipe/docker_engine", "npipe:// is not supported"),
        ("fd://", "fd:// is not supported"),
        ("ssh://me@worker", "ssh://"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_by_name(tmp_path: Path, host: str, why: str) -> None:
    with pytest.raises(EngineError) as raised:
        found(tmp_path, DOCKER_HOST=host)
    assert host in raised.value.what
    assert why in raised.value.why
    assert raised.value.fix


@pytest.mark.parametrize(
    ("env", "folder", "verify"),
    [
        pytest.param({"DOCKER_TLS_VERIFY": "1"}, ".docker", True, id="verified, usual folder"),
        pytest.param({"DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": "/c"}, "/c", True, id="verified, own folder"),
        pytest.param({"DOCKER_CERT_PATH": "/c"}, "/c", False, id="not verified"),
        pytest.param({"DOCKER_TLS": "1"}, ".docker", False, id="DOCKER_TLS"),
        pytest.param({"DOCKER_TLS_VERIFY": "1", "DOCKER_CONFIG": "/d"}, "/d", True, id="DOCKER_CONFIG"),
    ],
)
def test_certificates_come_from_the_environment(tmp_path: Path, env: dict[str, str], folder: str, verify: bool) -> None:
    tls = found(tmp_path, DOCKER_HOST="tcp://worker:2376", **env).tls
    assert tls is not None
    assert tls.verify == verify
    assert (tls.ca, tls.cert, tls.key) == tuple(tmp_path / folder / name for name in ("ca.pem", "cert.pem", "key.pem"))


def test_an_empty_verify_means_no_tls(tmp_path: Path) -> None:
    assert found(tmp_path, DOCKER_HOST="tcp://worker:2375", DOCKER_TLS_VERIFY="").tls is None


def test_broken_certificates_are_an_error_that_names_their_folder(tmp_path: Path) -> None:
    for name in ("ca.pem", "cert.pem", "key.pem"):
        (tmp_path / name).write_text("nonsense")
    tls = found(tmp_path, DOCKER_HOST="tcp://worker:2376", DOCKER_CERT_PATH=str(tmp_path)).tls
    assert tls is not None
    with pytest.raises(EngineError, match=str(tmp_path)):
        tls.context()


def test_the_current_context_is_used(tmp_path: Path) -> None:
    write_context(tmp_path / ".docker", "desktop", {"Host": "unix:///run/desktop.sock"})
    (tmp_path / ".docker" / "config.json").write_text('{"currentContext": "desktop", "auths": {}}')
    endpoint = found(tmp_path)
    assert endpoint.socket == Path("/run/desktop.sock")
    assert endpoint.origin == "docker context desktop"


def test_docker_context_wins_over_the_current_one_and_docker_host_over_both(tmp_path: Path) -> None:
    config = tmp_path / ".docker"
    write_context(config, "one", {"Host": "unix:///run/one.sock"})
    write_context(config, "two", {"Host": "unix:///run/two.sock"})
    (config / "config.json").write_text('{"currentContext": "one"}')
    assert found(tmp_path, DOCKER_CONTEXT="two").socket == Path("/run/two.sock")
    both = found(tmp_path, DOCKER_CONTEXT="two", DOCKER_HOST="unix:///run/three.sock")
    assert both.socket == Path("/run/three.sock")
    assert found(tmp_path, DOCKER_CONTEXT="default").origin == ""


@pytest.mark.parametrize("skip", [True, False])
def test_a_contexts_certificates_are_its_own(tmp_path: Path, skip: bool) -> None:
    endpoint = {"Host": "tcp://worker:2376", "SkipTLSVerify": skip}
    certificates = write_context(tmp_path / ".docker", "worker", endpoint, tls=True)
    tls = found(tmp_path, DOCKER_CONTEXT="worker").tls
    assert tls is not None
    assert (tls.ca.parent, tls.verify) == (certificates, not skip)


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        pytest.param(None, "there is no docker context 'gone'", id="missing"),
        pytest.param("{", "cannot be read", id="broken"),
        pytest.param('{"Endpoints": []}', "cannot be read", id="nonsense"),
        pytest.param('{"Endpoints": {"kubernetes": {"Host": "x"}}}', "it names no engine", id="without an engine"),
        pytest.param('{"Endpoints": {"docker": {}}}', "it names no engine", id="without a host"),
        pytest.param('{"Endpoints": {"docker": {"Host": "ssh://a"}}}', "ssh://", id="over ssh"),
    ],
)
def test_a_context_that_cannot_be_used_is_named(tmp_path: Path, meta: str | None, message: str) -> None:
    if meta is not None:
        write_context(tmp_path / ".docker", "gone", {})
        (file,) = (tmp_path / ".docker" / "contexts" / "meta").glob("*/meta.json")
        file.write_text(meta)
    with pytest.raises(EngineError, match=message):
        found(tmp_path, DOCKER_CONTEXT="gone")


def test_a_broken_docker_config_is_an_error_and_no_guess(tmp_path: Path) -> None:
    (tmp_path / ".docker").mkdir()
    (tmp_path / ".docker" / "config.json").write_text("{")
    with pytest.raises(EngineError, match=r"config\.json"):
        found(tmp_path)


@pytest.mark.parametrize("place", ["run/docker.sock", ".docker/run/docker.sock", ".docker/desktop/docker.sock"])
def test_a_rootless_or_desktop_socket_is_found_where_the_systems_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path has a limit
    monkeypatch.setattr("services.sandbox.engines.docker.endpoint._DEFAULT_SOCKET", tmp_path / "none")
    (tmp_path / place).parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(place)
        assert found(tmp_path).socket == tmp_path / place


def test_where_there_is_none_the_systems_socket_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.sandbox.engines.docker.endpoint._DEFAULT_SOCKET", tmp_path / "none")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "docker.sock").write_text("no socket")
    assert found(tmp_path).socket == tmp_path / "none"
