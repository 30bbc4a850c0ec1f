"""Delete, as planned: what is in the way, what is kept in the archive, and what goes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from services.agents import Agent
from services.errors import PinfoldError
from services.home import Home
from services.operations import blocking, rewriting
from services.operations.house import Facts, House, default_place
from services.operations.model import Blocker, Effect, Options, Plan, PlannedStep, Rewrite
from services.operations.moving import measured
from services.operations.references import inside

PARTS = (
    ("agent.toml", "keep its agent.toml"),
    ("workspace", "pack its workspace"),
    ("memory", "export its memories"),
    ("core memory", "export its core memory"),
    ("scopes", "export the keys of its contexts and sessions"),
    ("sessions", "export its sessions with their output"),
)
"""What is exported before anything is changed: the subject of each step, and what it does."""


async def plan_delete(house: House, alias: str, options: Options) -> Plan:
    """Plan a delete; changes nothing."""
    facts = await house.facts(alias)
    plan = Plan(kind="delete", alias=alias, options=options, references=facts.references)
    refused = tuple(blocking.alias_blockers(alias)) or tuple(blocking.missing_agent(facts))
    if refused or facts.agent is None:
        holding = blocking.busy(await house.journal.holding(alias))
        return msgspec.structs.replace(plan, blockers=(*holding, *refused))
    agent = facts.agent
    blockers = (
        *blocking.busy(await house.journal.holding(alias)),
        *blocking.hard_references(facts.references),
        *_unusable(facts),
        *await house.calls.run(lambda: tuple(_beside(house.home, agent))),
        *blocking.mount_point(house.home.agent_dir(alias)),
        *_link(house.home.agent_dir(alias)),
        *await blocking.unreachable_memory(house, facts),
        *_rows_left_behind(facts, agent),
        *await _unreachable_sandboxes(house, facts),
    )
    rewrites = await house.calls.run(_rewrites, house, facts)
    stays = stays_in_place(house, agent, options)
    return msgspec.structs.replace(
        plan,
        blockers=blockers,
        rewrites=rewrites,
        effects=await _effects(house, facts, agent, bool(stays)),
        notes=tuple(_notes(facts, stays)),
        steps=tuple(_steps(rewrites)),
        point_of_no_return="remove",
    )


def stays_in_place(house: House, agent: Agent, options: Options) -> str:
    """Why an agent's workspace is copied and not moved; "" when it is moved."""
    if default_place(house.home, agent):
        return ""
    if options.keep_workspace:
        return "as asked for"
    place = Path(os.path.realpath(agent.workspace))
    for other in house.agents.all():
        theirs = Path(os.path.realpath(other.workspace))
        if other.alias != agent.alias and (place.is_relative_to(theirs) or theirs.is_relative_to(place)):
            return f"{other.alias} works there too"
    return ""


def _unusable(facts: Facts) -> Iterator[Blocker]:
    """An `agent.toml` that does not tell where its workspace and memory are."""
    own = next((file for file in facts.files if file.owner == facts.alias), None)
    if own is None or own.problem:
        why = own.problem if own else "it is missing"
        yield Blocker(f"its agent.toml cannot be used: {why}", "Mend the file first, so that nothing is overlooked.")


def _rows_left_behind(facts: Facts, agent: Agent) -> Iterator[Blocker]:
    """Rows in the database of an agent whose memory is elsewhere, so that one export would leave some out."""
    backend = agent.config.memory.backend if agent.config else ""
    if backend and backend != "sqlite" and facts.owned.memories:
        yield Blocker(
            f"{facts.owned.memories:,} memories are in sqlite, while its file says {backend}",
            "Move them there, or set memory.backend back.",
        )


def _link(directory: Path) -> Iterator[Blocker]:
    """A directory that is elsewhere, so that only a link to it would go."""
    if directory.is_symlink():
        yield Blocker(f"{directory} is a link", "Put the directory itself in its place first.")


def _beside(home: Home, agent: Agent) -> Iterator[Blocker]:
    """Files in the agent's directory that are neither its `agent.toml` nor in its workspace, and so not kept."""
    top = home.agent_dir(agent.alias)
    known = {str(top / "agent.toml")}
    workspace = str(agent.workspace)
    with os.scandir(top) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if entry.path in known or inside(agent.workspace, entry.path) or workspace.startswith(f"{entry.path}/"):
            continue
        if entry.is_dir(follow_symlinks=False) and not measured(Path(entry.path))[0]:
            continue
        yield Blocker(f"{entry.path} is not in its workspace, so it would not be kept", "Move it there, or away.")


async def _unreachable_sandboxes(house: House, facts: Facts) -> tuple[Blocker, ...]:
    """Sandboxes of ended sessions that cannot be removed now, and would be nobody's afterwards."""
    kept = [session for session in facts.sessions if session.sandbox and session.state.ended]
    if not kept:
        return ()
    usable = {status.name for status in await house.sandboxes.check_engines() if status.usable}
    return tuple(
        Blocker(f"the sandbox of session {session.id} cannot be removed: {session.engine} does not answer")
        for session in kept
        if session.engine not in usable
    )


def _rewrites(house: House, facts: Facts) -> tuple[Rewrite, ...]:
    found = []
    for file in facts.files:
        if file.owner == facts.alias or file.problem:
            continue
        data, gone = rewriting.dropped(file, facts.alias, house.home, house.agents)
        if gone:
            found.append(rewriting.rewrite_of(file, data, rewriting.drop_changes(file, gone)))
    return tuple(found)


async def _effects(house: House, facts: Facts, agent: Agent, stays: bool) -> tuple[Effect, ...]:
    files, size = await house.calls.run(measured, agent.workspace)
    found = [
        Effect(action="exported", what="agent.toml", source=str(agent.file)),
        Effect(
            action="copied" if stays else "moved",
            what="the workspace",
            source=str(agent.workspace),
            target="the archive",
            files=files,
            size=size,
        ),
    ]
    rows = await _count(house, agent)
    for what, number in (
        ("memories", rows),
        ("core memory of tenants", facts.owned.tenants),
        ("sessions with their output", len(facts.sessions)),
    ):
        if number:
            found.append(Effect(action="exported", what=what, rows=number))
            found.append(Effect(action="removed", what=f"{what}, once they are verified in the archive", rows=number))
    if kept := sum(bool(session.sandbox) for session in facts.sessions):
        found.append(Effect(action="removed", what="sandboxes", rows=kept))
    found.append(Effect(action="removed", what="its directory", source=str(house.home.agent_dir(facts.alias))))
    return tuple(found)


async def _count(house: House, agent: Agent) -> int:
    try:
        return await house.rows_of(agent)
    except PinfoldError:  # told as being in the way
        return 0


def _notes(facts: Facts, stays: str) -> Iterator[str]:
    if stays:
        yield f"the workspace is copied into the archive and stays where it is: {stays}"
    if facts.owned.contexts:
        yield "the steps of its contexts stay, as nobody's"
    if any(reference.kind == "path" and reference.owner != facts.alias for reference in facts.references):
        yield "paths into its directory stay in the files that name them"


def _steps(rewrites: tuple[Rewrite, ...]) -> Iterator[PlannedStep]:
    yield PlannedStep("archive", "begin an archive")
    for subject, text in PARTS:
        yield PlannedStep("export", text, subject)
    yield PlannedStep("remove", "take the agent out of the agents")
    for rewrite in rewrites:
        yield PlannedStep("references", f"drop what {rewrite.owner or 'pinfold.toml'} says of it", rewrite.owner)
    yield PlannedStep("purge", "remove its sessions and sandboxes", "sessions")
    yield PlannedStep("purge", "remove its memories", "memory")
    yield PlannedStep("purge", "remove its workspace and directory", "files")
    yield PlannedStep("seal", "seal the archive")
