"""Verbs that copy whole scopes: snapshots, and keys as JSON Lines."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click
import msgspec

from services.errors import InputRefused, PinfoldError
from tui.figures import counted
from tui.memory_log import log
from tui.verbs.call import Call, verb
from tui.verbs.memory.arguments import (
    STANDARD_INPUT,
    changing,
    confirmed,
    opened,
    print_count,
    read_scope,
    scope_argument,
)
from tui.verbs.memory.documents import CountDocument

if TYPE_CHECKING:
    from services.memory import Scope, Snapshot


@click.command("snapshot")
@verb
@scope_argument
async def take_snapshot(call: Call, scope: Scope) -> None:
    """Print everything in a scope as one JSON document that `restore` reads."""
    async with opened(call, scope) as namespace:
        snapshot = await namespace.snapshot()
    call.printer.document(snapshot)


@click.command("restore")
@verb
@scope_argument
@click.argument("file")
@click.option("--yes", is_flag=True, help="Replace what is there without being asked.")
async def restore_snapshot(call: Call, scope: Scope, file: str, yes: bool) -> None:
    """Replace everything in a scope by a snapshot from FILE, - being standard input, and print how many keys it had."""
    with ExitStack() as closing:
        snapshot = _read_snapshot(_opened(file, closing).read(), file)
    async with opened(call, scope) as namespace:
        count = await namespace.count()
    if count and not confirmed(call, f"Replace {counted(count, 'key')} of {scope}?", yes=yes):
        raise PinfoldError(f"nothing was restored: {scope} has keys", fix="Add --yes to replace them.")
    async with changing(call, scope, "restore") as namespace:
        count = await namespace.restore(snapshot)
    print_count(call, scope, count)


@click.command("export")
@verb
@click.argument("scopes", callback=read_scope, nargs=-1, metavar="[SCOPE:ID]...")
@click.option("--matching", metavar="PATTERN", default="", help="Only keys a pattern matches, * being any text.")
async def export_keys(call: Call, scopes: tuple[Scope, ...], matching: str) -> None:
    """Print keys of these scopes, or of all, as JSON Lines that `import` reads."""
    async with call.pinfold(supervise=False) as pinfold:
        async for lines in pinfold.memory.transfer.export(scopes, matching):
            call.printer.json_lines(lines)


@click.command("import")
@verb
@click.argument("file")
@click.option(
    "--into", callback=read_scope, metavar="SCOPE:ID", help="Store all keys in this scope instead of their own."
)
async def import_keys(call: Call, file: str, into: Scope | None) -> None:
    """Store the keys of an export from FILE, or - for standard input, over what is there, and print how many."""
    keys = 0
    async with call.pinfold(supervise=False) as pinfold:
        with ExitStack() as closing:
            source = _opened(file, closing)
            try:
                async for progress in pinfold.memory.transfer.take_in(source, into):
                    keys = progress.keys
            except InputRefused as error:
                stored = f"{counted(keys, 'key')} before it {'is' if keys == 1 else 'are'} stored."
                raise InputRefused(error.what, why=error.why.removesuffix("."), fix=stored) from error
            finally:
                if keys:
                    await log(pinfold, "import", counted(keys, "key"))
    if call.json:
        call.printer.document(CountDocument(str(into or ""), keys))
    else:
        call.printer.line(str(keys))


def _opened(file: str, closing: ExitStack) -> BinaryIO:
    if file == STANDARD_INPUT:
        return sys.stdin.buffer
    try:
        return closing.enter_context(Path(file).open("rb"))
    except (OSError, ValueError) as error:
        raise PinfoldError(f"cannot read {file}", why=getattr(error, "strerror", None) or str(error)) from error


def _read_snapshot(data: bytes, file: str) -> Snapshot:
    from services.memory import Snapshot

    try:
        return msgspec.json.decode(data, type=Snapshot)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise InputRefused(f"{file} is no snapshot", why=str(error)) from error


VERBS = (take_snapshot, restore_snapshot, export_keys, import_keys)
"""In the order of the help."""
