"""All of an archive set against a living agent or another archive."""

from __future__ import annotations

from services.archives.members import Member
from services.archives.model import Omitted
from services.archives.reading.comparing import (
    FileComparison,
    Summed,
    compared_members,
    config_diff,
    living,
    workspace_of,
)
from services.archives.reading.model import Comparison, LivingAgent, Refused, Tree
from services.archives.reading.opened import OpenArchive
from services.archives.reading.row_changes import RowComparison, compared_rows
from services.archives.working import Gauge
from services.home import BlockingCalls, read_file


async def compared(
    archive: OpenArchive, other: OpenArchive | LivingAgent, calls: BlockingCalls, gauge: Gauge
) -> Comparison:
    """Compare configuration, files and rows of memory.

    Raises:
        ArchiveDamaged: An archive cannot be read.
    """
    before = await archive.hashed_tree(gauge)
    config = await archive.agent_file()
    omitted: list[Omitted] = []
    refused = before.refused
    if isinstance(other, LivingAgent):
        name = other.alias
        files = await calls.run(_against_living, before, other, gauge, omitted)
        after = await calls.run(_file_of, other)
        rows = (
            await compared_rows(archive.memory(), other.memory.read_out(), gauge) if other.memory else RowComparison([])
        )
    else:
        name = other.archive.id
        tree = await other.hashed_tree(gauge)
        refused = (*refused, *tree.refused)
        files = await calls.run(_against_archive, before, tree)
        after = await other.agent_file()
        rows = await compared_rows(archive.memory(), other.memory(), gauge)
    return _result(archive, name, config_diff(config, after, (archive.archive.id, name)), files, rows, refused, omitted)


def _against_living(tree: Tree, other: LivingAgent, gauge: Gauge, omitted: list[Omitted]) -> FileComparison:
    gauge.begin(f"reading the workspace of {other.alias}")
    return compared_members(workspace_of(tree), living(other.workspace, gauge, omitted))


def _against_archive(before: Tree, after: Tree) -> FileComparison:
    summed: Summed = _known_sum
    return compared_members(workspace_of(before), ((member, summed) for member in workspace_of(after).values()))


def _known_sum(member: Member) -> str:
    return member.sha256


def _file_of(agent: LivingAgent) -> bytes:
    try:
        return read_file(agent.file).data
    except FileNotFoundError:
        return b""


def _result(
    archive: OpenArchive,
    other: str,
    config: str,
    files: FileComparison,
    rows: RowComparison,
    refused: tuple[Refused, ...],
    omitted: list[Omitted],
) -> Comparison:
    return Comparison(
        archive=archive.archive.id,
        other=other,
        config=config,
        files=tuple(files.changes),
        rows=tuple(rows.changes),
        same_files=files.same,
        same_rows=rows.same,
        more_files=files.more,
        more_rows=rows.more,
        refused=refused,
        omitted=tuple(f"{one.name}: {one.reason}" for one in omitted if not one.reason.by_nature),
    )
