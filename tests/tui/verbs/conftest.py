"""A home with agents for the local engine, and the command as a script calls it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any
from unittest.mock import patch

import pytest

from services.home import Home
from tests.support.terminal import ROOT, Terminal
from tui.command import run_command

COMMAND = (sys.executable, "-c", "from tui.cli import main; main()")

PINFOLD_TOML = """\
[risk_profiles.free]
allow_unconfined = true

[defaults.sandbox]
runner = "command"
engine = "local"
stop_timeout = "1s"
"""


class Command:
    """`pinfold` on one home, in processes of its own."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.environment = {"PINFOLD_HOME": str(home.root), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}

    def __call__(self, *arguments: str, status: int = 0, **changes: str) -> subprocess.CompletedProcess[str]:
        """Run a verb and hold it to an exit status; no run may show a traceback."""
        done = self.in_process(*arguments, status=status, **changes) if changes else self._here(arguments, status)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    def in_process(self, *arguments: str, status: int = 0, **changes: str) -> subprocess.CompletedProcess[bytes]:
        """Run a verb in a process of its own."""
        environment = self._environment(changes)
        done = subprocess.run([*COMMAND, *arguments], capture_output=True, env=environment, timeout=60, check=False)
        return _held(done, status)

    def _here(self, arguments: Sequence[str], status: int) -> subprocess.CompletedProcess[bytes]:
        """Run a verb in this process, which saves the time to start one; its output goes to files meanwhile."""
        with TemporaryFile() as out, TemporaryFile() as err:
            with _descriptors({1: out, 2: err}), patch.dict(os.environ, self._environment({}), clear=True):
                result = run_command(arguments)
            out.seek(0)
            err.seek(0)
            return _held(subprocess.CompletedProcess(arguments, result, out.read(), err.read()), status)

    def json(self, *arguments: str, status: int = 0, **changes: str) -> Any:
        """Run a verb with --json and read its one document."""
        return json.loads(self(*arguments, "--json", status=status, **changes).stdout)

    def json_lines(self, *arguments: str, status: int = 0) -> list[Any]:
        """Run a verb with --json and read a document a line."""
        return [json.loads(line) for line in self(*arguments, "--json", status=status).stdout.splitlines()]

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start a verb and do not wait."""
        return subprocess.Popen([*COMMAND, *arguments], env=self._environment({}), stdout=subprocess.PIPE, **options)

    def on_terminal(self, *arguments: str, columns: int = 100, rows: int = 30, **changes: str) -> Terminal:
        """Run a verb on a terminal of its own."""
        environment = {**self.environment, **changes}
        return Terminal([*COMMAND, *arguments], columns=columns, rows=rows, environment=environment)

    def _environment(self, changes: dict[str, str]) -> dict[str, str]:
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": "/nowhere",
            **self.environment,
            **changes,
        }

    def add_agent(self, alias: str, script: str = "true", sandbox: str = "", agent: str = "") -> Path:
        """Write an agent that runs a shell script; `sandbox` and `agent` are more lines for those tables."""
        file = self.home.agent_file(alias)
        file.parent.mkdir(parents=True, exist_ok=True)
        self.home.default_workspace(alias).mkdir(exist_ok=True)
        file.write_text(
            f'[agent]\nrisk_profile = "free"\n{agent}\n'
            f"[sandbox]\ncommand = {json.dumps(['sh', '-c', script])}\n{sandbox}\n"
        )
        return file


def _held(done: subprocess.CompletedProcess[bytes], status: int) -> subprocess.CompletedProcess[bytes]:
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert done.returncode == status, (done.stdout[-2000:], done.stderr.decode())
    return done


@contextmanager
def _descriptors(files: Mapping[int, IO[bytes]]) -> Iterator[None]:
    """Let this process's standard output and error be other files for a while."""
    before = {number: os.dup(number) for number in files}
    streams = sys.stdout, sys.stderr
    try:
        for number, file in files.items():
            os.dup2(file.fileno(), number)
        sys.stdout, sys.stderr = (os.fdopen(os.dup(number), "w", encoding="utf-8") for number in files)
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.close()
        sys.stdout, sys.stderr = streams
        for number, copy in before.items():
            os.dup2(copy, number)
            os.close(copy)


@pytest.fixture
def pinfold(home: Home) -> Iterator[Command]:
    """The command on a home with shared settings and no agents; what still runs at the end is removed."""
    home.agents_dir.mkdir(parents=True)
    home.config_file.write_text(PINFOLD_TOML)
    command = Command(home)
    yield command
    if home.database_file.exists():
        live = [session["id"] for session in command.json("sessions", "list", "--live")]
        if live:
            command("sessions", "rm", "--force", *live)
