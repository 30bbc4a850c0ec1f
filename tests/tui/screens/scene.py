"""A moment in the life of a home, for pictures: real configurations, records and output at a fixed time."""

from __future__ import annotations

import asyncio
import math
import textwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from services.activity import Entry, Events
from services.agents import Agents
from services.home import BlockingCalls, Home
from services.output import Chunk, SpoolReader, SpoolWriter, Stream
from services.policy import Limits, Mount, Policies
from services.sandbox import EngineStatus, Orphan, SandboxSpec, Session, SessionState, Step
from tui.app import PinfoldApp
from tui.session_columns import UsageHistory

SECOND = 1_000_000_000
NOW = 1_796_040_271 * SECOND
"""2026-11-30 12:04:31 UTC."""

AGENTS = {
    "archivist": """
        [agent]
        description = "Files what the others found"
        risk_profile = "observer"

        [sandbox]
        runner = "command"
        lifecycle = "session"
        idel_timeout = "30m"
        command = ["sh", "sort.sh"]
        """,
    "builder": """
        [agent]
        description = "Builds the release image, layer by layer"
        risk_profile = "hardened"

        [sandbox]
        runner = "command"
        memory = "512m"
        command = ["sh", "build.sh"]
        """,
    "migrator": """
        # Works on the live tables, so it sees this machine as it is.
        [agent]
        description = "Moves the tables to the new schema"
        risk_profile = "trusted"

        [sandbox]
        runner = "command"
        engine = "local"
        lifecycle = "longrunning"
        command = ["sh", "migrate.sh"]
        """,
    "nightly": """
        [agent]
        enabled = false
        description = "Runs while we sleep"
        risk_profile = "hardened"

        [sandbox]
        runner = "command"
        command = ["sh", "nightly.sh"]
        """,
    "researcher": """
        [agent]
        description = "Reads, compares, takes notes"
        risk_profile = "observer"

        [sandbox]
        runner = "command"
        command = ["sh", "read.sh"]
        """,
    "reviewer": """
        # Reviews every pull request before a person does.
        [agent]
        description = "Reviews pull requests"
        risk_profile = "hardened"
        delegates = [{ agent = "researcher", mode = "bounded" }]

        [permissions]
        allowed_commands = ["git", "ls", "cat", "make"]
        allowed_roots = ["~/projects/shared"]

        [workspace.access]
        researcher = "read"

        [sandbox]
        runner = "command"
        lifecycle = "session"
        idle_timeout = "30m"
        memory = "2g"
        cpus = 2.0
        command = ["sh", "review.sh"]
        """,
}

SHARED = """
    [risk_profiles.hardened]
    allowed_commands = ["git", "ls", "cat"]
    forbidden_paths = ["~/.aws", "~/.ssh"]

    [risk_profiles.observer]
    level = "readonly"

    [risk_profiles.trusted]
    allow_unconfined = true

    [defaults.sandbox]
    engine = "docker"
    image = "busybox:latest"
    network = "none"
    pids = 256
    """

REVIEW = """\
\x1b[1mreviewing\x1b[0m pull request \x1b[36m#482\x1b[0m  parser: keep comments when rewriting
collected 214 tests in 31 files

tests/test_lexer.py    \x1b[32m.............................................\x1b[0m  22%
tests/test_parser.py   \x1b[32m....................\x1b[31mF\x1b[32m......\x1b[31mF\x1b[32m.................\x1b[0m  44%
tests/test_writer.py   \x1b[32m.............................................\x1b[0m  66%
tests/test_round.py    \x1b[32m.............................................\x1b[0m  88%
tests/test_cli.py      \x1b[32m..........................\x1b[0m                    100%

\x1b[31m\x1b[1mFAILED\x1b[0m tests/test_parser.py::test_comment_after_array
    expected  "# why b"
    found     ""
\x1b[31m\x1b[1mFAILED\x1b[0m tests/test_parser.py::test_inline_table_order

\x1b[31m2 failed\x1b[0m, \x1b[32m212 passed\x1b[0m in 8.41s
\x1b[1mreading\x1b[0m src/parser.py, src/writer.py, docs/format.md
  the comment belongs to the item before it; \x1b[33m_attach()\x1b[0m looks at the one after
  same cause in both tests
\x1b[1mwriting\x1b[0m review.md \x1b[32m+38 lines\x1b[0m
"""

MIGRATION = """\
\x1b[1mmigrating\x1b[0m orders, 1,204,113 rows
batch 211  \x1b[32mok\x1b[0m  5,000 rows  0.41s
batch 212  \x1b[32mok\x1b[0m  5,000 rows  0.39s
batch 213  \x1b[32mok\x1b[0m  5,000 rows  0.44s
batch 214  \x1b[32mok\x1b[0m  5,000 rows  0.40s
"""
COMPLAINTS = "WARNING row 1,070,332: total is null, kept as it is\n"


def _session(number: str, agent: str, state: SessionState, since: float, **more: Any) -> Session:
    """One record; `since` is how many seconds ago it was made."""
    made = NOW - int(since * SECOND)
    workspace = f"/home/op/.pinfold/agents/{agent}/workspace"
    spec = SandboxSpec(
        session=number,
        home="0123456789abcdef",
        agent=agent,
        lifecycle=more.get("lifecycle", "oneshot"),
        image="busybox:latest",
        command=more.pop("command", ("sh", f"{agent}.sh")),
        environment={},
        secrets=(),
        workspace=workspace,
        mounts=(Mount(workspace, "/workspace", True), *more.pop("mounts", ())),
        limits=Limits(more.pop("memory", 512 << 20), more.pop("cpus", 1.0), 256),
        network="none",
        unconfined=False,
        stop_timeout=10.0,
        output_limit=1 << 30,
    )
    known: dict[str, Any] = {
        "id": number,
        "agent": agent,
        "runner": "command",
        "engine": "docker",
        "node": "local",
        "image": "busybox:latest",
        "lifecycle": "oneshot",
        "idle_timeout": None,
        "confined": True,
        "workspace": workspace,
        "state": state,
        "detail": "",
        "sandbox": "f" * 12,
        "spec": spec,
        "prompt": "",
        "created_at": made,
        "started_at": made + SECOND,
        "ended_at": None,
        "active_at": NOW - 2 * SECOND,
        "exit_code": None,
        "out_of_memory": False,
        "revision": 1,
    }
    return Session(**(known | more))


SESSIONS = [
    _session(
        "261130-120019-r4v",
        "reviewer",
        SessionState.RUNNING,
        252,
        lifecycle="session",
        idle_timeout=1800.0,
        prompt="Review #482",
        command=("sh", "review.sh"),
        mounts=(Mount("/home/op/.pinfold/agents/researcher/workspace", "/siblings/researcher", False),),
        memory=2 << 30,
        cpus=2.0,
    ),
    _session(
        "261130-120331-m2k",
        "builder",
        SessionState.PULLING,
        60,
        started_at=None,
        detail="busybox:latest, layer 3 of 7, 41M of 98M",
    ),
    _session(
        "261130-120402-q8c",
        "researcher",
        SessionState.STOPPING,
        29,
        detail="sent TERM, KILL in 6s",
    ),
    _session(
        "261130-094410-t7w",
        "migrator",
        SessionState.RUNNING,
        8421,
        engine="local",
        image="",
        confined=False,
        lifecycle="longrunning",
        idle_timeout=7200.0,
        command=("sh", "migrate.sh"),
    ),
    _session(
        "261130-113502-c3d",
        "builder",
        SessionState.OUT_OF_MEMORY,
        1769,
        ended_at=NOW - 1189 * SECOND,
        exit_code=137,
        out_of_memory=True,
        detail="out of memory at 512M",
    ),
    _session(
        "261130-112209-h6n",
        "researcher",
        SessionState.FAILED,
        2542,
        ended_at=NOW - 2480 * SECOND,
        exit_code=2,
        detail="exit status 2",
    ),
    _session(
        "261130-090000-a1a",
        "reviewer",
        SessionState.EXITED,
        11071,
        lifecycle="session",
        ended_at=NOW - 10800 * SECOND,
        exit_code=0,
    ),
]
ORPHAN = Orphan("docker", "9f8e7d6c5b4a", "", "old_builder", "exited")
ENGINES = (
    EngineStatus("docker", usable=True, version="20.10.24"),
    EngineStatus("local", usable=True, confined=False),
)


def _steps(session: str) -> list[Step]:
    names = [("prepare", 0.2), ("create", 0.6), ("start", 0.3)]
    at = next(known.created_at for known in SESSIONS if known.id == session)
    steps: list[Step] = []
    for name, seconds in names:
        steps.append(Step(session, len(steps) + 1, name, "done", "", at, at + int(seconds * SECOND)))
        at += int(seconds * SECOND)
    return [*steps, Step(session, 4, "run", "running", "", at, None)]


START, STOP = "session.start", "session.terminate"
ENTRIES = [
    Entry(1, NOW - 8421 * SECOND, "operator", START, "migrator", "261130-094410-t7w", "done", "command on local"),
    Entry(2, NOW - 1189 * SECOND, "pinfold", "session.end", "builder", "261130-113502-c3d", "failed", "out of memory"),
    Entry(3, NOW - 252 * SECOND, "operator", START, "reviewer", "261130-120019-r4v", "done", "command on docker"),
    Entry(4, NOW - 120 * SECOND, "operator", START, "nightly", "", "refused", "nightly is disabled"),
    Entry(5, NOW - 4 * SECOND, "operator", STOP, "researcher", "261130-120402-q8c", "done", "sent TERM"),
]


class Scene:
    """Fills an app with the moment.

    Args:
        home: Where configurations and output are written.
    """

    def __init__(self, home: Home) -> None:
        self.home = home
        self.app = PinfoldApp(home, now=lambda: NOW, services=False)
        self._calls = BlockingCalls()

    def close(self) -> None:
        """Let go of the threads."""
        self._calls.close()

    def write(self) -> None:
        """Write what lies on disk."""
        self.home.agents_dir.mkdir(parents=True)
        (self.home.root.parent / "projects/shared").mkdir(parents=True)
        self.home.config_file.write_text(textwrap.dedent(SHARED))
        for alias, text in AGENTS.items():
            (self.home.agent_dir(alias) / "workspace").mkdir(parents=True)
            self.home.agent_file(alias).write_text(textwrap.dedent(text).lstrip())
        self._print("261130-120019-r4v", (Stream.STDOUT, REVIEW))
        self._print("261130-094410-t7w", (Stream.STDOUT, MIGRATION), (Stream.STDERR, COMPLAINTS))

    def _print(self, session: str, *outputs: tuple[Stream, str]) -> None:
        writer = SpoolWriter.open(self._spool(session), limit=1 << 30, keep_unindexed=False, now=lambda: NOW)
        for stream, text in outputs:
            writer.append([Chunk(stream, text.encode(), NOW - 3 * SECOND)])
        writer.flush()
        writer.close()

    def _spool(self, session: str) -> Path:
        return self.home.session_dir(session) / "output"

    async def fill(self) -> None:
        """Show the moment."""
        agents = Agents(self.home, Events(), self._calls)
        await agents.load()
        self.app._pinfold = self._services(agents)
        store = self.app.store
        store.put_engines(ENGINES, [ORPHAN])
        store.put_sessions(SESSIONS)
        place = Path("/home/op/.pinfold/agents")
        broken, good, *rest = (replace(agent, workspace=place / agent.alias / "workspace") for agent in agents.all())
        broken = replace(broken, config=good.config, settings=good.settings, profile=good.profile, stale=True)
        store.put_agents([broken, good, *rest])
        store.await_("", 0.0)

    def histories(self) -> dict[str, UsageHistory]:
        """What the running sessions used."""
        reviewer, migrator = UsageHistory(memory_limit=2 << 30), UsageHistory()
        for step in range(20):
            reviewer.cpu.append(1.1 + 0.75 * math.sin(step / 2.1))
            reviewer.memory.append((0.35 + step / 40) * (1 << 30))
            migrator.cpu.append(0.34 + 0.2 * math.cos(step / 1.3))
            migrator.memory.append((90 + step % 5) * (1 << 20))
        return {"261130-120019-r4v": reviewer, "261130-094410-t7w": migrator}

    def _services(self, agents: Agents) -> Any:
        async def steps(session: str) -> list[Step]:
            return _steps(session)

        async def output(session: str) -> SpoolReader:
            return SpoolReader.open(self._spool(session))

        async def usage(session: str) -> Any:
            await asyncio.Event().wait()
            yield session

        async def preview(request: Any) -> Session:
            return replace_agent(SESSIONS[0], request.agent)

        async def recent(limit: int, **_: Any) -> list[Entry]:
            return ENTRIES[-limit:]

        sandboxes = SimpleNamespace(steps=steps, output=output, usage=usage, preview=preview)
        return SimpleNamespace(
            agents=agents,
            policies=Policies(self.home, agents),
            calls=self._calls,
            sandboxes=sandboxes,
            activity=SimpleNamespace(recent=recent),
        )


def replace_agent(session: Session, alias: str) -> Session:
    """The same session of another agent."""
    assert session.agent == alias
    return session
