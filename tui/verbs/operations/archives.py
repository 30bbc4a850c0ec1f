"""`pinfold archives`: what operations kept, looked through, verified and compared."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from tui.figures import ago, moment, size
from tui.verbs.call import Call, verb
from tui.verbs.operations.bringing_back import restore
from tui.verbs.operations.documents import ArchiveDetails, ArchiveDocument, ComparisonDocument, VerificationDocument
from tui.verbs.operations.periods import seconds
from tui.verbs.operations.purging import purge
from tui.verbs.operations.running import work_to_end
from tui.verbs.table import Cell, Column

if TYPE_CHECKING:
    from services.archives import Archive, LivingAgent, Manifest
    from services.pinfold import Pinfold
    from tui.looks import Tone

FAILED = 1
_COLUMNS = (
    Column("ID"),
    Column("AGENT", cut="middle"),
    Column("KIND", spare=2),
    Column("STATE"),
    Column("SIZE", right=True, spare=3),
    Column("AGE", right=True, spare=1),
    Column("VERIFIED", spare=4),
    Column("PROBLEM", cut="end", spare=5),
)
_TONES: dict[str, Tone] = {
    "unsealed": "warn",
    "missing": "bad",
    "unindexed": "warn",
    "damaged": "bad",
    "purged": "muted",
}


@click.group("archives")
def command() -> None:
    """List, show, verify, compare, restore and purge what operations kept."""


command.add_command(restore)
command.add_command(purge)


@command.command("list")
@verb
@click.option("--agent", metavar="ALIAS", default="", help="Only this agent's.")
@click.option("--kind", type=click.Choice(["delete", "rename", "restore"]), help="Only those of this operation.")
@click.option("--state", type=click.Choice(["sealed", "unsealed", "missing", "unindexed", "damaged", "purged"]))
@click.option("--older-than", metavar="TIME", callback=seconds, help="Only those made so long ago, such as 90d.")
@click.option("--purged", is_flag=True, help="Also those that were purged.")
async def list_archives(
    call: Call, agent: str, kind: str | None, state: str | None, older_than: float | None, purged: bool
) -> None:
    """List archives, the newest first."""
    from services.archives import ArchiveKind, ArchiveState, Wanted

    wanted = Wanted(
        agent, ArchiveKind(kind) if kind else None, ArchiveState(state) if state else None, older_than or 0.0, purged
    )
    async with call.pinfold(supervise=False) as pinfold:
        found = await pinfold.archives.list(wanted)
    if call.json:
        call.printer.document([ArchiveDocument.of(archive) for archive in found])
    elif found:
        call.printer.table(_COLUMNS, [_row(archive) for archive in found])
    elif call.printer.terminal:
        call.printer.line("No archives.", "muted")


@command.command("show")
@verb
@click.argument("archive")
@click.option("--files", is_flag=True, help="Also list all that is in it.")
async def show_archive(call: Call, archive: str, files: bool) -> None:
    """Show what an archive keeps, what was left out, and which references were dropped."""
    async with call.pinfold(supervise=False) as pinfold:
        found = await pinfold.archives.show(archive)
        manifest = None
        names: tuple[str, ...] = ()
        if found.path.is_dir() and not found.problem:
            opened = await pinfold.archives.open(archive)
            manifest = opened.manifest
            if files:
                names = tuple(member.path for member in (await work_to_end(opened.tree(), "listing")).members)
    if call.json:
        call.printer.document(ArchiveDetails(ArchiveDocument.of(found), manifest, names))
        return
    _print_archive(call, found)
    if manifest is not None:
        _print_manifest(call, manifest)
    for name in names:
        call.printer.line(name)


@command.command("verify")
@verb
@click.argument("archives", nargs=-1, metavar="[ARCHIVE]...")
async def verify_archives(call: Call, archives: tuple[str, ...]) -> int:
    """Recompute every checksum of these archives, or of all; exits 1 when one is not as it was."""
    async with call.pinfold(supervise=False) as pinfold:
        named = archives or [one.id for one in await pinfold.archives.list()]
        found = [await work_to_end(pinfold.archives.verify(one), f"verifying {one}") for one in named]
    if call.json:
        call.printer.document([VerificationDocument.of(one) for one in found])
    else:
        for one in found:
            told = "is as it was" if one.intact else "is NOT as it was"
            call.printer.line(
                f"{one.archive} {told}: {one.files:,} files, {size(one.size)}", "" if one.intact else "bad"
            )
            for finding in one.findings:
                call.printer.line(f"  {finding.kind.value}: {finding.name}: {finding.why}", "bad")
    return 0 if all(one.intact for one in found) else FAILED


@command.command("compare")
@verb
@click.argument("archive")
@click.argument("other", metavar="ALIAS|ARCHIVE")
async def compare_archive(call: Call, archive: str, other: str) -> int:
    """Set an archive against an agent that is there, or against another archive; exits 1 when they differ."""
    async with call.pinfold(supervise=False) as pinfold:
        living = _living(pinfold, other)
        found = await work_to_end(pinfold.archives.compare(archive, living or other), "comparing")
    if call.json:
        call.printer.document(ComparisonDocument.of(found))
        return 0 if found.same else FAILED
    for line in found.config.splitlines():
        call.printer.line(line)
    for what, changes, more in (
        ("file", [(one.path, one.change.value) for one in found.files], found.more_files),
        ("row", [(one.key, one.change.value) for one in found.rows], found.more_rows),
    ):
        for name, change in changes:
            call.printer.line(f"{change}: {what} {name}")
        if more:
            call.printer.line(f"and {more:,} {what}s more")
    call.printer.line(f"{found.same_files:,} files and {found.same_rows:,} rows are the same", "muted")
    return 0 if found.same else FAILED


def _living(pinfold: Pinfold, alias: str) -> LivingAgent | None:
    from services.archives import LivingAgent

    agent = pinfold.agents.by_alias.get(alias)
    if agent is None:
        return None
    memory = pinfold.agent_memories.of(alias) if agent.config is not None else None
    return LivingAgent(alias, agent.file, agent.workspace, memory)


def _row(archive: Archive) -> list[Cell]:
    verified = f"{'intact' if archive.intact else 'NOT intact'} {ago(archive.verified_at, time.time_ns())}"
    return [
        Cell(archive.id),
        Cell(archive.alias),
        Cell(archive.kind.value),
        Cell(archive.state.value, _TONES.get(archive.state.value, "")),
        Cell(size(archive.size)),
        Cell(ago(archive.created_at, time.time_ns())),
        Cell(verified if archive.verified_at else "never", "" if archive.intact in (None, True) else "bad"),
        Cell(archive.problem, "bad"),
    ]


def _print_archive(call: Call, archive: Archive) -> None:
    call.printer.line(archive.id, "strong")
    verified = f"{moment(archive.verified_at)}, {'intact' if archive.intact else 'NOT intact'}"
    facts = (
        ("agent", archive.alias),
        ("made by", f"a {archive.kind.value}, {moment(archive.created_at)}"),
        ("state", archive.state.value),
        ("size", size(archive.size)),
        ("verified", verified if archive.verified_at else "never"),
        ("path", str(archive.path)),
        ("problem", archive.problem),
    )
    for name, value in facts:
        if value:
            call.printer.line(f"  {name:<12}  {value}")


def _print_manifest(call: Call, manifest: Manifest) -> None:
    printer = call.printer
    for warning in manifest.warnings:
        printer.line(f"  note          {warning}", "warn")
    if manifest.counts:
        printer.line()
        rows = [
            [Cell(count.what), Cell(f"{count.before:,}"), Cell(f"{count.exported:,}"), Cell(f"{count.purged:,}")]
            for count in manifest.counts
        ]
        titles = ("WHAT", "BEFORE", "KEPT", "REMOVED")
        printer.table(tuple(Column(title, right=number > 0) for number, title in enumerate(titles)), rows)
    if manifest.references:
        printer.line()
        printer.line("References that were dropped; `archives restore --reference` puts them back:", "muted")
        for reference in manifest.references:
            printer.line(f"  {reference.file}:{reference.key} = {reference.value}")
    if manifest.left_out:
        printer.line()
        for left in manifest.left_out:
            printer.line(f"  not kept: {left.name}: {left.reason}", "warn")
