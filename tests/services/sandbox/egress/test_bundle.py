"""What the engine is handed: complete, alike every time, and nothing but Python's own library needed."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.policy.domains import AllowedDomain
from services.sandbox.egress import READY, Bundle, own_runtime, proxy_environment, usual_runtime
from services.sandbox.egress.door import PORT, take_over
from services.sandbox.egress.rules import encode_rules, read_rules
from tests.support.terminal import ROOT


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """The sources as they lie in the image."""
    with tarfile.open(fileobj=io.BytesIO(Bundle(own_runtime()).archive)) as archive:
        archive.extractall(tmp_path, filter="data", members=[m for m in archive if m.name.startswith("opt/")])
    return tmp_path / "opt/pinfold"


def test_the_archive_is_the_same_every_time_and_names_the_image() -> None:
    first, second = Bundle(own_runtime()), Bundle(own_runtime())
    assert first.archive == second.archive
    assert first.image == second.image
    assert first.image != Bundle(usual_runtime()).image


def test_the_image_holds_sources_alone(unpacked: Path) -> None:
    assert {file.suffix for file in unpacked.rglob("*") if file.is_file()} == {".py"}
    assert not (unpacked / "services/agents").exists()
    assert (unpacked / "services/policy/__init__.py").read_bytes() == b""


def test_this_python_is_mounted_and_the_place_of_the_engines_init_is_not() -> None:
    runtime = own_runtime()
    assert any(Path(runtime.python).is_relative_to(place) for place in runtime.mounts)
    assert any(Path(os.__file__).is_relative_to(place) for place in runtime.mounts)
    assert all(Path(place).is_dir() for place in runtime.mounts)
    assert "/sbin" not in runtime.mounts
    assert "sbin" not in dict(runtime.links)


def test_the_sources_run_alone(unpacked: Path) -> None:
    command = [sys.executable, "-I", "-S", "-B", str(unpacked)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert ran.stderr == "expected: door HANDOVER [SOCKET], proxy HANDOVER RULES, or inlet SOCKET\n"


@pytest.mark.parametrize("text", ["", "{}", "7", "[1]", '["a", null]'])
def test_rules_that_are_none_stop_the_proxy(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_rules(text)


def test_rules_come_out_as_they_went_in() -> None:
    entries = ("example.org", "*.example.com:8443", 'a "quoted" entry')
    policy = read_rules(encode_rules(entries))
    assert policy.network == "allowlist"
    assert policy.allowed == tuple(AllowedDomain(entry) for entry in entries)


def test_the_environment_names_one_proxy_in_every_spelling() -> None:
    variables = proxy_environment()
    proxies = {value for name, value in variables.items() if name.lower() in ("http_proxy", "https_proxy")}
    assert proxies == {f"http://127.0.0.1:{PORT}"}
    assert {name for name in variables if name.lower().endswith("_proxy")} == {
        "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "NODE_USE_ENV_PROXY",
    }  # fmt: skip


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Path]:
    """A door in a process of its own, on a port of its own."""
    handover = tmp_path / "door"
    program = f"import pathlib, services.sandbox.egress.door as d; d.keep_open(pathlib.Path({str(handover)!r}), 0)"
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT) as process:
        yield handover
        process.kill()


def test_a_door_hands_the_same_socket_to_one_proxy_after_another(door: Path) -> None:
    with take_over(door) as first, take_over(door) as second:
        assert first.getsockname() == second.getsockname()
        assert first.getsockname()[0] == "127.0.0.1"


def test_the_proxys_process_serves_tells_and_ends_when_told(unpacked: Path, door: Path) -> None:
    own = [sys.executable, "-I", "-S", "-B", str(unpacked), "proxy", str(door), encode_rules(["example.org"])]
    with subprocess.Popen(own, stdout=subprocess.PIPE, text=True) as proxy:
        assert proxy.stdout is not None
        try:
            assert proxy.stdout.readline().strip() == READY
            with take_over(door) as listening:
                address = listening.getsockname()
            for _ in range(3):
                assert _ask(address).startswith(b"HTTP/1.1 403")
            assert json.loads(proxy.stdout.readline())["times"] == 1
            proxy.send_signal(signal.SIGTERM)
            assert json.loads(proxy.stdout.read())["times"] == 2
            assert proxy.wait() == 0
        finally:
            proxy.kill()


def _ask(address: tuple[str, int]) -> bytes:
    with socket.create_connection(address) as asking:
        asking.sendall(b"CONNECT evil.org:443 HTTP/1.1\r\n\r\n")
        asking.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: asking.recv(4096), b""))
