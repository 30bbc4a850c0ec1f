"""Every check and every test: `python -m tests`, with options for pytest after it.

Runs ruff, mypy and import-linter, says in a line each how they went, and pytest last, on every core. Exits 0 only when
all passed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACES = ("tui", "services", "themes", "tests", "benchmarks")

CHECKS: tuple[tuple[str, ...], ...] = (
    ("ruff", "check", "--quiet", *PLACES),
    ("ruff", "format", "--check", "--quiet", *PLACES),
    ("mypy",),
    ("lint-imports",),
)

SPREAD = ("--numprocesses=auto", "--dist=loadfile")
"""A file's tests share what is dear to make, so they stay in one process."""


def run_all(pytest_options: list[str]) -> int:
    """Run the checks and the tests; the exit status is 1 when anything failed."""
    failed = [check for check in CHECKS if not _passes(check)]
    command = [sys.executable, "-m", "pytest", *SPREAD, *pytest_options]
    pytest = subprocess.run(command, cwd=ROOT, env=_environment(), check=False)
    for check in failed:
        _say(f"failed: {' '.join(check)}")
    return 1 if failed or pytest.returncode else 0


def _passes(check: tuple[str, ...]) -> bool:
    started = time.monotonic()
    result = subprocess.run(check, cwd=ROOT, env=_environment(), capture_output=True, text=True, check=False)
    passed = result.returncode == 0
    _say(f"{'passed' if passed else 'FAILED'}  {time.monotonic() - started:5.1f} s  {' '.join(check[:2])}")
    if not passed:
        _say(f"{result.stdout}{result.stderr}".rstrip())
    return passed


def _environment() -> dict[str, str]:
    """The tools of this interpreter first, whatever is active in the shell."""
    scripts = sysconfig.get_path("scripts")
    return {**os.environ, "PATH": os.pathsep.join([scripts, os.environ.get("PATH", os.defpath)])}


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(run_all(sys.argv[1:]))
