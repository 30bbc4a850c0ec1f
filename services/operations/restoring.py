"""Restore, as planned: what comes back, what is in the way, and which dropped references can be put back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from services.agents import Agent, Dropped, masked_diff, mentions_in_agent, table_in
from services.archives import ArchiveState, OpenArchive, result_of
from services.archives import Reference as KeptReference
from services.errors import ArchiveError, ConfigError, PinfoldError
from services.memory import Owner
from services.operations import blocking, rewriting
from services.operations.house import Facts, House
from services.operations.model import (
    Blocker,
    Effect,
    KeyChange,
    Options,
    Plan,
    PlannedStep,
    Reference,
    ReferenceKind,
    Rewrite,
)
from services.operations.references import TomlFile, read_owned

WHOLE = (
    ("verify", "", "verify the archive"),
    ("extract", "", "unpack it beside the agents"),
    ("place", "", "put the agent among the agents"),
    ("restore", "memory", "restore its memories"),
    ("restore", "core memory", "restore its core memory"),
    ("restore", "scopes", "restore the keys of its contexts and sessions"),
    ("restore", "sessions", "restore its sessions"),
)
"""The steps that bring back an agent, before its references: name, subject, and what each does."""

_KINDS: dict[str, ReferenceKind] = {"agent": "delegate", "workspace": "access"}


async def plan_restore(house: House, archive: str, target: str, options: Options) -> Plan:
    """Plan a restore; changes nothing."""
    try:
        opened = await house.archives.open(archive)
    except ArchiveError as error:
        return Plan(
            kind="restore", alias=target, target=target, archive=archive, options=options, blockers=(_blocker(error),)
        )
    alias = opened.manifest.agent.alias
    plan = Plan(kind="restore", alias=alias, target=target or alias, archive=archive, options=options)
    faults = (*_state(opened), *blocking.alias_blockers(plan.target))
    if faults:
        return msgspec.structs.replace(plan, blockers=faults)
    facts = await house.facts(plan.target)
    held = tuple(blocking.busy(await house.journal.holding(plan.target)))
    part = await (_whole if options.part == "agent" else _one_part)(house, opened, plan, facts)
    return msgspec.structs.replace(part, blockers=(*held, *part.blockers))


def _blocker(error: PinfoldError) -> Blocker:
    return Blocker(f"{error.what}: {error.why}" if error.why else error.what, error.fix)


def _state(opened: OpenArchive) -> Iterator[Blocker]:
    if opened.archive.state is not ArchiveState.SEALED:
        yield Blocker(f"{opened.archive.id} is {opened.archive.state.value}", opened.archive.problem)


# --- a whole agent


async def _whole(house: House, opened: OpenArchive, plan: Plan, facts: Facts) -> Plan:
    owned = await house.database.read(lambda c: read_owned(c, plan.target))
    blockers = list(blocking.taken_alias(house.home, plan.target, owned, ()))
    try:
        rewrites = tuple(_rewrites(plan, facts.files, opened.manifest.references))
    except ConfigError as error:
        rewrites = ()
        blockers.append(Blocker(str(error), "Leave that reference out."))
    would_be = await house.calls.run(house.agents.as_if, plan.target, await opened.agent_file())
    blockers += await blocking.inherited_rows(house, would_be, plan.target)
    workspace = await workspace_of(house, opened)
    notes = await house.calls.run(lambda: tuple(_notes(workspace, opened, plan, facts)))
    return msgspec.structs.replace(
        plan,
        blockers=tuple(blockers),
        references=tuple(_offered(plan, opened.manifest.references, facts.files)),
        rewrites=rewrites,
        effects=tuple(_effects(house, opened, plan)),
        notes=notes,
        steps=(*(PlannedStep(name, text, subject) for name, subject, text in WHOLE), *_reference_steps(rewrites)),
        point_of_no_return="place",
    )


def reference_key(reference: KeptReference) -> str:
    """How an operator names a dropped reference: `lead:agent.delegates[0]`."""
    return f"{reference.file}:{reference.key}"


def chosen(plan: Plan, kept: tuple[KeptReference, ...]) -> tuple[KeptReference, ...]:
    """The dropped references to be put back; `*` is all of them."""
    wanted = plan.options.references
    return tuple(one for one in kept if "*" in wanted or reference_key(one) in wanted)


def restored_file(file: TomlFile, kept: tuple[KeptReference, ...], alias: str) -> bytes:
    """A file with references put back.

    Raises:
        ConfigError: One cannot be put back without touching something else.
    """
    found = tuple(Dropped.read(one.key, one.value) for one in kept)
    return rewriting.restored(file.data, found, alias, file.path)


def _rewrites(plan: Plan, files: tuple[TomlFile, ...], kept: tuple[KeptReference, ...]) -> Iterator[Rewrite]:
    for file in files:
        mine = tuple(one for one in chosen(plan, kept) if one.file == (file.owner or "pinfold.toml"))
        data = restored_file(file, mine, plan.target) if mine and not file.problem else file.data
        if data != file.data:
            changes = tuple(KeyChange(one.key, 0, "", one.value) for one in mine)
            yield rewriting.rewrite_of(file, data, changes)


def _reference_steps(rewrites: tuple[Rewrite, ...]) -> Iterator[PlannedStep]:
    for rewrite in rewrites:
        yield PlannedStep("references", f"put back what {rewrite.owner or 'pinfold.toml'} said of it", rewrite.owner)


def _offered(plan: Plan, kept: tuple[KeptReference, ...], files: tuple[TomlFile, ...]) -> Iterator[Reference]:
    """Every reference that was dropped, whether it is to be put back or not."""
    there = {file.owner or "pinfold.toml": file for file in files}
    wanted = chosen(plan, kept)
    for one in kept:
        file = there.get(one.file)
        state = "will be put back" if one in wanted else "was dropped, and can be put back"
        yield Reference(
            kind=_KINDS.get(one.key.partition(".")[0], "read_memory_from"),
            owner="" if one.file == "pinfold.toml" else one.file,
            text=f"{one.file}: {state}" if file else f"{one.file} is there no more, so this cannot be put back",
            file=str(file.path) if file else "",
            key=one.key,
            value=one.value,
        )


def _effects(house: House, opened: OpenArchive, plan: Plan) -> Iterator[Effect]:
    yield Effect(action="restored", what="the agent", target=str(house.home.agent_dir(plan.target)))
    for count in opened.manifest.counts:
        if count.exported:
            yield Effect(action="restored", what=count.what, rows=count.exported)


class Workspace(msgspec.Struct, frozen=True):
    """Where an agent's workspace is to be.

    Attributes:
        elsewhere: Absolute; None when it is in the agent's directory.
        inside: Its place in the agent's directory, when it is there.
    """

    elsewhere: Path | None
    inside: str = ""


async def workspace_of(house: House, opened: OpenArchive) -> Workspace:
    """Read where a workspace is to be from the `agent.toml` in the archive, as seen from this home."""
    return _workspace_in(await opened.agent_file(), house.home.agent_file(opened.manifest.agent.alias))


def _workspace_in(data: bytes, file: Path) -> Workspace:
    table = table_in(data, file) if data else {}
    path = next((one.text for one in mentions_in_agent(table) if one.kind == "workspace"), "")
    own = file.parent
    place = os.path.normpath(own / Path(path or "workspace").expanduser())
    if place.startswith(f"{own}/"):
        return Workspace(None, place[len(str(own)) + 1 :])
    return Workspace(Path(place))


def is_taken(place: Path) -> bool:
    """Whether anything is in a place where a workspace would be unpacked."""
    if not os.path.lexists(place):
        return False
    return not place.is_dir() or any(place.iterdir())


def _notes(workspace: Workspace, opened: OpenArchive, plan: Plan, facts: Facts) -> Iterator[str]:
    place = workspace.elsewhere
    if place is not None and is_taken(place):
        yield f"{place} is there, and stays as it is; single files can be restored from the archive"
    elif place is not None:
        yield f"the workspace is unpacked at {place}"
    if opened.manifest.left_out:
        yield f"{len(opened.manifest.left_out):,} things of the workspace were not kept; the archive names them"
    if not opened.vouched:
        yield "nothing vouches for this archive: the index does not know it"
    for file in facts.files:
        if any(mention.is_alias and mention.text == plan.target for mention in file.mentions):
            yield f"{file.owner or 'pinfold.toml'} names {plan.target} already"


# --- one part of an agent


async def _one_part(house: House, opened: OpenArchive, plan: Plan, facts: Facts) -> Plan:
    if facts.agent is None or facts.agent.config is None:
        reason = (
            f"there is no agent {plan.target}" if facts.agent is None else f"the file of {plan.target} is not usable"
        )
        return msgspec.structs.replace(plan, blockers=(Blocker(reason, "Restore the whole agent instead."),))
    look = {"config": _config, "memory": _memory, "files": _files}[plan.options.part]
    try:
        part = await look(house, opened, plan, facts.agent)
    except PinfoldError as error:
        return msgspec.structs.replace(plan, blockers=(_blocker(error),))
    live = [session for session in facts.sessions if session.state.live]
    running = tuple(
        Blocker(f"session {session.id} is {session.state.value}", f"Stop it: pinfold sessions stop {session.id}")
        for session in live
        if plan.options.part == "files"
    )
    subject = plan.options.part
    return msgspec.structs.replace(
        part,
        blockers=(*running, *part.blockers),
        steps=(PlannedStep("verify", "verify the archive"), PlannedStep("part", _PART_TEXTS[subject], subject)),
        point_of_no_return="part",
    )


_PART_TEXTS = {
    "config": "write its agent.toml, and keep the one it replaces",
    "memory": "restore its memories",
    "files": "unpack the files",
}


def _overwriting(plan: Plan, what: str) -> tuple[Blocker, ...]:
    return () if plan.options.overwrite else (Blocker(what, "Allow it to overwrite."),)


async def _config(house: House, opened: OpenArchive, plan: Plan, agent: Agent) -> Plan:
    data = await opened.agent_file()
    now = next(file for file in (await house.facts(plan.target)).files if file.owner == plan.target)
    would_be = await house.calls.run(house.agents.as_if, plan.target, data)
    errors = tuple(Blocker(str(one)) for one in would_be.problems if one.severity == "error")
    diff = masked_diff(now.data, data, agent.file.name)
    same = data == now.data
    changed = () if same else _overwriting(plan, f"{agent.file} says something else")
    rewrite = Rewrite(plan.target, str(agent.file), rewriting.digest_of(now.data), (), diff)
    return msgspec.structs.replace(
        plan,
        blockers=(*errors, *changed),
        rewrites=() if same else (rewrite,),
        notes=("agent.toml is as it was already",) if same else (),
    )


async def _memory(house: House, opened: OpenArchive, plan: Plan, agent: Agent) -> Plan:
    if house.backend(agent).name == "none":
        told = Blocker(f"{agent.alias} keeps no memories: its back-end is none", "Choose another back-end first.")
        return msgspec.structs.replace(plan, blockers=(told,))
    kept: set[str] = set()
    async for page in opened.memory():
        kept.update(row.key for row in page)
    there: set[str] = set()
    async for rows in house.backend(agent).read_out(Owner(agent.alias, agent.workspace)):
        there.update(row.key for row in rows)
    both = len(kept & there)
    effects = [Effect(action="restored", what="memories", rows=len(kept))]
    if both:
        effects.append(Effect(action="rewritten", what="memories with the same key", rows=both))
    blockers = _overwriting(plan, f"memories with the same key are there: {both:,}") if both else ()
    return msgspec.structs.replace(plan, blockers=blockers, effects=tuple(effects))


async def _files(house: House, opened: OpenArchive, plan: Plan, agent: Agent) -> Plan:
    path = plan.options.path.strip("/") or "workspace"
    tree = await result_of(opened.tree())
    members = [one for one in tree.members if one.path == path or one.path.startswith(f"{path}/")]
    members = [one for one in members if one.path.startswith("workspace/")]
    if not members:
        return msgspec.structs.replace(plan, blockers=(Blocker(f"{path} is not in the workspace of the archive"),))
    places = [agent.workspace / one.path.removeprefix("workspace/") for one in members if one.kind != "folder"]
    taken = await house.calls.run(lambda: [place for place in places if os.path.lexists(place)])
    size = sum(one.size for one in members)
    effects = [Effect(action="restored", what=path, target=str(agent.workspace), files=len(places), size=size)]
    if taken:
        effects.append(Effect(action="rewritten", what="files that are there", files=len(taken)))
    more = f" and {len(taken) - 1:,} more" if len(taken) > 1 else ""
    blockers = _overwriting(plan, f"{taken[0]}{more} would be replaced") if taken else ()
    return msgspec.structs.replace(plan, blockers=blockers, effects=tuple(effects))
