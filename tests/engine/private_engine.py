"""A dockerd of the tests' own, beside the machine's: own data, own socket, and no networks.

It has a network namespace of its own, since a dockerd without a bridge removes the other one's.
"""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path

from docker import APIClient

READY_SECONDS = 60.0
ALONE = ("--bridge=none", "--iptables=false", "--ip6tables=false")


class PrivateEngine:
    """Starts, stops and kills one dockerd.

    Args:
        folder: Holds everything; an absolute path of few characters.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / "d.sock"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def host(self) -> str:
        return f"unix://{self.socket}"

    def start(self, *options: str) -> None:
        """Start it and wait until it answers."""
        places = {"--host": self.host, "--data-root": self.folder / "data", "--exec-root": self.folder / "exec"}
        command = ["unshare", "--net", "dockerd", "--pidfile", f"{self.folder}/docker.pid", *ALONE, *options]
        command += [f"{option}={place}" for option, place in places.items()]
        with (self.folder / "dockerd.log").open("a") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until = time.monotonic() + READY_SECONDS
        while not self._answers():
            assert self._process.poll() is None, f"dockerd ended, see {self.folder}/dockerd.log"
            assert time.monotonic() < until, "dockerd is not ready"
            time.sleep(0.05)

    def terminate(self) -> None:
        """Stop it as an init system does, and wait for its end."""
        assert self._process is not None
        self._process.terminate()
        self._process.wait(60)
        self._process = None

    def kill(self) -> None:
        """Kill it, and wait for its end and that of its containerd, which dies with it."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(60)
        self._process = None
        containerd = self.folder / "exec" / "containerd" / "containerd.pid"
        until = time.monotonic() + READY_SECONDS
        while _lives(containerd.read_text()):
            assert time.monotonic() < until, "containerd goes on"
            time.sleep(0.01)
        containerd.unlink()  # where nobody reaps it, the next dockerd would wait for it
        (self.folder / "docker.pid").unlink()

    def restart(self, *options: str) -> None:
        """Stop it and start it again."""
        self.terminate()
        self.start(*options)

    def clean_up(self) -> None:
        """Remove every container and stop it."""
        if self._process is None:
            self.start()
        api = self.client()
        for container in api.containers(all=True):
            api.remove_container(container["Id"], force=True, v=True)
        api.close()
        self.terminate()
        unmount = ["umount", "--lazy", f"{self.folder}/data"]
        while subprocess.run(unmount, stderr=subprocess.DEVNULL, check=False).returncode == 0:
            pass  # every kill left one mount behind

    def client(self) -> APIClient:
        """The engine as an outsider sees it; to be closed."""
        return APIClient(self.host, version="1.41", timeout=30)

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as engine:
            engine.settimeout(10)
            try:
                engine.connect(str(self.socket))
                engine.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
                return b" 200 " in engine.recv(100)
            except OSError:
                return False


def _lives(process: str) -> bool:
    try:
        return "(zombie)" not in Path("/proc", process, "status").read_text()
    except FileNotFoundError:
        return False
