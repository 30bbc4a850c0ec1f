"""`pinfold delete`: an agent retired, with all that is its own kept in an archive."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from services.errors import OperationRefused
from tui.verbs.call import Call, verb
from tui.verbs.operations.running import refuse, run_to_end, show_plan

if TYPE_CHECKING:
    from services.operations import Plan


@click.command("delete")
@verb
@click.argument("alias")
@click.option("--dry-run", is_flag=True, help="Show what would change and change nothing.")
@click.option("--yes", is_flag=True, help="Do it without being asked.")
@click.option("--keep-workspace", is_flag=True, help="Leave a workspace outside the agent's directory where it is.")
def command(call: Call, alias: str, dry_run: bool, yes: bool, keep_workspace: bool) -> None:
    """Delete an agent once its files, memories and sessions are verified in an archive, from which it can be restored.

    The plan is shown first, and carried out with --yes or when confirmed. A delete that was interrupted is completed
    by the same command.
    """
    plan = asyncio.run(_planned(call, alias, keep_workspace))
    if not (call.json and yes):
        show_plan(call, plan)
    refuse(plan)
    if dry_run:
        return
    if not yes and not _confirmed(call, alias):
        raise OperationRefused("nothing was changed", fix="Add --yes to carry it out.")
    asyncio.run(_carry_out(call, plan))


async def _planned(call: Call, alias: str, keep_workspace: bool) -> Plan:
    async with call.pinfold(supervise=False) as pinfold:
        return await pinfold.operations.plan_delete(alias, keep_workspace=keep_workspace)


async def _carry_out(call: Call, plan: Plan) -> None:
    """Carry out the plan that was shown; nobody was waited for with the services open."""
    async with call.pinfold(supervise=False) as pinfold:
        await run_to_end(call, pinfold.operations.carry_out(plan))


def _confirmed(call: Call, alias: str) -> bool:
    if call.json or not (sys.stdin.isatty() and call.printer.terminal):
        return False
    return click.confirm(f"Delete {alias}?")
