"""`pinfold rename`: an agent with all that is its own under another alias."""

from __future__ import annotations

import click

from tui.verbs.call import Call, verb
from tui.verbs.operations.running import refuse, run_to_end, show_plan


@click.command("rename")
@verb
@click.argument("alias", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--dry-run", is_flag=True, help="Show what would change and change nothing.")
@click.option("--stop-sessions", is_flag=True, help="Stop its running sessions first.")
async def command(call: Call, alias: str, target: str, dry_run: bool, stop_sessions: bool) -> None:
    """Give an agent another alias: its directory, what others say of it, its memories, sessions and archives.

    A rename that was interrupted is completed by the same command.
    """
    async with call.pinfold(supervise=False) as pinfold:
        plan = await pinfold.operations.plan_rename(alias, target, stop_sessions=stop_sessions)
        if dry_run:
            show_plan(call, plan)
        refuse(plan)
        if not dry_run:
            await run_to_end(call, pinfold.operations.carry_out(plan))
