"""The steps of a restore: verified first, unpacked beside the place, put there by one rename, then all the rest."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path
from typing import Literal

from services.agents import mentions_in_agent, table_in
from services.archives import ArchiveDraft, ArchiveKind, Extraction, KeptEntry, KeptSession, OpenArchive, Sealing
from services.errors import FileConflict, OperationError, OperationRefused, PinfoldError
from services.home import MISSING, FileText, make_directory, read_file, write_whole
from services.memory import (
    ArchiveEntry,
    Owner,
    Scope,
    ScopeKind,
    TenantContent,
    adopt_contexts,
    restore_tenants,
    restore_uuid,
)
from services.operations import restoring, rewriting
from services.operations.exporting import exported
from services.operations.house import House
from services.operations.journal import note_in
from services.operations.model import Operation
from services.operations.moving import Rename, remove_directory, rename_directory, sync_tree
from services.operations.references import TomlFile, read_files
from services.operations.running import Course, Run
from services.sandbox import OnceMarkers, read_record, restore_session

_TRIES = 3
_NAMED = 5
_LIMIT = 1024 * 1024
_STAYS = "its workspace stays as it is"


async def _opened(run: Run) -> OpenArchive:
    return await run.house.archives.open(run.operation.archive)


def staging_of(house: House, operation: Operation) -> Path:
    """Where an agent is made, hidden and beside its place."""
    return house.home.agents_dir / f".{operation.target}-{operation.id}.new"


async def _verify(run: Run) -> str:
    found = await run.work(run.house.archives.verify(run.operation.archive), "verifying")
    if not found.intact:
        named = "; ".join(f"{one.name} {one.kind.value}: {one.why}" for one in found.findings[:_NAMED])
        raise OperationError(f"the archive {run.operation.archive} is not intact", why=named)
    return f"{found.files:,} files are as they were"


async def _extract(run: Run) -> str:
    """Unpack `agent.toml` and the workspace into a directory of its own."""
    house, opened = run.house, await _opened(run)
    staging = staging_of(house, run.operation)
    await house.calls.run(remove_directory, staging)
    await house.calls.run(make_directory, staging)
    data = _renamed_inside(house, await opened.agent_file(), opened.manifest.agent.alias, run.target)
    await house.calls.run(lambda: write_whole(staging / "agent.toml", data, expected=MISSING))
    workspace = await restoring.workspace_of(house, opened)
    told = _STAYS
    if workspace.elsewhere is None:
        told = await _unpack(run, opened, staging / workspace.inside)
    elif not await house.calls.run(restoring.is_taken, workspace.elsewhere):
        told = await _unpack(run, opened, workspace.elsewhere)
    await house.calls.run(sync_tree, staging)
    return told


async def _unpack(run: Run, opened: OpenArchive, target: Path) -> str:
    done: Extraction = await run.work(opened.extract(target), "unpacking")
    for refused in done.refused[:_NAMED]:
        run.warnings.append(f"{refused.name} was not restored: {refused.reason.value}")
    if len(done.refused) > _NAMED:
        run.warnings.append(f"{len(done.refused) - _NAMED:,} more were not restored")
    return f"{done.written:,} files"


def _renamed_inside(house: House, data: bytes, alias: str, target: str) -> bytes:
    """The agent's own file with paths into its own directory under the alias it gets."""
    if alias == target or not data:
        return data
    path = house.home.agent_file(alias)
    file = TomlFile(alias, path, data, tuple(mentions_in_agent(table_in(data, path))))
    return rewriting.renamed(file, alias, target, house.home, house.agents)[0]


async def _place(run: Run) -> str:
    """Put the agent among the agents by one rename; an alias taken meanwhile is refused under the lock."""
    house = run.house
    staging, place = staging_of(house, run.operation), house.home.agent_dir(run.target)
    await house.calls.run(_put, staging, place, house.rename)
    await house.agents.load()
    return str(place)


def _put(staging: Path, place: Path, rename: Rename) -> None:
    if not staging.exists() and place.exists():  # it was put there before a crash
        return
    if os.path.lexists(place):
        raise OperationRefused(f"{place} was taken meanwhile", fix="Restore under another alias.")
    rename_directory(staging, place, rename)


async def _restore(run: Run) -> str:
    return await _RESTORES[run.step.subject](run, await _opened(run))


async def _restore_memory(run: Run, opened: OpenArchive) -> str:
    house = run.house
    agent = house.agents.get(run.target)
    backend, owner = house.backend(agent), Owner(run.target, agent.workspace)
    if backend.name in ("markdown", "none") and run.step.name == "restore":
        return "its rows are in its workspace"
    uuid = opened.manifest.agent.uuid
    if backend.name == "sqlite" and run.step.name == "restore":
        await house.database.write(lambda c: restore_uuid(c, run.target, uuid, house.now()))
    count = 0
    async for page in opened.memory():
        count += await backend.take_in(owner, page)
        run.tell("restoring memories", count, 0, "rows")
    return f"{count:,} memories"


async def _restore_core(run: Run, opened: OpenArchive) -> str:
    entries: dict[int, list[KeptEntry]] = {}
    async for page in opened.archive_entries():
        for entry in page:
            entries.setdefault(entry.tenant, []).append(entry)
    kept: list[TenantContent] = []
    async for tenants in opened.core_blocks():
        for one in tenants:
            mine = [ArchiveEntry(entry.id, entry.content, entry.created_at) for entry in entries.get(one.tenant.id, ())]
            kept.append(TenantContent(one.tenant, one.blocks, one.history, mine))
    if run.step.result:
        return run.step.result

    def job(connection: sqlite3.Connection) -> str:
        count = restore_tenants(connection, kept, run.target, run.house.now())
        done = f"core memory of {count} tenants"
        note_in(connection, run.operation.id, run.step.number, done)
        return done

    return await run.house.database.write(job)


async def _restore_scopes(run: Run, opened: OpenArchive) -> str:
    """Restore keys, and give the contexts back that the delete left behind as nobody's."""
    house, keys = run.house, 0
    with opened.scopes() as file:
        async for progress in house.memory.transfer.take_in(file):
            keys = progress.keys
            run.tell("restoring keys", keys, 0, "keys")
    scopes: list[Scope] = []
    for delete in await house.journal.deletes_into(run.operation.archive):
        scopes += [Scope.parse(text) for text in exported(delete.steps, "scopes").ids]
    contexts = [scope.id for scope in scopes if scope.kind is ScopeKind.CONTEXT]
    await house.database.write(lambda c: adopt_contexts(c, contexts, run.target))
    return f"{keys:,} keys"


async def _restore_sessions(run: Run, opened: OpenArchive) -> str:
    house = run.house
    sessions = await opened.sessions()
    restored = 0
    for number, kept in enumerate(sessions, start=1):
        run.tell(f"restoring session {kept.id}", number, len(sessions), "sessions")
        try:
            record = read_record(kept.record)
        except PinfoldError as error:
            run.warnings.append(str(error))
            continue
        if record.session.id != kept.id:
            run.warnings.append(f"session {kept.id} was not restored: its record is of another")
            continue
        await house.calls.run(_copy_output, kept, house.home.session_dir(kept.id) / "output")
        if await house.database.write(lambda c: restore_session(c, record, run.target)):  # noqa: B023
            restored += 1
    await _restore_once(run)
    return f"{restored:,} sessions"


async def _restore_once(run: Run) -> None:
    """Mark prepare steps as done that left what they did in the workspace, if that is the one of the archive."""
    house = run.house
    workspace = house.agents.get(run.target).workspace
    replaced = any(step.name == "extract" and step.detail == _STAYS for step in run.operation.steps)
    for delete in await house.journal.deletes_into(run.operation.archive):
        found = exported(delete.steps, "workspace")
        if found.stays or not replaced:
            await house.calls.run(OnceMarkers(house.home).restore, run.target, workspace, found.prepared)


def _copy_output(kept: KeptSession, output: Path) -> None:
    """Copy a spool to where nothing is; half a copy of before a crash is made anew."""
    if output.exists() or not kept.output.is_dir():
        return
    make_directory(output.parent)
    fresh = output.with_name(f".{output.name}.new")
    remove_directory(fresh)
    shutil.copytree(kept.output, fresh, symlinks=True)
    sync_tree(fresh)
    rename_directory(fresh, output)


async def _references(run: Run) -> str:
    house, owner = run.house, run.step.subject
    opened = await _opened(run)
    kept = restoring.chosen(run.operation.plan, opened.manifest.references)
    mine = tuple(one for one in kept if one.file == (owner or "pinfold.toml"))
    for attempt in range(_TRIES):
        files = await house.calls.run(read_files, house.home, house.agents)
        file = next((file for file in files if file.owner == owner), None)
        if file is None or file.problem:
            run.warnings.append(f"{owner or 'pinfold.toml'} cannot be used, so nothing was put back there")
            return "nothing"
        data = restoring.restored_file(file, mine, run.target)
        try:
            await house.calls.run(lambda: rewriting.write_file(house.home, file, data, locked=owner == run.target))  # noqa: B023
        except FileConflict:  # somebody wrote it in this moment
            if attempt == _TRIES - 1:
                raise
        else:
            await house.agents.load()
            return f"{len(mine)} places"
    raise AssertionError("unreachable")


# --- one part


async def _part(run: Run) -> str:
    return await _PARTS[run.step.subject](run, await _opened(run))


async def _part_config(run: Run, opened: OpenArchive) -> str:
    """Write `agent.toml`; what it replaces is kept in an archive of its own first."""
    house = run.house
    file = house.agents.get(run.target).file
    data = await opened.agent_file()
    now = (await house.calls.run(read_file, file, _LIMIT)).data
    if now == data:
        return "it is as it was already"
    if not run.step.result:
        writer = await house.archives.create(ArchiveDraft(ArchiveKind.RESTORE, run.target, actor=run.operation.by))
        await run.work(writer.write_agent_file(now), "keeping")
        await writer.seal(Sealing())
        await run.note(writer.id)
        kept = writer.id
    else:
        kept = run.step.result
    await house.calls.run(lambda: write_whole(file, data, expected=FileText(file, now, MISSING)))
    await house.agents.load()
    return f"what it replaces is in {kept}"


async def _part_files(run: Run, opened: OpenArchive) -> str:
    workspace = run.house.agents.get(run.target).workspace
    options = run.operation.plan.options
    existing: Literal["refuse", "replace"] = "replace" if options.overwrite else "refuse"
    path = options.path.strip("/")
    work = opened.extract(workspace, (path,) if path and path != "workspace" else (), existing=existing)
    done: Extraction = await run.work(work, "unpacking")
    for refused in done.refused:
        run.warnings.append(f"{refused.name} was not restored: {refused.reason.value}")
    return f"{done.written:,} files"


async def _undo(house: House, operation: Operation) -> None:
    """Remove what was unpacked and is in nobody's place."""
    await house.calls.run(remove_directory, staging_of(house, operation))


_RESTORES = {
    "memory": _restore_memory,
    "core memory": _restore_core,
    "scopes": _restore_scopes,
    "sessions": _restore_sessions,
}
_PARTS = {"config": _part_config, "memory": _restore_memory, "files": _part_files}

COURSE = Course(
    steps={
        "verify": _verify,
        "extract": _extract,
        "place": _place,
        "restore": _restore,
        "references": _references,
        "part": _part,
    },
    undo=_undo,
)
"""How a restore is carried out."""
