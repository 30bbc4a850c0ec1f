"""Whatever becomes of an agent's file: what was last good stays in force, and nobody writes over what is there."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from services.agents import Agents, Change
from services.errors import ConfigError, FileConflict
from services.home import Home
from services.policy import Policies, Verdict
from tests.services.agents.conftest import AGENT, SHARED, Put

TEXT = AGENT + '\n[permissions]\nallowed_commands = ["git"]\n'
LINES = TEXT.count("\n")


def of_bytes(data: bytes) -> Callable[[Path], object]:
    return lambda file: file.write_bytes(data)


BROKEN = [
    pytest.param(of_bytes(b""), 0, id="empty"),
    pytest.param(of_bytes(codecs.BOM_UTF8), 0, id="only a BOM"),
    pytest.param(of_bytes(codecs.BOM_UTF8 * 2 + TEXT.encode()), 1, id="two BOMs"),
    pytest.param(of_bytes(TEXT.encode("utf-16")), 0, id="UTF-16"),
    pytest.param(of_bytes(TEXT.encode()[:-4]), LINES, id="truncated"),
    pytest.param(of_bytes(TEXT.replace("\n", "\r").encode()), 1, id="lone carriage returns"),
    pytest.param(of_bytes(TEXT.encode() + b'level = "a"\nlevel = "b"\n'), LINES + 2, id="duplicate key"),
    pytest.param(of_bytes(TEXT.encode() + b"[agent]\n"), LINES + 1, id="duplicate table"),
    pytest.param(of_bytes(TEXT.encode() + b"[agent.risk_profile]\n"), LINES + 1, id="a table over a value"),
    pytest.param(of_bytes(TEXT.encode() + b"level.x = 1\nlevel = 2\n"), LINES + 2, id="a value over a dotted key"),
    pytest.param(of_bytes(TEXT.encode() + b"sandbox.pids = " + b"9" * 5000), LINES + 1, id="endless number"),
    pytest.param(of_bytes(TEXT.encode() + b'level = "\\e"\n'), LINES + 1, id="escape of TOML 1.1"),
    pytest.param(of_bytes(TEXT.encode() + b"x = {\n a = 1\n}\n"), LINES + 1, id="braces of TOML 1.1"),
    pytest.param(of_bytes(TEXT.encode() + b"# caf\xe9\n"), LINES + 1, id="latin-1"),
    pytest.param(of_bytes(TEXT.encode() + b"levl = 1\n"), LINES + 1, id="unknown key"),
    pytest.param(of_bytes(b"# " + b"x" * 1024 * 1024), 0, id="too large"),
    pytest.param(lambda file: file.mkdir(), 0, id="directory"),
    pytest.param(lambda file: os.mkfifo(file), 0, id="pipe"),
    pytest.param(lambda file: file.symlink_to("/proc/self/mem"), 0, id="cannot be read"),
    pytest.param(lambda file: file.symlink_to("/dev/zero"), 0, id="device"),
    pytest.param(lambda file: file.symlink_to(file), 0, id="circle of links"),
]


def what_is_there(file: Path) -> object:
    """The kind of a file with, if it is one people write, its bytes."""
    found = file.lstat()
    plain = stat.S_ISREG(found.st_mode)
    return found.st_mode, found.st_ino, file.read_bytes() if plain else b""


@pytest.fixture
async def agents(agents: Agents, put: Put) -> Agents:
    put("pinfold.toml", SHARED)
    put("reviewer", TEXT)
    await agents.load()
    return agents


@pytest.mark.parametrize(("breaks", "line"), BROKEN)
async def test_the_last_good_policy_stays_in_force_marked_stale_with_file_and_line(
    agents: Agents, home: Home, breaks: Callable[[Path], object], line: int
) -> None:
    file = home.agent_file("reviewer")
    file.unlink()
    breaks(file)
    await agents.load()
    agent = agents.get("reviewer")
    assert agent.stale
    assert [(problem.file, problem.line, problem.severity) for problem in agent.problems] == [(file, line, "error")]
    policy = Policies(home, agents).of("reviewer")
    assert policy.command("git status").verdict is Verdict.ALLOW
    decision = policy.command("ls")
    assert (decision.verdict, str(decision.rule.origin)) == (Verdict.DENY, "agent.toml")


@pytest.mark.parametrize(("breaks", "line"), BROKEN)
async def test_nothing_is_written_over_it(
    agents: Agents, home: Home, breaks: Callable[[Path], object], line: int
) -> None:
    file = home.agent_file("reviewer")
    draft = await agents.edit(await agents.draft("reviewer"), Change(("agent", "description"), "mine"))
    file.unlink()
    breaks(file)
    before = what_is_there(file)
    for begin in (agents.rebase, agents.disagreements):
        with pytest.raises(ConfigError) as raised:
            await begin(draft)
        assert (raised.value.file, raised.value.line) == (file, line)
    with pytest.raises(FileConflict):
        await agents.save(draft)
    with pytest.raises(FileConflict):
        await agents.undo(draft, TEXT.encode() + b"# other\n")
    with pytest.raises(ConfigError) as raised:
        await agents.set_enabled("reviewer", False)
    assert (raised.value.file, raised.value.line) == (file, line)
    assert what_is_there(file) == before
    assert [path.name for path in file.parent.iterdir()] == ["agent.toml"]


async def test_a_broken_pinfold_toml_keeps_every_policy_as_it_was(agents: Agents, home: Home, put: Put) -> None:
    policies = Policies(home, agents)
    before = policies.of("reviewer")
    put("pinfold.toml", "[risk_profiles.hardened]\nlevel = 'full'\nlevl = 1\n")
    await agents.load()
    assert [(problem.line, problem.key) for problem in agents.shared_problems] == [(3, "risk_profiles.hardened.levl")]
    assert policies.of("reviewer").level == before.level == "supervised"
