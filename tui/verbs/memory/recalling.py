"""The verb that shows what agents remember."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click
import msgspec

from services.errors import InputRefused
from tui.invocation import complain
from tui.verbs.call import Call, verb
from tui.verbs.documents import rfc3339
from tui.verbs.table import Cell, Column

if TYPE_CHECKING:
    from services.agents import Search
    from services.memory import Recalled

_SECOND = 1_000_000_000
_COLUMNS = (
    Column("SCORE", right=True, spare=3),
    Column("AGENT", spare=1),
    Column("CATEGORY", spare=2),
    Column("KEY", cut="middle"),
    Column("CONTENT", cut="end"),
)


class RecalledDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A row an agent remembers; secrets in `content` are masked unless they were asked for."""

    agent: str
    id: str
    key: str
    content: str
    category: str
    session: str
    score: float
    importance: float
    pinned: bool
    findings: tuple[str, ...]
    withheld: bool
    created_at: str | None
    updated_at: str | None

    @classmethod
    def of(cls, found: Recalled, *, reveal: bool) -> RecalledDocument:
        """Describe a row."""
        row = found.row
        return cls(
            agent=row.agent,
            id=row.id,
            key=_shown(row.key, reveal=reveal),
            content=_shown(row.content, reveal=reveal),
            category=row.category,
            session=row.session,
            score=round(found.score, 4),
            importance=row.importance,
            pinned=row.pinned,
            findings=row.findings,
            withheld=row.withheld,
            created_at=rfc3339(row.created_at),
            updated_at=rfc3339(row.updated_at),
        )


def _read_moment(_: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """Turn a day or a time, here unless it says otherwise, into nanoseconds since 1970."""
    if text is None:
        return None
    try:
        return int(datetime.fromisoformat(text).astimezone().timestamp()) * _SECOND
    except (ValueError, OverflowError) as error:
        raise click.BadParameter("write it as 2026-11-30 or 2026-11-30T12:00:00", param=parameter) from error


@click.command("recall")
@verb
@click.argument("alias")
@click.argument("words", nargs=-1)
@click.option("--limit", type=int, default=10, show_default=True, help="At most so many rows.")
@click.option("--category", help="Only core, daily, conversation or another category.")
@click.option("--session", help="Only rows of this session; by likeness also lasting ones of none.")
@click.option("--since", callback=_read_moment, metavar="TIME", help="Only rows created then or later.")
@click.option("--until", callback=_read_moment, metavar="TIME", help="Only rows created before.")
@click.option("--from", "agents", multiple=True, metavar="AGENT", help="Only rows of this agent; may be repeated.")
@click.option(
    "--search",
    type=click.Choice(("hybrid", "keywords", "vectors")),
    help="By words and by likeness, or by one of them; else as the agent's [memory.vectors] says.",
)
@click.option("--withheld", is_flag=True, help="Also rows that are kept from agents because of what the scan found.")
@click.option("--reveal", is_flag=True, help="Show secrets as they are.")
async def recall(
    call: Call,
    alias: str,
    words: tuple[str, ...],
    limit: int,
    category: str | None,
    session: str | None,
    since: int | None,
    until: int | None,
    agents: tuple[str, ...],
    search: Search | None,
    withheld: bool,
    reveal: bool,
) -> None:
    """Print what the agent ALIAS recalls with these WORDS, the best first; without any, the newest first.

    It recalls its own rows and those of the siblings in read_memory_from. WORD* is every word that begins so. With an
    embedder in its [memory.vectors] it also recalls what means the like; where that cannot be, stderr says why.
    """
    from services.memory import Query

    query = Query(" ".join(words), limit, category, session, since, until, withheld, search)
    async with call.pinfold(supervise=False) as pinfold:
        memory = pinfold.agent_memories.of(alias)
        strangers = sorted(set(agents) - set(memory.readable))
        if strangers:
            raise InputRefused(f"{alias} may not read the memory of {', '.join(strangers)}")
        recollection = await memory.recollect(query, agents)
    found = recollection.found
    if recollection.notice:
        complain(recollection.notice)
    if call.json:
        call.printer.document([RecalledDocument.of(recalled, reveal=reveal) for recalled in found])
    elif found or not call.printer.terminal:
        call.printer.table(_COLUMNS, [_cells(recalled, reveal=reveal) for recalled in found])
    else:
        call.printer.line("Nothing is recalled.", "muted")


def _cells(found: Recalled, *, reveal: bool) -> list[Cell]:
    row = found.row
    return [
        Cell(f"{found.score:.2f}"),
        Cell(row.agent),
        Cell(row.category),
        Cell(_shown(row.key, reveal=reveal), "strong"),
        Cell(_shown(row.content, reveal=reveal), "warn" if row.withheld else ""),
    ]


def _shown(text: str, *, reveal: bool) -> str:
    from services.memory import masked

    return text if reveal else masked(text)


VERBS = (recall,)
"""In the order of the help."""
