"""`pinfold agents set`: keys of an agent.toml changed from a script or a shell, shown before they are written."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import click
import msgspec

from services.errors import PinfoldError
from tui.verbs.call import Call, verb
from tui.verbs.policy import ChangeDocument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.agents import Draft
    from services.pinfold import Pinfold
    from services.policy import Change
    from tui.looks import Tone

_TONES: dict[str, Tone] = {"+": "good", "-": "bad", "@": "muted"}


class SetDocument(msgspec.Struct, frozen=True):
    """What was, or would be, changed.

    Attributes:
        diff: The file's, line by line as `diff -u` writes it; values of environment variables are masked.
        changes: The policy's, in words; what widens comes first.
        written: Whether the file holds it now.
    """

    agent: str
    file: str
    diff: tuple[str, ...]
    changes: tuple[ChangeDocument, ...]
    written: bool


@click.command("set")
@verb
@click.argument("alias")
@click.argument("assignments", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--unset", multiple=True, metavar="KEY", help="Remove a key, so that the profile or default holds.")
@click.option("--dry-run", is_flag=True, help="Show what would change and write nothing.")
@click.option("--yes", is_flag=True, help="Write it even if the agent may then do more than before.")
def command(
    call: Call, alias: str, assignments: tuple[str, ...], unset: tuple[str, ...], dry_run: bool, yes: bool
) -> None:
    """Change keys of an agent's file: KEY=VALUE sets, KEY+=ENTRY adds to a list, KEY-=ENTRY takes out.

    Keys are dotted, as in permissions.level; values are TOML, and text needs no quotes. Both diffs are shown first:
    the file's and, in words, the policy's. What lets the agent do more is written only with --yes or when confirmed.
    """
    if not assignments and not unset:
        raise click.UsageError("Name what to change: KEY=VALUE or --unset KEY.")
    draft, changes = asyncio.run(_prepared(call, alias, assignments, unset))
    if not call.json:
        _print(call, draft, changes)
    wanted = draft.changed and not dry_run
    written = wanted and _may_write(call, alias, changes, yes)
    if written:
        asyncio.run(_save(call, draft))
    if call.json:
        described = tuple(ChangeDocument(change.text, change.widens) for change in changes)
        call.printer.document(SetDocument(alias, str(draft.file), draft.diff(), described, written))
    elif written:
        call.printer.line(f"wrote {draft.file}", "good")
    if wanted and not written:
        raise PinfoldError(f"nothing was written: {alias} would be allowed more", fix="Add --yes to write it.")


async def _prepared(
    call: Call, alias: str, assignments: Sequence[str], unset: Sequence[str]
) -> tuple[Draft, tuple[Change, ...]]:
    async with call.pinfold(supervise=False) as pinfold:
        draft = await _draft(pinfold, alias, assignments, unset)
        return draft, _policy_changes(pinfold, draft)


async def _save(call: Call, draft: Draft) -> None:
    """Write it unless the file changed meanwhile; nobody was waited for with the services open."""
    async with call.pinfold(supervise=False) as pinfold:
        await pinfold.agents.save(draft)


async def _draft(pinfold: Pinfold, alias: str, assignments: Sequence[str], unset: Sequence[str]) -> Draft:
    """The agent's file with the changes made.

    Raises:
        ConfigError: A change is not understood, or leaves an error in the file.
    """
    draft = await pinfold.agents.draft(alias)
    draft = await pinfold.agents.assign(draft, assignments, unset)
    for problem in draft.agent.problems:
        if problem.severity == "error" and draft.changed:
            raise problem.as_error()
    return draft


def _policy_changes(pinfold: Pinfold, draft: Draft) -> tuple[Change, ...]:
    """What the change means in words; for an agent that had no policy, that it has one."""
    from services.policy import Change

    after = draft.agent
    if not draft.changed or after.config is None or after.profile is None:
        return ()
    if pinfold.agents.get(draft.alias).profile is None:
        return (Change(f"follows the risk profile {after.config.agent.risk_profile}, none before", widens=True),)
    return pinfold.policies.changes(draft.alias, draft.data)


def _may_write(call: Call, alias: str, changes: Sequence[Change], yes: bool) -> bool:
    """Whether nothing is widened, or that is wanted; asks when somebody is there to answer."""
    if yes or not any(change.widens for change in changes):
        return True
    if call.json or not (sys.stdin.isatty() and call.printer.terminal):
        return False
    return click.confirm(f"{alias} will be allowed more. Write it?")


def _print(call: Call, draft: Draft, changes: Sequence[Change]) -> None:
    printer = call.printer
    for line in draft.diff():
        printer.line(line, _TONES.get(line[:1], ""))
    if changes:
        printer.line()
    for change in changes:
        printer.line(f"{'widens' if change.widens else 'other'}: {change.text}", "warn" if change.widens else "")
    if not draft.changed and printer.terminal:
        printer.line("Nothing changes.", "muted")
