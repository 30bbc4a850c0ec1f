"""A throw-away PostgreSQL server of Debian's packages, on a unix socket in a folder of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "s3cr3t/of the?server"
QUOTED_PASSWORD = "s3cr3t%2Fof%20the%3Fserver"

_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin")
_READY_SECONDS = 60.0
_QUICK = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "shared_buffers=32MB", "listen_addresses=")


@dataclass
class PostgresServer:
    """A server that runs, and can be stopped and started.

    Attributes:
        folder: Holds its data and its socket.
    """

    folder: Path
    _programs: Path
    _account: dict[str, Any]
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://pinfold:{QUOTED_PASSWORD}@/postgres?host={self.folder}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        settings = (*_QUICK, f"unix_socket_directories={self.folder}")
        options = [part for setting in settings for part in ("-c", setting)]
        tied = ["setpriv", "--pdeathsig", "INT"] if shutil.which("setpriv") else []  # it ends with us, however we do
        command: list[str | Path] = [*tied, self._programs / "postgres", "-D", self.folder / "data", *options]
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **self._account)
        self._process = process
        deadline = time.monotonic() + _READY_SECONDS
        asking: list[str | Path] = [self._programs / "pg_isready", "-q", "-h", self.folder]
        while subprocess.run(asking, check=False).returncode:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self.folder / "log").read_text(errors="replace")[-2000:])
            time.sleep(0.02)

    def stop(self) -> None:
        """End it, whoever is connected."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(_READY_SECONDS)
            self._process = None


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Run a server while a block runs; where Debian's package is missing, skip the test, but never in CI."""
    programs = _programs()
    if programs is None:
        if os.environ.get("CI"):
            pytest.fail("Debian's package postgresql is not installed")
        pytest.skip("Debian's package postgresql is not installed")
    folder = Path(tempfile.mkdtemp(prefix="pinfold-pg-", dir="/tmp"))  # a socket's path must be short
    server = PostgresServer(folder, programs, _account(folder))
    try:
        (folder / "password").write_text(PASSWORD)
        (folder / "password").chmod(0o644)
        options: Sequence[str | Path] = ("-D", folder / "data", f"--pwfile={folder / 'password'}", "-U", "pinfold")
        more = ("-A", "scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        initdb = [programs / "initdb", *options, *more]
        subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, cwd="/", **server._account)
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path | None:
    found = [Path(path) for place in _PLACES for path in sorted(Path("/").glob(place[1:]))]
    return next((path for path in reversed(found) if (path / "initdb").exists()), None)


def _account(folder: Path) -> dict[str, Any]:
    """Whom it runs as: the server refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = known.get("postgres") or known["nobody"]
    os.chown(folder, entry.pw_uid, entry.pw_gid)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
