"""A search through everything: scopes, agents' rows, core blocks and archives."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from services.errors import PinfoldError
from services.memory import Query
from tui.screens.dialog import Dialog
from tui.screens.memory import items
from tui.screens.memory.items import Item
from tui.screens.memory.places import AgentRows, ArchiveOf, CoreBlocksOf, ScopeKeys
from tui.widgets.typing_line import TypingLine

if TYPE_CHECKING:
    from services.pinfold import Pinfold

_MOST = 500
_OF_AGENT = 50


class AskSearch(Dialog[str]):
    """Answers with what is to be searched for.

    Args:
        text: To begin with.
    """

    def __init__(self, text: str) -> None:
        super().__init__(id="search")
        self._line = TypingLine(text, placeholder="a text in keys and values; words in what agents remember")

    def compose(self) -> ComposeResult:
        """Lay out the line."""
        with Vertical(id="box"):
            yield Static(Content("Search scopes, agents, core blocks and archives"), id="heading")
            yield self._line

    def on_mount(self) -> None:
        """Let the operator type."""
        self._line.focus()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Answer."""
        message.stop()
        try:
            self.dismiss(self._line.text.strip())
        except ValueError:
            self.dismiss(message.value)


async def search(
    pinfold: Pinfold, text: str, aliases: Sequence[str], *, reveal: bool
) -> AsyncGenerator[tuple[Item, ...], None]:
    """Find rows everywhere, some at a time; a memory that cannot be read is left out.

    Args:
        pinfold: The services.
        text: What is searched for.
        aliases: The agents whose rows are looked through.
        reveal: Show secrets.
    """

    async def made(make: Callable[[Any], Item], found: Sequence[Any]) -> tuple[Item, ...]:
        return await pinfold.calls.run(lambda: tuple(make(each) for each in found))

    for alias in aliases:
        try:
            memory = pinfold.agent_memories.of(alias)
            recalled = await memory.recall(Query(text, _OF_AGENT, withheld=True, search="keywords"), [alias])
        except PinfoldError:  # the tree says why
            continue
        yield await made(lambda found: items.row_item(AgentRows(found.row.agent), found.row, reveal=reveal), recalled)
    for tenant in await pinfold.core_memory.tenants.all():
        name = tenant.role or tenant.agent
        blocks, archive = CoreBlocksOf(tenant, name), ArchiveOf(tenant, name)
        texts = [
            block
            for block in await pinfold.core_memory.blocks(tenant).all()
            if text.casefold() in block.content.casefold()
        ]
        yield await made(lambda block, place=blocks: items.block_item(place, block, reveal=reveal), texts)  # type: ignore[misc]
        entries = await pinfold.core_memory.archive(tenant).search(text, _OF_AGENT)
        yield await made(lambda entry, place=archive: items.entry_item(place, entry, reveal=reveal), entries)  # type: ignore[misc]
    async for part in pinfold.memory.scopes.search(text, limit=_MOST):
        yield await made(lambda found: items.key_item(ScopeKeys(found.scope), found.entry, reveal=reveal), part)
