"""`pinfold archives purge`: one archive removed for good, or all that are too old or too large."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from services.errors import OperationRefused
from tui.figures import counted, size
from tui.verbs.call import Call, verb
from tui.verbs.operations.documents import ArchiveDocument
from tui.verbs.operations.periods import count_of_bytes, seconds
from tui.verbs.operations.running import work_to_end

if TYPE_CHECKING:
    from services.archives import Archive
    from services.pinfold import Pinfold


@click.command("purge")
@verb
@click.argument("archive", required=False)
@click.option("--alias", default="", help="The alias of the agent in it, typed to confirm; else you are asked for it.")
@click.option("--older-than", metavar="TIME", callback=seconds, help="Instead of ARCHIVE: all as old as 90d, say.")
@click.option(
    "--keep-size",
    metavar="SIZE",
    callback=count_of_bytes,
    help="Instead of ARCHIVE: the oldest beyond 10g, say.",
)
@click.option("--agent", metavar="ALIAS", default="", help="With these two: only this agent's.")
@click.option("--dry-run", is_flag=True, help="Show what would be removed and remove nothing.")
@click.option("--yes", is_flag=True, help="With --older-than and --keep-size: remove them.")
async def purge(
    call: Call,
    archive: str | None,
    alias: str,
    older_than: float | None,
    keep_size: int | None,
    agent: str,
    dry_run: bool,
    yes: bool,
) -> None:
    """Remove archives for good; that they were there stays in the index and in the activity log."""
    from services.archives import Retention

    many = older_than is not None or keep_size is not None
    if many == bool(archive):
        raise click.UsageError("Name an archive, or say which go with --older-than or --keep-size.")
    async with call.pinfold(supervise=False) as pinfold:
        if archive:
            found: tuple[Archive, ...] = (await pinfold.archives.show(archive),)
        else:
            found = await pinfold.archives.expired(Retention(older_than, keep_size, agent))
        if not dry_run and found:
            await _remove(call, pinfold, found, alias, yes=yes, many=many)
    if call.json:
        call.printer.document([ArchiveDocument.of(one) for one in found])
        return
    for one in found:
        call.printer.line(f"{'would remove' if dry_run else 'removed'} {one.id}, {size(one.size)}")
    if not found:
        call.printer.line("Nothing to remove.", "muted")


async def _remove(
    call: Call, pinfold: Pinfold, found: tuple[Archive, ...], alias: str, *, yes: bool, many: bool
) -> None:
    if many and not yes:
        raise OperationRefused(f"{counted(len(found), 'archive')} would be removed", fix="Add --yes to remove them.")
    for one in found:
        typed = one.alias if many else alias or _asked(call, one)
        await work_to_end(pinfold.archives.purge(one.id, typed), f"removing {one.id}")


def _asked(call: Call, archive: Archive) -> str:
    if call.json or not (sys.stdin.isatty() and call.printer.terminal):
        raise OperationRefused(f"{archive.id} was not removed", fix=f"Confirm with --alias {archive.alias}.")
    return str(click.prompt(f"Type {archive.alias} to remove {archive.id} for good", default="", show_default=False))
