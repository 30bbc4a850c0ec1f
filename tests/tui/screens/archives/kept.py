"""A moment in the life of archives, for pictures: real records at a fixed time, in place of a disk that is never twice
the same."""

from __future__ import annotations

import datetime
from collections.abc import AsyncGenerator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from services.archives import (
    About,
    AboutAgent,
    Archive,
    ArchiveKind,
    ArchiveState,
    Count,
    Done,
    KeptFile,
    LeftOut,
    Manifest,
    Member,
    Preview,
    Reference,
    Tree,
)
from services.operations import (
    Effect,
    KeyChange,
    Operation,
    OperationState,
    Plan,
    PlannedStep,
    Rewrite,
    Step,
)
from services.operations import Reference as Naming
from tests.tui.screens.scene import NOW, SECOND, Scene

PLACE = Path("/home/op/.pinfold/archives")
LEAD = "/home/op/.pinfold/agents/reviewer/agent.toml"


def _ago(seconds: float) -> int:
    return NOW - round(seconds * SECOND)


def _archive(alias: str, stamp: str, since: float, size: int, **more: Any) -> Archive:
    known: dict[str, Any] = {
        "id": f"{alias}-{stamp}",
        "path": PLACE / f"{alias}-{stamp}",
        "alias": alias,
        "uuid": "6f1d2c",
        "kind": ArchiveKind.DELETE,
        "state": ArchiveState.SEALED,
        "created_at": _ago(since),
        "size": size,
    }
    return Archive(**(known | more))


ARCHIVES = [
    _archive("scraper", "20261130112611", 2300, 48_300_000, verified_at=_ago(1500), intact=True),
    _archive("painter", "20261129180400", 64_800, 2_100_000, verified_at=_ago(3600), intact=False),
    _archive("old_builder", "20261110090000", 1_738_800, 910_000_000),
    _archive("sorter", "20261130120424", 7, 0, state=ArchiveState.UNSEALED),
]

STEPS = (
    PlannedStep("archive", "begin an archive"),
    PlannedStep("export", "keep its agent.toml", "agent.toml"),
    PlannedStep("export", "pack its workspace", "workspace"),
    PlannedStep("export", "export its memories", "memory"),
    PlannedStep("remove", "take the agent out of the agents"),
    PlannedStep("references", "drop what reviewer says of it", "reviewer"),
    PlannedStep("purge", "remove its memories", "memory"),
    PlannedStep("seal", "seal the archive"),
)

NAMING = (
    Naming(kind="delegate", owner="reviewer", text="reviewer hands work to it", file=LEAD, line=5, value="bounded"),
    Naming(kind="access", owner="reviewer", text="reviewer may reach its workspace", file=LEAD, line=12, value="read"),
    Naming(kind="memory", owner="researcher", text="1,204 memories"),
    Naming(kind="session", owner="researcher", text="session 261130-112209-h6n is failed, its sandbox is kept"),
)

PLAN = Plan(
    kind="delete",
    alias="researcher",
    references=NAMING,
    rewrites=(
        Rewrite(
            "reviewer",
            LEAD,
            "",
            (KeyChange("agent.delegates[0]", 5, "", ""), KeyChange("workspace.access.researcher", 12, '"read"', "")),
            (
                "---",
                "+++",
                "@@ -5,10 +5,9 @@",
                '-delegates = [{ agent = "researcher", mode = "bounded" }]',
                "+delegates = []",
                "-[workspace.access]",
                '-researcher = "read"',
            ),
        ),
    ),
    effects=(
        Effect(action="exported", what="agent.toml", source="/home/op/.pinfold/agents/researcher/agent.toml"),
        Effect(action="moved", what="the workspace", target="the archive", files=318, size=48_300_000),
        Effect(action="exported", what="memories", rows=1204),
        Effect(action="removed", what="memories, once they are verified in the archive", rows=1204),
        Effect(action="removed", what="sandboxes", rows=1),
    ),
    steps=STEPS,
    point_of_no_return="remove",
)


def _operation(number: str, alias: str, state: OperationState, since: float, done: int, **more: Any) -> Operation:
    steps = tuple(
        Step(
            number=place,
            name=step.name,
            text=step.text,
            subject=step.subject,
            state="done" if place <= done else "waiting",
            started_at=_ago(since - place) if place <= done else None,
            ended_at=_ago(since - place - 1) if place <= done else None,
        )
        for place, step in enumerate(STEPS, start=1)
    )
    known: dict[str, Any] = {
        "id": f"{number}",
        "kind": "delete",
        "alias": alias,
        "target": "",
        "archive": "",
        "by": "operator",
        "state": state,
        "detail": "",
        "warnings": (),
        "committed": done > 4,
        "created_at": _ago(since),
        "ended_at": _ago(since - 9) if state is OperationState.DONE else None,
        "plan": PLAN,
        "steps": steps,
    }
    return Operation(**(known | more))


OPERATIONS = [
    _operation("20261130-120424-k3fa", "sorter", OperationState.RUNNING, 7, 2, archive="sorter-20261130120424"),
    _operation(
        "20261130-112610-r4vb",
        "scraper",
        OperationState.DONE,
        2300,
        8,
        archive="scraper-20261130112611",
    ),
    _operation(
        "20261130-093000-t7wc", "fetcher", OperationState.DONE, 9271, 8, kind="rename", target="researcher", by="ops"
    ),
    _operation(
        "20261129-180400-m2kd",
        "painter",
        OperationState.FAILED,
        64_800,
        6,
        archive="painter-20261129180400",
        detail="remove its memories: the database is locked",
    ),
]

MANIFEST = Manifest(
    schema=1,
    archive=About(
        id="scraper-20261130112611",
        kind=ArchiveKind.DELETE,
        actor="operator",
        started_at=datetime.datetime(2026, 11, 30, 11, 26, 11, tzinfo=datetime.UTC),
        sealed_at=datetime.datetime(2026, 11, 30, 11, 26, 20, tzinfo=datetime.UTC),
        tools={"pinfold": "0.1"},
    ),
    agent=AboutAgent("scraper", "6f1d2c", "/home/op/.pinfold/agents/scraper/workspace", "sqlite"),
    checksums="",
    counts=(
        Count("memory", 1204, 1204, 1204),
        Count("core memory", 2, 2, 2),
        Count("sessions", 3, 3, 3),
        Count("workspace", 318, 318, 318),
    ),
    references=(
        Reference("reviewer", "agent.delegates[0]", '{ agent = "scraper", mode = "bounded" }'),
        Reference("reviewer", "workspace.access.scraper", '"read"'),
    ),
    files=(
        KeptFile("agent.toml", 1, 412),
        KeptFile("memory.jsonl", 1204, 402_113),
        KeptFile("workspace.tar.zst", 318, 44_000_000),
    ),
    left_out=(LeftOut("run/agent.sock", "a socket"),),
)


def _member(path: str, size: int = 0) -> Member:
    return Member(path=path, kind="file" if size else "folder", size=size)


TREE = Tree(
    tuple(
        _member(path, size)
        for path, size in (
            ("agent.toml", 412),
            ("manifest.toml", 2_310),
            ("memory.jsonl", 402_113),
            ("sessions", 0),
            ("sessions/261130-090000-a1a", 0),
            ("sessions/261130-090000-a1a/record.json", 1_800),
            ("workspace", 0),
            ("workspace/pages", 0),
            ("workspace/pages/index.html", 48_211),
            ("workspace/notes.md", 1_204),
            ("workspace/scrape.py", 6_020),
            ("workspace.tar.zst", 44_000_000),
        )
    ),
    (),
    True,
)
NOTES = b"# What the scraper found\n\n- the index lists 1,204 pages\n- 14 of them answer 404\n"


class KeptScene(Scene):
    """Fills an app with the moment, archives and operations in it."""

    async def fill(self) -> None:
        """Show the moment."""
        await super().fill()
        services: Any = self.app.pinfold
        services.archives = SimpleNamespace(list=_archives, open=_open)
        services.operations = SimpleNamespace(
            all=_operations, unfinished=_unfinished, plan_delete=_plan, plan_restore=_restore_plan
        )
        services.home = self.home


async def _archives(_: Any) -> list[Archive]:
    return ARCHIVES


async def _operations(_: int) -> list[Operation]:
    return OPERATIONS


async def _unfinished() -> list[Operation]:
    return OPERATIONS


async def _plan(_: str, **__: Any) -> Plan:
    return PLAN


async def _restore_plan(archive: str, **__: Any) -> Plan:
    steps = (PlannedStep("verify", "verify the archive"), PlannedStep("place", "put the agent among the agents"))
    effects = (Effect(action="restored", what="the agent", target="/home/op/.pinfold/agents/scraper"),)
    return Plan(
        kind="restore",
        alias="scraper",
        target="scraper",
        archive=archive,
        effects=effects,
        steps=steps,
        point_of_no_return="place",
    )


async def _open(archive: str) -> Any:
    found = next(one for one in ARCHIVES if one.id == archive)

    async def tree() -> AsyncGenerator[Done[Tree], None]:
        yield Done(TREE)

    async def preview(path: str) -> AsyncGenerator[Done[Preview], None]:
        yield Done(Preview(path, NOTES, len(NOTES)))

    return SimpleNamespace(archive=found, manifest=MANIFEST, tree=tree, preview=preview)
