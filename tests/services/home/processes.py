"""Running a piece of Python in processes of their own, as a second Pinfold on the same home would."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 60


def start(program: str, *arguments: object) -> subprocess.Popen[bytes]:
    """Start `program` with `sys.argv[1:]` as given; its output is a pipe."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program, *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def outputs(processes: Sequence[subprocess.Popen[bytes]]) -> list[str]:
    """Wait for all and return what each printed; one that failed fails the test with its own words."""
    found: list[str] = []
    for process in processes:
        out, err = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, err.decode()
        found.append(out.decode().strip())
    return found
