"""Renames and deletes killed behind each step and at random moments; `python -m benchmarks kills` does so for long."""

from __future__ import annotations

import subprocess
import sys

from tests.support.terminal import ROOT

KILLS = 32
"""One behind each step, and ten at random."""


def test_nothing_is_lost_wherever_an_operation_is_killed():
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.kills", str(KILLS), "20261130"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout.startswith(f"{KILLS} kills, 0 losses\n"), done.stdout + done.stderr
    assert "retried once committed" in done.stdout
    assert "retried from the start" in done.stdout
