"""A real file system of two megabytes, for what happens when it is full or read-only."""

from __future__ import annotations

import os
import subprocess

import pytest

needs_small_disk = pytest.mark.skipif(os.getuid() != 0, reason="only root may mount a small disk to fill")


def mount(place: str) -> None:
    """Mount two megabytes of memory."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "pinfold-test", place], check=True)


def make_read_only(place: str) -> None:
    """Allow no more writes to a mounted disk."""
    subprocess.run(["mount", "-o", "remount,ro", place], check=True)


def unmount(place: str) -> None:
    """Take a disk away."""
    subprocess.run(["umount", "--lazy", place], check=True)
