"""The demo's agents print what they promise, with nothing but sh, awk and sleep."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import subprocess

import pytest

from services.agents import Agents, init_home
from services.home import BlockingCalls, Home

SECONDS = 60
SHELLS = [["sh"], *([["busybox", "sh"]] if shutil.which("busybox") else [])]

pytestmark = pytest.mark.parametrize("shell", SHELLS, ids=" ".join)


@pytest.fixture
def demo(home: Home, agents: Agents, calls: BlockingCalls) -> Agents:
    async def make() -> None:
        await init_home(home, demo=True, calls=calls)
        await agents.load()

    asyncio.run(make())
    return agents


def begin(agents: Agents, alias: str, shell: list[str], **environment: str) -> subprocess.Popen[bytes]:
    agent = agents.get(alias)
    assert agent.settings is not None
    assert agent.settings.command[0] == "sh"
    return subprocess.Popen(
        [*shell, *agent.settings.command[1:]],
        cwd=agent.workspace,
        env={"PATH": "/usr/bin:/bin", "DEMO_PAUSE": "0", **agent.settings.environment, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def run(agents: Agents, alias: str, shell: list[str], **environment: str) -> tuple[int, str, str]:
    process = begin(agents, alias, shell, **environment)
    out, err = process.communicate(timeout=SECONDS)
    return process.returncode, out.decode(), err.decode()


def run_until(agents: Agents, alias: str, shell: list[str], lines: int, signal_: int) -> tuple[int, str]:
    process = begin(agents, alias, shell)
    assert process.stdout is not None
    out = b"".join(process.stdout.readline() for _ in range(lines))
    process.send_signal(signal_)
    rest, _ = process.communicate(timeout=SECONDS)
    return process.returncode, (out + rest).decode()


def test_the_tester_has_one_failure_among_green_dots(demo: Agents, shell: list[str]) -> None:
    status, out, err = run(demo, "tester", shell)
    assert (status, err) == (1, "")
    dots, _, report = out.partition("FAILURES")
    assert (dots.count("\x1b[32m."), dots.count("\x1b[31mF"), dots.count("\x1b[33ms")) == (46, 1, 1)
    assert "collected 48 items" in dots
    assert "1 failed" in report
    assert "46 passed" in report
    assert "FAILED" in report


def test_the_builder_redraws_its_bars_and_succeeds(demo: Agents, shell: list[str]) -> None:
    status, out, err = run(demo, "builder", shell)
    assert status == 0
    assert out.count("\r") > 50
    assert "212/212 MB" in out
    assert "cache miss" in err


def test_the_researcher_answers_the_prompt_with_warnings_on_the_side(demo: Agents, shell: list[str]) -> None:
    status, out, err = run(demo, "researcher", shell, PINFOLD_PROMPT='Is "100%s" $HOME \\n safe?')
    assert status == 0
    assert 'Is "100%s" $HOME \\n safe?' in out.split("\n")[0]
    assert err.count("warning:") == 3


def test_the_migrator_fails_with_a_traceback(demo: Agents, shell: list[str]) -> None:
    status, out, err = run(demo, "migrator", shell)
    assert status == 3
    assert out.rstrip().split("\n")[-1].startswith("batch 13 of 20")
    assert "Traceback (most recent call last):" in err
    assert "InvalidAmount" in err


def test_the_gateway_logs_levels_and_json_until_it_is_told_to_stop(demo: Agents, shell: list[str]) -> None:
    status, out = run_until(demo, "gateway", shell, 200, signal.SIGTERM)
    assert status == 0
    assert "gateway: bye" in out
    assert "region eu-north, level debug" in out
    records = [json.loads(line) for line in out.split("\n") if line.startswith("{")]
    assert {record["level"] for record in records} == {"info", "warn", "error"}
    assert "DEBUG" in out


def test_the_gateway_prints_the_same_every_time(demo: Agents, shell: list[str]) -> None:
    first, second = (run_until(demo, "gateway", shell, 60, signal.SIGKILL)[1].split("\n")[:60] for _ in range(2))
    assert first == second


def test_the_indexer_numbers_its_documents_without_a_gap(demo: Agents, shell: list[str]) -> None:
    status, out = run_until(demo, "indexer", shell, 1500, signal.SIGINT)
    assert status == 0
    numbers = [int(line.split("/")[1][:6]) for line in out.split("\n") if " terms " in line]
    assert numbers[:1000] == list(range(1, 1001))
    assert "looks binary" in out
    assert "index: stopped after" in out


def test_every_lifecycle_is_there_to_look_at(demo: Agents, shell: list[str]) -> None:
    lifecycles = {agent.settings.lifecycle for agent in demo.all() if agent.settings}
    assert lifecycles == {"oneshot", "session", "longrunning", "persistent"}
    assert all(agent.settings.engine == "local" for agent in demo.all() if agent.settings)
    assert all(agent.profile and agent.profile.allow_unconfined for agent in demo.all())


def test_nothing_is_written_but_text_and_colour(demo: Agents, shell: list[str]) -> None:
    for alias in ("tester", "builder", "researcher", "migrator"):
        _, out, err = run(demo, alias, shell)
        rest = re.sub(r"\x1b\[[0-9;]*m|[\r\n]", "", out + err)
        assert rest.isprintable(), alias
    assert {path.suffix for agent in demo.all() for path in agent.workspace.iterdir()} == {".sh"}
