"""Rename: the agent's directory first, then every file that names it, then all that is kept of it elsewhere."""

from __future__ import annotations

import sqlite3

import msgspec

from services.agents import Agent
from services.errors import FileConflict, OperationError
from services.home import Home
from services.memory import Owner, adopt_rows, rename_tenants
from services.operations import blocking, rewriting
from services.operations.house import Facts, House, default_place
from services.operations.model import Blocker, Effect, Operation, Options, Plan, PlannedStep, Rewrite
from services.operations.moving import Moved, measured, move_directory, replace_by_copy
from services.operations.references import read_files, read_owned
from services.operations.running import Course, Run
from services.sandbox import OnceMarkers, rename_sessions

_TRIES = 3
_COPIED = "copied"


# --- planning


async def plan_rename(house: House, alias: str, target: str, options: Options) -> Plan:
    """Plan a rename; changes nothing."""
    facts = await house.facts(alias)
    plan = Plan(kind="rename", alias=alias, target=target, options=options, references=facts.references)
    refused = tuple(blocking.alias_blockers(alias, target))
    if alias == target:
        refused += (Blocker("the new alias is the old one", "Choose another alias."),)
    refused = refused or tuple(blocking.missing_agent(facts))
    if refused or facts.agent is None:
        holding = blocking.busy(await house.journal.holding(alias, target))
        return msgspec.structs.replace(plan, blockers=(*holding, *refused))
    owned = await house.database.read(lambda c: read_owned(c, target))
    leave_out = ("workspace", "context", *(("session",) if options.stop_sessions else ()))
    blockers = (
        *blocking.busy(await house.journal.holding(alias, target)),
        *blocking.hard_references(facts.references, leave_out=leave_out),
        *blocking.taken_alias(house.home, target, owned, facts.files),
        *blocking.mount_point(house.home.agent_dir(alias)),
        *(await blocking.unreachable_memory(house, facts) or await blocking.inherited_rows(house, facts.agent, target)),
    )
    rewrites = await house.calls.run(_rewrites, house, facts, target)
    return msgspec.structs.replace(
        plan,
        blockers=blockers,
        rewrites=rewrites,
        effects=await house.calls.run(_effects, house.home, facts, facts.agent, target),
        notes=tuple(_notes(house.home, facts, facts.agent)),
        steps=tuple(_steps(plan, rewrites, bool(facts.live))),
        point_of_no_return="move",
    )


def _rewrites(house: House, facts: Facts, target: str) -> tuple[Rewrite, ...]:
    found = []
    for file in facts.files:
        data, changes = rewriting.renamed(file, facts.alias, target, house.home, house.agents)
        if changes:
            found.append(rewriting.rewrite_of(file, data, changes))
    return tuple(found)


def _effects(home: Home, facts: Facts, agent: Agent, target: str) -> tuple[Effect, ...]:
    old, new = home.agent_dir(facts.alias), home.agent_dir(target)
    files, size = measured(old)
    moved = "the agent's directory with its workspace" if default_place(home, agent) else "the agent's directory"
    found = [Effect(action="moved", what=moved, source=str(old), target=str(new), files=files, size=size)]
    if not default_place(home, agent):
        found.append(Effect(action="kept", what="the workspace, which lies elsewhere", source=str(agent.workspace)))
    if facts.owned.memories:
        found.append(Effect(action="rewritten", what="memories", rows=facts.owned.memories))
    if facts.owned.tenants:
        found.append(Effect(action="rewritten", what="core memory", rows=facts.owned.tenants))
    if facts.owned.contexts:
        found.append(Effect(action="rewritten", what="contexts", rows=len(facts.owned.contexts)))
    if facts.live:
        found.append(Effect(action="stopped", what="running sessions", rows=len(facts.live)))
    if facts.sessions:
        found.append(Effect(action="rewritten", what="sessions", rows=len(facts.sessions)))
    return tuple(found)


def _notes(home: Home, facts: Facts, agent: Agent) -> list[str]:
    found = []
    if not default_place(home, agent):
        found.append(f"the workspace stays at {agent.workspace}")
    if kept := sum(bool(session.sandbox) for session in facts.sessions):
        found.append(f"{kept} sandboxes keep the old alias in their label, and are found by their session")
    if facts.guests:
        found.append(f"sandboxes of {', '.join(facts.guests)} that run keep its files where they were until they end")
    return found


def _steps(plan: Plan, rewrites: tuple[Rewrite, ...], live: bool) -> list[PlannedStep]:
    found = [PlannedStep("stop", "stop its sessions")] if live else []
    found.append(PlannedStep("move", f"rename its directory to {plan.target}"))
    for rewrite in rewrites:
        name = rewrite.owner or "pinfold.toml"
        owner = plan.target if rewrite.owner == plan.alias else rewrite.owner
        found.append(PlannedStep("references", f"rewrite what {name} says of it", owner))
    return [
        *found,
        PlannedStep("memory", "give its memories to the new alias"),
        PlannedStep("sessions", "give its sessions to the new alias"),
        PlannedStep("archives", "give its archives to the new alias"),
        PlannedStep("check", "look for what still names the old alias"),
    ]


# --- carrying out


async def _stop(run: Run) -> str:
    facts = await run.house.facts(run.alias)
    for number, session in enumerate(facts.live, start=1):
        run.tell(f"stopping {session.id}", number, len(facts.live), "sessions")
        await run.house.sandboxes.stop(session.id)
    return f"{len(facts.live)} stopped"


async def _move(run: Run) -> str:
    house = run.house
    old, new = house.home.agent_dir(run.alias), house.home.agent_dir(run.target)
    staging = new.with_name(f".{new.name}-{run.operation.id}.new")
    copied = run.step.result == _COPIED
    moved = Moved.COPIED
    if not copied:
        await _settle_once(run)
        moved, left_out = await house.calls.run(move_directory, old, new, staging, house.rename, run.teller())
        run.warnings += [f"{name} is no file, folder or link, and was not copied" for name in left_out]
    if moved is Moved.COPIED:
        await run.note(_COPIED)
        await house.calls.run(replace_by_copy, old, new, staging)
    await house.agents.load()
    return moved.value


async def _settle_once(run: Run) -> None:
    """Keep what is known of prepare steps that run once, while the workspace is where it was."""
    agent = run.house.agents.by_alias.get(run.alias)
    if agent is not None:
        await run.house.calls.run(OnceMarkers(run.house.home).settle, run.alias, agent.workspace, run.target)


async def _references(run: Run) -> str:
    """Rewrite one file as it is now; one that names the agent no more stays as it is."""
    house, owner = run.house, run.step.subject
    for attempt in range(_TRIES):
        await house.agents.load()
        files = await house.calls.run(read_files, house.home, house.agents)
        file = next((file for file in files if file.owner == owner), None)
        if file is None:
            return "is there no more"
        if file.problem:
            raise OperationError(f"{file.path} cannot be used", why=file.problem, fix="Mend the file, and retry.")
        data, changes = await house.calls.run(rewriting.renamed, file, run.alias, run.target, house.home, house.agents)
        try:
            locked = owner in (run.alias, run.target)
            await house.calls.run(lambda: rewriting.write_file(house.home, file, data, locked=locked))  # noqa: B023
        except FileConflict:  # somebody wrote it in this moment
            if attempt == _TRIES - 1:
                raise
        else:
            await house.agents.load()
            return f"{len(changes)} places"
    raise AssertionError("unreachable")


async def _memory(run: Run) -> str:
    house = run.house
    agent = house.agents.get(run.target)
    backend = house.backend(agent)
    if backend.name != "sqlite":
        await backend.rename(Owner(run.alias, agent.workspace), run.target)

    def job(connection: sqlite3.Connection) -> tuple[int, int, int]:
        memories = adopt_rows(connection, run.alias, run.target)
        tenants = rename_tenants(connection, run.alias, run.target)
        contexts = connection.execute("UPDATE contexts SET agent = ? WHERE agent = ?", (run.target, run.alias)).rowcount
        return memories, tenants, contexts

    memories, tenants, contexts = await house.database.write(job)
    return f"{memories} memories, core memory of {tenants} tenants, {contexts} contexts"


async def _sessions(run: Run) -> str:
    home = run.house.home
    moved = str(home.agent_dir(run.alias)), str(home.agent_dir(run.target))
    count = await run.house.database.write(lambda c: rename_sessions(c, run.alias, run.target, moved))
    workspace = run.house.agents.get(run.target).workspace
    await run.house.calls.run(OnceMarkers(home).rename, run.alias, run.target, workspace)
    return f"{count} sessions"


async def _archives(run: Run) -> str:
    return f"{await run.house.archives.rename(run.alias, run.target)} archives"


async def _check(run: Run) -> str:
    facts = await run.house.facts(run.alias)
    for reference in facts.references:
        if reference.kind != "file":
            run.warnings.append(f"still names {run.alias}: {reference.text}")
    return "nothing names it" if not run.warnings else f"{len(run.warnings)} places still name it"


async def _undo(house: House, operation: Operation) -> None:
    """Nothing was changed before the directory is renamed."""


COURSE = Course(
    steps={
        "stop": _stop,
        "move": _move,
        "references": _references,
        "memory": _memory,
        "sessions": _sessions,
        "archives": _archives,
        "check": _check,
    },
    undo=_undo,
)
"""How a rename is carried out."""
