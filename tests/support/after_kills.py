"""What has to be true of a home whose operation was killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from services.archives import ArchiveState, result_of
from services.home import Home
from services.operations import Operation, OperationState
from services.pinfold import Pinfold
from tests.support.doomed_operations import TARGET, Kind, carrying_out
from tests.support.estates import AGENT, Estate, estate, under
from tests.support.sessions import World


async def check(home: Home, kind: Kind, before: Estate, outcome: Path) -> None:
    """Complete what was begun, and raise unless all is as it was or as it was to be."""
    async with World.existing(home).pinfold(supervise=False) as pinfold:
        unfinished = await pinfold.operations.unfinished()
        told = "nothing was begun" if not await pinfold.operations.all() else "it was done"
        if unfinished:
            (operation,) = unfinished
            assert operation.state is OperationState.INTERRUPTED, operation.state
            told = "retried once committed" if operation.committed else "retried from the start"
            await _completed(pinfold, operation, kind)
        elif told == "nothing was begun":
            assert estate(home) == before, "something changed although nothing was begun"
            outcome.write_text(told)
            return
        assert await pinfold.operations.unfinished() == []
        if kind == "rename":
            assert estate(home) == under(TARGET, before), _difference(estate(home), under(TARGET, before))
        else:
            await _check_deleted(pinfold, home, before)
    outcome.write_text(told)


async def _completed(pinfold: Pinfold, operation: Operation, kind: Kind) -> None:
    """Go on by the same command or by retry, as the operation's id has it."""
    if operation.created_at % 2 and operation.committed:
        async for _ in carrying_out(pinfold, kind):
            pass
        return
    async for _ in pinfold.operations.retry(operation.id):
        pass


async def _check_deleted(pinfold: Pinfold, home: Home, before: Estate) -> None:
    """Nothing of the agent is left; one archive has all of it, intact; and restoring that gives all of it back."""
    left = estate(home)
    for what in ("memories", "core memory", "sessions", "keys"):
        assert not any(AGENT in map(str, row) for row in left[what] if what != "keys"), (what, left[what])
    assert not any(name.startswith((AGENT, f".{AGENT}")) for name in left["files"]), left["files"].keys()
    (archive,) = await pinfold.archives.list()
    assert archive.state is ArchiveState.SEALED, archive
    assert [path for path in home.archives_dir.iterdir() if path.name.startswith(".")] == []
    assert (await result_of(pinfold.archives.verify(archive.id))).intact
    plan = await pinfold.operations.plan_restore(archive.id, references=["*"])
    async for _ in pinfold.operations.carry_out(plan):
        pass
    after = estate(home)
    for found in (before, after):  # put back, but not to the letter
        del found["files"]["lead/agent.toml"], found["shared"]
    assert after == before, _difference(after, before)
    references = await pinfold.operations.references(AGENT)
    named = sorted((one.owner, one.kind) for one in references if one.file and one.owner != AGENT)
    assert named == [("", "read_memory_from"), ("lead", "access"), ("lead", "delegate"), ("lead", "read_memory_from")]


def _difference(found: Estate, wanted: Estate) -> str:
    told = []
    for key in wanted:
        one, other = (set(_pieces(side[key])) for side in (found, wanted))
        if one != other:
            told.append(f"{key}: too much {sorted(one - other)}, missing {sorted(other - one)}")
    return "; ".join(told)


def _pieces(value: object) -> Iterator[str]:
    match value:
        case dict():
            return (f"{key}: {item!r}" for key, item in value.items())
        case list():
            return map(repr, value)
    return iter([repr(value)])
