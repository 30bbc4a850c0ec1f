"""The SDK's client leaves nothing open, whatever the engine does."""

from __future__ import annotations

import gc
import socket
from pathlib import Path

import pytest
import requests

from services.sandbox.engines.docker.endpoint import find_endpoint
from services.sandbox.engines.docker.sdk import open_client


def test_a_socket_that_nobody_listens_on_is_closed_at_once(tmp_path: Path):
    door = tmp_path / "engine.sock"
    with socket.socket(socket.AF_UNIX) as deserted:
        deserted.bind(str(door))
    client = open_client(find_endpoint({"DOCKER_HOST": f"unix://{door}"}), "1.41", 5)
    try:
        with pytest.raises(requests.ConnectionError):
            client.ping()
    finally:
        client.close()
    gc.collect()  # a socket that is still open warns here, and a warning fails the test
