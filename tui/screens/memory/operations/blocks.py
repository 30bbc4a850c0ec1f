"""What can be done with core blocks and archives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from services.errors import ChangedMeanwhile
from services.memory import Block, BlockText
from tui.figures import counted, moment
from tui.memory_log import log
from tui.screens.memory.changes.doing import Outcome, Subject, Undo, Values
from tui.screens.memory.items import Item
from tui.screens.memory.operations.operation import Operation, Parameter, read_whole
from tui.screens.memory.places import ArchiveOf, CoreBlocksOf, Place

if TYPE_CHECKING:
    from services.memory import Archive, CoreBlocks, Tenant
    from services.pinfold import Pinfold

_CONTENT = Parameter("content", "Content", "text")
_OLD = Parameter("old", "Old text", "exactly as it stands there")
_NEW = Parameter("new", "New text", "nothing takes the old text out")
_WHY = Parameter("why", "Why", "goes into the history")
_WORDS = Parameter("words", "Words", "any of them; foo* is every word that begins so")
_MOST = Parameter("most", "At most", "entries", read_whole, begin=lambda _: "20")


def on_block(place: Place, item: Item | None) -> bool:
    """Whether the cursor is on a core block."""
    return isinstance(place, CoreBlocksOf) and item is not None


def in_blocks(place: Place, _: Item | None) -> bool:
    """Whether core blocks are shown."""
    return isinstance(place, CoreBlocksOf)


def in_archive(place: Place, _: Item | None) -> bool:
    """Whether archive entries are shown."""
    return isinstance(place, ArchiveOf)


async def tenant_of(pinfold: Pinfold, place: Place) -> Tenant:
    """The tenant that is shown; made when an agent has none yet."""
    assert isinstance(place, CoreBlocksOf | ArchiveOf)
    return place.tenant or await pinfold.core_memory.tenants.of_agent(place.alias)


async def blocks_of(subject: Subject) -> CoreBlocks:
    """The core blocks that are shown."""
    return subject.pinfold.core_memory.blocks(await tenant_of(subject.pinfold, subject.place))


async def archive_of(subject: Subject) -> Archive:
    """The archive that is shown."""
    return subject.pinfold.core_memory.archive(await tenant_of(subject.pinfold, subject.place))


def undo_block(blocks: CoreBlocks, before: BlockText, after: BlockText) -> Undo:
    """How a change of a block is taken back."""

    async def back(pinfold: Pinfold, anyway: bool) -> None:
        expected = (await blocks.read(before.block)).content if anyway else after.content
        await blocks.write(before.block, before.content, expected)
        await log(pinfold, "undo", before.block, blocks.tenant.agent)

    return Undo(f"change of {before.block.heading}", back)


async def _append(subject: Subject, values: Values) -> Outcome:
    blocks, block = await blocks_of(subject), Block.parse(subject.key)
    before = await blocks.read(block)
    return await _done(subject, blocks, before, await blocks.append(block, values["content"]), "append")


async def _replace(subject: Subject, values: Values) -> Outcome:
    blocks, block = await blocks_of(subject), Block.parse(subject.key)
    before = await blocks.read(block)
    return await _done(subject, blocks, before, await blocks.replace(block, values["old"], values["new"]), "replace")


async def _rethink(subject: Subject, values: Values) -> Outcome:
    blocks, block = await blocks_of(subject), Block.parse(subject.key)
    before = await blocks.read(block)
    after = await blocks.rethink(block, values["content"], values["why"])
    return await _done(subject, blocks, before, after, "rethink")


async def _done(subject: Subject, blocks: CoreBlocks, before: BlockText, after: BlockText, verb: str) -> Outcome:
    await log(subject.pinfold, verb, after.block, blocks.tenant.agent)
    said = f"{after.block.heading} is written; {after.left:,} characters are left"
    return Outcome(said, undo=undo_block(blocks, before, after), item=after.block)


async def _history(subject: Subject, values: Values) -> Outcome:
    entries = await (await blocks_of(subject)).history(limit=values["most"])
    return Outcome("", [f"{moment(entry.at)}  {entry.entry}" for entry in entries] or ["nothing was noted yet"])


async def _insert(subject: Subject, values: Values) -> Outcome:
    archive = await archive_of(subject)
    entry = await archive.insert(values["content"])
    await log(subject.pinfold, "archive-insert", entry.id, archive.tenant.agent)

    async def back(pinfold: Pinfold, anyway: bool) -> None:
        if not await archive.delete(entry.id) and not anyway:
            raise ChangedMeanwhile("the entry is gone already")
        await log(pinfold, "undo", entry.id, archive.tenant.agent)

    return Outcome("an entry is put away", undo=Undo("new archive entry", back), item=entry.id)


async def _search(subject: Subject, values: Values) -> Outcome:
    found = await (await archive_of(subject)).search(values["words"], values["most"])
    return Outcome("", [f"{entry.score:.2f}  {entry.content}" for entry in found] or ["nothing was found"])


async def delete_entries(subject: Subject, ids: Sequence[str]) -> tuple[int, Undo | None]:
    """Delete archive entries, and tell how many, and how to take it back: as new entries with the same content."""
    archive = await archive_of(subject)
    entries = [entry for entry in [await archive.get(each) for each in ids] if entry is not None]
    for entry in entries:
        await archive.delete(entry.id)
    await log(subject.pinfold, "archive-delete", counted(len(entries), "entry", "entries"), archive.tenant.agent)

    async def back(pinfold: Pinfold, _: bool) -> None:
        for entry in sorted(entries, key=lambda entry: entry.created_at):
            await archive.insert(entry.content)
        await log(pinfold, "undo", counted(len(entries), "entry", "entries"), archive.tenant.agent)

    label = f"deletion of {counted(len(entries), 'archive entry', 'archive entries')}"
    return len(entries), Undo(label, back) if entries else None


INSERT = Operation("archive-insert", "put away", "Put a text into the archive", _insert, in_archive, (_CONTENT,))
APPEND = Operation("append", "add a line", "Add a line at the end of a block", _append, on_block, (_CONTENT,))
OPERATIONS = (
    APPEND,
    Operation("replace", "replace a text", "Replace the first occurrence of a text", _replace, on_block, (_OLD, _NEW)),
    Operation("rethink", "rethink", "Write a block anew, and say why", _rethink, on_block, (_CONTENT, _WHY)),
    Operation("history", "history", "Show why blocks were rewritten", _history, in_blocks, (_MOST,), harmless=True),
    INSERT,
    Operation(
        "archive-search",
        "search",
        "Find entries by words, the best first",
        _search,
        in_archive,
        (_WORDS, _MOST),
        harmless=True,
    ),
)
