"""`pinfold activity`: what operators, agents and Pinfold did."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

import click

from tui.figures import moment
from tui.verbs.call import Call, verb
from tui.verbs.documents import EntryDocument

if TYPE_CHECKING:
    from services.activity import Entry
    from tui.looks import Tone

_TONES: dict[str, Tone] = {"refused": "warn", "failed": "bad"}


@click.command("activity")
@verb
@click.option("-f", "--follow", is_flag=True, help="Go on printing as things happen; JSON is a document a line then.")
@click.option("--limit", type=click.IntRange(min=0), default=100, show_default=True, help="The newest N entries.")
@click.option("--agent", metavar="ALIAS", default="", help="Only what concerns this agent.")
@click.option("--session", metavar="ID", default="", help="Only what concerns this session.")
async def command(call: Call, follow: bool, limit: int, agent: str, session: str) -> None:
    """Print what operators, agents and Pinfold itself did, oldest first."""
    async with call.pinfold(supervise=False) as pinfold:
        if session:
            session = (await pinfold.sandboxes.session(session)).id
        newest = await pinfold.activity.recent(1)
        entries = await pinfold.activity.recent(limit, agent=agent, session=session) if limit else []
        if not follow:
            _print(call, entries)
            return
        _print_each(call, entries)
        last = max((entry.number for entry in (*newest, *entries)), default=0)
        async with aclosing(pinfold.activity.follow(last)) as following:
            async for entry in following:
                if agent in ("", entry.agent) and session in ("", entry.session):
                    _print_each(call, [entry])


def _print(call: Call, entries: list[Entry]) -> None:
    if call.json:
        call.printer.document([EntryDocument.of(entry) for entry in entries])
    else:
        _print_each(call, entries)


def _print_each(call: Call, entries: list[Entry]) -> None:
    if call.json:
        call.printer.json_lines([EntryDocument.of(entry) for entry in entries])
        return
    for entry in entries:
        texts = (moment(entry.at), entry.actor, entry.verb, entry.agent, entry.session, entry.outcome, entry.detail)
        call.printer.fields(texts, _TONES.get(entry.outcome, ""))
