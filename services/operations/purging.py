"""The steps of a delete that change something; nothing goes that is not verified in the archive."""

from __future__ import annotations

from pathlib import Path

import msgspec

from services.agents import Dropped
from services.archives import Count, Sealing, StepResult
from services.archives import Reference as KeptReference
from services.errors import FileConflict, OperationError, SessionNotFound
from services.home import read_file
from services.operations import rewriting
from services.operations.deleting import PARTS
from services.operations.emptying import purge_memory
from services.operations.exporting import (
    aside,
    begin_archive,
    export,
    exported,
    own_directory,
    pack_workspace,
    stamps_file,
    undo_export,
    writer_of,
)
from services.operations.model import Step
from services.operations.moving import Moved, move_directory, remove_directory, replace_by_copy
from services.operations.references import read_files
from services.operations.running import Course, Run
from services.operations.stamps import load_stamps, remove_known, strangers
from services.sandbox import OnceMarkers

_TRIES = 3
_NAMED = 5
_REMOVING = "removing"


async def _remove(run: Run) -> str:
    """Take the directory out of the agents by one rename; from then on there is no such agent."""
    house = run.house
    place, hidden = house.home.agent_dir(run.alias), aside(run)
    staging = hidden.with_suffix(".copy")
    if run.step.result != "copied":
        moved, _ = await house.calls.run(move_directory, place, hidden, staging, house.rename, run.teller())
        if moved is not Moved.COPIED:
            await house.agents.load()
            return f"it is at {hidden} until it is removed"
        await run.note("copied")
    await house.calls.run(replace_by_copy, place, hidden, staging)
    await house.agents.load()
    return f"it is at {hidden} until it is removed"


async def _references(run: Run) -> str:
    """Drop what one file says of the agent; what is dropped is noted first, so that a restore can offer it back."""
    house, owner = run.house, run.step.subject
    noted = _noted(run.step)
    for attempt in range(_TRIES):
        files = await house.calls.run(read_files, house.home, house.agents)
        file = next((file for file in files if file.owner == owner), None)
        if file is None:
            return "is there no more"
        if file.problem:
            raise OperationError(f"{file.path} cannot be used", why=file.problem, fix="Mend the file, and retry.")
        data, gone = await house.calls.run(rewriting.dropped, file, run.alias, house.home, house.agents)
        noted = {**noted, **{(one.key, one.entry): _kept(owner, one) for one in gone}}
        await run.note(msgspec.json.encode(list(noted.values())).decode())
        try:
            await house.calls.run(lambda: rewriting.write_file(house.home, file, data, locked=False))  # noqa: B023
        except FileConflict:  # somebody wrote it in this moment
            if attempt == _TRIES - 1:
                raise
        else:
            await house.agents.load()
            return f"{len(noted)} places"
    raise AssertionError("unreachable")


def _kept(owner: str, one: Dropped) -> KeptReference:
    return KeptReference(owner or "pinfold.toml", one.key, one.entry)


def _noted(step: Step) -> dict[tuple[str, str], KeptReference]:
    found = msgspec.json.decode(step.result, type=list[KeptReference]) if step.result else []
    return {(one.key, one.value): one for one in found}


async def _purge(run: Run) -> str:
    return await _PURGES[run.step.subject](run)


async def _purge_sessions(run: Run) -> str:
    """Remove every exported session with its sandbox, record and output."""
    ids = exported(run.operation.steps, "sessions").ids
    for number, session in enumerate(ids, start=1):
        run.tell(f"removing session {session}", number, len(ids), "sessions")
        try:
            await run.house.sandboxes.remove(session)
        except SessionNotFound:
            continue
    return f"{len(ids)} sessions"


async def _purge_files(run: Run) -> str:
    """Remove the workspace and the directory, file by file, as far as each is what was packed."""
    house = run.house
    found = exported(run.operation.steps, "workspace")
    hidden = aside(run)
    workspace = hidden / found.workspace if found.own else Path(found.workspace)
    stamps = stamps_file(house.home, run.operation.id)
    if not found.stays:
        if run.step.result != _REMOVING:
            await _pack_again(run, workspace)
            await run.note(_REMOVING)
        known = await house.calls.run(load_stamps, stamps)
        left = await house.calls.run(remove_known, workspace, known, run.teller())
        if left:
            named = ", ".join(left[:_NAMED])
            raise OperationError(
                f"{len(left):,} files of {workspace} are not in the archive and stay", why=named, fix="Move them away."
            )
    await _keep_agent_file(run, hidden / "agent.toml")
    await house.calls.run(_remove_own_directory, hidden, found.link)
    await house.calls.run(OnceMarkers(house.home).forget, run.alias)
    await house.calls.run(remove_directory, own_directory(house.home, run.operation.id))
    return "stays where it is" if found.stays else "removed"


async def _pack_again(run: Run, workspace: Path) -> None:
    """Pack a workspace anew that changed after it was packed; most have not."""
    house = run.house
    known = await house.calls.run(load_stamps, stamps_file(house.home, run.operation.id))
    for _ in range(_TRIES):
        if not await house.calls.run(strangers, workspace, known):
            return
        writer = await writer_of(run)
        if writer.workspace:
            await writer.drop(writer.workspace.name)
        await pack_workspace(run, writer, workspace)
        known = await house.calls.run(load_stamps, stamps_file(house.home, run.operation.id))
    raise OperationError(f"{workspace} changes all the time", fix="Stop what writes there, and retry.")


async def _keep_agent_file(run: Run, file: Path) -> None:
    """Keep `agent.toml` anew if somebody wrote it after it was kept."""
    writer = await writer_of(run)
    kept = (await run.house.calls.run(read_file, writer.directory / file.name)).data
    try:
        now = (await run.house.calls.run(read_file, file)).data
    except FileNotFoundError:
        return
    if now != kept:
        await writer.drop(file.name)
        await run.work(writer.write_agent_file(now), "keeping")


def _remove_own_directory(hidden: Path, link: str) -> None:
    """Remove what is left of an agent's directory: its `agent.toml`, empty folders, and a link to its workspace."""
    for path in hidden.rglob("*") if hidden.is_dir() else []:
        known = path == hidden / "agent.toml" or (link and path == hidden / link)
        if not known and (path.is_symlink() or not path.is_dir()):
            raise OperationError(f"{path} is not in the archive and stays", fix="Move it away, and retry.")
    remove_directory(hidden)


async def _seal(run: Run) -> str:
    """Seal the archive; after a crash it may have its name already and not be in the index yet."""
    await (await writer_of(run)).seal(_sealing(run))
    return run.operation.archive


def _sealing(run: Run) -> Sealing:
    steps = run.operation.steps
    references = [one for step in steps if step.name == "references" for one in _noted(step).values()]
    counts = []
    for subject in ("memory", "core memory", "scopes", "sessions", "workspace"):
        found = exported(run.operation.steps, subject)
        stays = subject == "workspace" and found.stays
        counts.append(Count(subject, found.items, found.items, 0 if stays else found.items))
    results = [
        StepResult(f"{step.name} {step.subject}".strip(), step.state, step.detail, step.ended_at or 0)
        for step in steps
        if step.name != "seal"
    ]
    return Sealing(
        counts=tuple(counts),
        steps=tuple(results),
        references=tuple(references),
        warnings=run.operation.warnings,
    )


_PURGES = {"sessions": _purge_sessions, "memory": purge_memory, "files": _purge_files}

COURSE = Course(
    steps={
        "archive": begin_archive,
        "export": export,
        "remove": _remove,
        "references": _references,
        "purge": _purge,
        "seal": _seal,
    },
    undo=undo_export,
    together=(
        frozenset(("export", subject) for subject, _ in PARTS),
        frozenset({("purge", "memory"), ("purge", "files")}),
    ),
)
"""How a delete is carried out."""
