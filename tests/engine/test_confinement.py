"""What an agent's policy denies fails inside a real container, and what it allows works."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.sandbox.engines.docker import DockerEngine
from services.sandbox.model import Mask, Mount
from tests.engine.sandboxes import Sandboxes

ATTEMPTS = [
    ("write in the workspace", "echo x > /workspace/new", True),
    ("read an allowed root", "cat /data/shared/a", True),
    ("write an allowed root", "echo x > /data/shared/b", True),
    ("read a sibling granted for reading", "cat /siblings/reader/r", True),
    ("write a sibling granted for reading", "echo x > /siblings/reader/r", False),
    ("remove from a sibling granted for reading", "rm /siblings/reader/r", False),
    ("link out of a sibling granted for reading", "ln /siblings/reader/r /workspace/r", False),
    ("write a sibling granted for writing", "echo x > /siblings/writer/w", True),
    ("read the runner's rules", "cat /workspace/.claude/settings.json", True),
    ("write the runner's rules", "echo {} > /workspace/.claude/settings.json", False),
    ("replace the runner's rules", "mv /workspace/new /workspace/.claude/settings.json", False),
    ("list a forbidden folder", 'test -n "$(ls /workspace/private)"', False),
    ("read in a forbidden folder", "cat /workspace/private/key", False),
    ("write in a forbidden folder", "echo x > /workspace/private/new", False),
    ("remove a forbidden folder", "rm -r /workspace/private", False),
    ("read a forbidden file", "grep -q secret /workspace/token", False),
    ("write a forbidden file", "echo x > /workspace/token && grep -q x /workspace/token", False),
    ("unmount what hides", "umount /workspace/private", False),
    ("follow a link out", "cat /workspace/out", False),
    ("write the system", "echo x > /etc/x", False),
    ("reach a name", "nslookup example.org", False),
    ("reach itself", "nc -l -p 8000 -e true & sleep 0.2; nc -w 1 127.0.0.1 8000 </dev/null", True),
    ("reach an address", "nc -w 1 10.0.0.1 80 </dev/null", False),
]


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """One of everything a policy can speak of, owned by the user inside."""
    for folder in ("workspace/private", "workspace/.claude", "reader", "writer", "shared", "outside"):
        (tmp_path / folder).mkdir(parents=True)
    for file, text in (
        ("workspace/private/key", "secret"), ("workspace/token", "secret"), ("workspace/.claude/settings.json", "{}"),
        ("workspace/new", "x"), ("reader/r", "r"), ("writer/w", "w"), ("shared/a", "a"), ("outside/key", "secret"),
    ):  # fmt: skip
        (tmp_path / file).write_text(text)
    (tmp_path / "workspace/out").symlink_to(tmp_path / "outside/key")
    for path in (tmp_path, *tmp_path.rglob("*")):
        os.chown(path, 1000, 1000, follow_symlinks=False)
    return tmp_path


@pytest.fixture
async def confined(engine: DockerEngine, sandboxes: Sandboxes, machine: Path) -> str:
    """A running sandbox that sees what a policy grants of the machine."""
    mounts = (
        Mount(str(machine / "workspace"), "/workspace", writable=True),
        Mount(str(machine / "workspace/.claude/settings.json"), "/workspace/.claude/settings.json", writable=False),
        Mount(str(machine / "reader"), "/siblings/reader", writable=False),
        Mount(str(machine / "writer"), "/siblings/writer", writable=True),
        Mount(str(machine / "shared"), "/data/shared", writable=True),
    )
    masks = (Mask("/workspace/private", directory=True), Mask("/workspace/token", directory=False))
    spec = sandboxes.script("sleep 600", workspace=str(machine / "workspace"), mounts=mounts, masks=masks)
    sandbox = await engine.create(spec, {})
    await engine.start(sandbox)
    return sandbox


async def test_what_the_policy_denies_fails_and_what_it_allows_works(engine: DockerEngine, confined: str) -> None:
    outcomes = {}
    for name, line, _ in ATTEMPTS:
        status, _ = await engine.run(confined, ("sh", "-c", line))
        outcomes[name] = status == 0
    assert outcomes == {name: allowed for name, _, allowed in ATTEMPTS}


async def test_hidden_things_are_as_they_were_outside(engine: DockerEngine, confined: str, machine: Path) -> None:
    await engine.run(confined, ("sh", "-c", "rm -rf /workspace/private /workspace/token; echo x > /workspace/token"))
    assert (machine / "workspace/private/key").read_text() == "secret"
    assert (machine / "workspace/token").read_text() == "secret"
