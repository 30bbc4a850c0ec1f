"""`pinfold init`: make a home."""

from __future__ import annotations

import click
import msgspec

from services.home import BlockingCalls
from tui.verbs.call import Call, verb


class InitDocument(msgspec.Struct, frozen=True):
    """What `init` made; empty when everything was there already."""

    home: str
    created: tuple[str, ...]


@click.command("init")
@verb
@click.option("--demo", is_flag=True, help="Also make example agents whose sandboxes print something.")
async def command(call: Call, demo: bool) -> None:
    """Make a home: its folders, a pinfold.toml, and with --demo some agents.

    What is there already stays as it is.
    """
    from services.agents import init_home

    calls = BlockingCalls()
    try:
        result = await init_home(call.home, demo=demo, calls=calls)
    finally:
        calls.close()
    created = tuple(str(path) for path in result.created)
    if call.json:
        call.printer.document(InitDocument(str(call.home.root), created))
        return
    for path in created:
        call.printer.line(f"made {path}")
    if not created:
        call.printer.line(f"{call.home.root} is a home already; nothing was changed")
