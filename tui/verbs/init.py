"""`pinfold init`: make a home."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import msgspec

from services.home import BlockingCalls, Home
from tui.verbs.call import Call, verb

if TYPE_CHECKING:
    from services.agents import InitResult


class InitDocument(msgspec.Struct, frozen=True):
    """What `init` made; empty when everything was there already."""

    home: str
    created: tuple[str, ...]


async def _made(home: Home, calls: BlockingCalls, *, demo: bool) -> InitResult:
    if demo:
        from services.demo import init_demo

        return await init_demo(home, calls)
    from services.agents import init_home

    return await init_home(home, calls=calls)


@click.command("init")
@verb
@click.option("--demo", is_flag=True, help="Also make example agents whose sandboxes print something.")
async def command(call: Call, demo: bool) -> None:
    """Make a home: its folders, a pinfold.toml, and with --demo some agents and what they remember.

    What is there already stays as it is.
    """
    calls = BlockingCalls()
    try:
        result = await _made(call.home, calls, demo=demo)
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
