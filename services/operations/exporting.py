"""The steps of a delete that change nothing: everything written to the archive, synced, read back and counted."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import msgspec

from services.archives import ArchiveDraft, ArchiveKind, ArchiveState, ArchiveWriter, Part, Wanted
from services.errors import ArchiveError, OperationError
from services.home import Home, read_file
from services.memory import (
    Fingerprint,
    Listing,
    Owner,
    Scope,
    ScopeKind,
    Tenant,
    agent_uuid,
    contexts_of,
    fingerprint,
)
from services.memory.agents import Backend
from services.operations.deleting import stays_in_place
from services.operations.house import House
from services.operations.model import Operation, Step
from services.operations.moving import remove_directory
from services.operations.row_digests import RowsDigest
from services.operations.running import Run
from services.operations.stamps import save_stamps, stamps_of
from services.sandbox import OnceMarkers, record_of

_TRIES = 3
_NAMED = 5
_AGENT_FILE_LIMIT = 1024 * 1024


class Exported(msgspec.Struct, frozen=True):
    """What an export step found; kept in the journal for the steps that remove it.

    Attributes:
        items: Rows, files or sessions in the archive.
        ids: Of sessions, contexts or tenants.
        rows: The state of the memory that was exported, where it is in SQLite.
        digest: Of its rows, where it is elsewhere.
        backend: The back-end of the memory.
        workspace: Where it was; below the agent's directory when it is `own`.
        stays: Why it is not removed; "" when it is.
        own: It is in the agent's own directory.
        link: A link in the agent's directory that leads to it; "" when there is none.
        prepared: The markers of prepare steps that were done there and run once.
    """

    items: int = 0
    ids: tuple[str, ...] = ()
    rows: Fingerprint | None = None
    digest: str = ""
    backend: str = ""
    workspace: str = ""
    stays: str = ""
    own: bool = False
    link: str = ""
    prepared: tuple[str, ...] = ()


def exported(steps: Sequence[Step], subject: str) -> Exported:
    """What the export of a part found, by the steps of a delete."""
    results = (step.result for step in steps if (step.name, step.subject) == ("export", subject))
    result = next(results, "")
    return msgspec.json.decode(result, type=Exported) if result else Exported()


def own_directory(home: Home, operation: str) -> Path:
    """Where an operation keeps what it needs after a crash."""
    return home.state_dir / "operations" / operation


def stamps_file(home: Home, operation: str) -> Path:
    """Where the stamps of a packed workspace are."""
    return own_directory(home, operation) / "workspace.stamps"


def aside(run: Run) -> Path:
    """Where an agent's directory is while it is removed: hidden, and nobody's."""
    directory = run.house.home.agent_dir(run.alias)
    return directory.with_name(f".{run.alias}-{run.operation.id}.deleted")


async def begin_archive(run: Run) -> str:
    """Begin the archive, unless this operation has one."""
    house = run.house
    if run.operation.archive:
        return f"goes on with {run.operation.archive}"
    agent = house.agents.get(run.alias)
    uuid = await house.database.read(lambda c: agent_uuid(c, run.alias))
    backend = agent.config.memory.backend if agent.config else ""
    draft = ArchiveDraft(ArchiveKind.DELETE, run.alias, uuid, run.operation.by, str(agent.workspace), backend)
    writer = await house.archives.create(draft)
    await house.journal.name_archive(run.operation.id, writer.id)
    return writer.id


async def writer_of(run: Run) -> ArchiveWriter:
    """The archive of this operation."""
    return await run.writer.of(run.operation.archive)


async def export(run: Run) -> str:
    """Write one part of the archive, and note what was written."""
    found = await _EXPORTS[run.step.subject](run, await writer_of(run))
    await run.note(msgspec.json.encode(found).decode())
    return f"{found.items:,} kept"


async def undo_export(house: House, operation: Operation) -> None:
    """Remove an archive that is not to be; what cannot be removed is listed as unsealed."""
    named = {other.archive for other in await house.journal.all() if other.id != operation.id}
    for archive in await house.archives.list(Wanted(operation.alias, state=ArchiveState.UNSEALED)):
        if archive.id in named:  # others were begun and not named before a crash
            continue
        try:
            await (await house.archives.resume(archive.id)).discard()
        except ArchiveError as error:
            if not await house.calls.run(_remove_unbegun, archive.path):
                warning = f"the unfinished archive {archive.id} is still there: {error}"
                await house.journal.warn(operation.id, [warning])
    await house.journal.name_archive(operation.id, "")
    await house.calls.run(remove_directory, own_directory(house.home, operation.id))


def _remove_unbegun(directory: Path) -> bool:
    """Remove the directory of an archive in which no part was written; tell whether it is gone."""
    hidden = directory.name.startswith(".") and directory.is_dir() and not directory.is_symlink()
    if hidden and all(entry.name.startswith(".") for entry in directory.iterdir()):
        remove_directory(directory)
    return not directory.exists()


async def pack_workspace(run: Run, writer: ArchiveWriter, workspace: Path) -> Part:
    """Pack a workspace until it is in the archive as it is on the disk, with the stamps that tell so.

    Raises:
        OperationError: It changes all the time, or something in it cannot be read.
    """
    house = run.house
    for attempt in range(_TRIES):
        before = await house.calls.run(stamps_of, workspace)
        part = await run.work(writer.pack_workspace(workspace), "packing")
        after = await house.calls.run(stamps_of, workspace)
        if before == after and not part.losses:
            await house.calls.run(save_stamps, stamps_file(house.home, run.operation.id), after)
            return part
        await writer.drop(part.name)
        if part.losses and attempt == _TRIES - 1:
            named = ", ".join(f"{one.name} ({one.reason.value})" for one in part.losses[:_NAMED])
            more = f" and {len(part.losses) - _NAMED:,} more" if len(part.losses) > _NAMED else ""
            raise OperationError(
                "the workspace cannot be kept whole", why=f"{named}{more}", fix="See to these files, and retry."
            )
    raise OperationError("the workspace changes all the time", fix="Stop what writes there, and retry.")


async def export_memory(run: Run, writer: ArchiveWriter, backend: Backend, owner: Owner) -> Exported:
    """Export rows until the archive has what the back-end has.

    Raises:
        OperationError: They change all the time.
    """
    for _ in range(_TRIES):
        before, digest, rows = await _state(run.house, backend, owner), RowsDigest(), backend.read_out(owner)
        if backend.name != "sqlite":
            rows = digest.over(rows)
        part = await run.work(writer.write_memory(rows, before.count), "exporting")
        after = await _state(run.house, backend, owner)
        if before == after and part.items == after.count:
            return Exported(part.items, rows=after, digest=digest.text, backend=backend.name)
        await writer.drop(part.name)
    raise OperationError("its memory changes all the time", fix="Stop what writes there, and retry.")


async def _state(house: House, backend: Backend, owner: Owner) -> Fingerprint:
    if backend.name == "sqlite":
        return await house.database.read(lambda c: fingerprint(c, owner.alias))
    return Fingerprint(await backend.count(owner, Listing(superseded=True)), 0, 0, 0, 0)


async def _agent_file(run: Run, writer: ArchiveWriter) -> Exported:
    file = run.house.agents.get(run.alias).file
    data = (await run.house.calls.run(read_file, file, _AGENT_FILE_LIMIT)).data
    part = await run.work(writer.write_agent_file(data), "keeping")
    return Exported(part.items)


async def _workspace(run: Run, writer: ArchiveWriter) -> Exported:
    house = run.house
    agent = house.agents.get(run.alias)
    top = house.home.agent_dir(run.alias)
    place = await house.calls.run(lambda: agent.workspace.resolve())
    part = await pack_workspace(run, writer, place)
    stays = stays_in_place(house, agent, run.operation.plan.options)
    real = await house.calls.run(lambda: top.resolve())
    own = place.is_relative_to(real)
    linked = agent.workspace.is_relative_to(top) and agent.workspace.is_symlink()
    return Exported(
        part.items,
        workspace=str(place.relative_to(real) if own else place),
        stays=stays,
        own=own,
        link=str(agent.workspace.relative_to(top)) if linked else "",
        prepared=await house.calls.run(OnceMarkers(house.home).of, run.alias, place),
    )


async def _memory(run: Run, writer: ArchiveWriter) -> Exported:
    agent = run.house.agents.get(run.alias)
    return await export_memory(run, writer, run.house.backend(agent), Owner(run.alias, agent.workspace))


async def _core_memory(run: Run, writer: ArchiveWriter) -> Exported:
    tenants = await tenants_below(run.house, run.alias)
    core = run.house.core
    blocks = await run.work(writer.write_core_blocks(core, tenants), "exporting")
    entries = await run.work(writer.write_archive_entries(core, tenants), "exporting")
    return Exported(blocks.items + entries.items, tuple(str(tenant.id) for tenant in tenants))


async def tenants_below(house: House, alias: str) -> list[Tenant]:
    """An agent's own tenant and all below it, each after its parent."""
    everyone = await house.core.tenants.all()
    found = [tenant for tenant in everyone if tenant.parent is None and tenant.agent == alias]
    for tenant in found:
        found += [other for other in everyone if other.parent == tenant.id]
    return found


async def _scopes(run: Run, writer: ArchiveWriter) -> Exported:
    """The keys of its contexts, and those that its sessions have under their own ids."""
    house = run.house
    contexts = await house.database.read(lambda c: contexts_of(c, run.alias))
    sessions = [session.id for session in await house.sandboxes.sessions() if session.agent == run.alias]
    ids = dict.fromkeys((*(context.id for context in contexts), *sessions))
    scopes = [Scope(ScopeKind.CONTEXT, one) for one in ids] + [Scope(ScopeKind.CHAT, one) for one in sessions]
    part = await run.work(writer.write_scopes(house.memory.transfer, scopes), "exporting")
    return Exported(part.items, tuple(str(scope) for scope in scopes))


async def _sessions(run: Run, writer: ArchiveWriter) -> Exported:
    house = run.house
    sessions = [session for session in await house.sandboxes.sessions() if session.agent == run.alias]
    for number, session in enumerate(sessions, start=1):
        if session.state.live:
            raise OperationError(f"session {session.id} is {session.state.value}", fix="Stop it first.")

        def job(connection: sqlite3.Connection, session: str = session.id) -> bytes:
            return record_of(connection, session)

        run.tell(f"exporting session {session.id}", number, len(sessions), "sessions")
        output = house.home.session_dir(session.id) / "output"
        await run.work(writer.write_session(session.id, await house.database.read(job), output), "exporting")
    return Exported(len(sessions), tuple(session.id for session in sessions))


_EXPORTS = {
    "agent.toml": _agent_file,
    "workspace": _workspace,
    "memory": _memory,
    "core memory": _core_memory,
    "scopes": _scopes,
    "sessions": _sessions,
}
