"""What the screen of archives reads: the lists while it is in sight, and the archive under the cursor."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from importlib import import_module
from typing import TYPE_CHECKING, Any

from services.errors import ArchiveError
from tui.host import Host, host
from tui.screens.archives.detail import EntryDetail
from tui.screens.archives.entries import Entry, entries_of
from tui.screens.archives.facts import Opened
from tui.screens.archives.findings import progress_text
from tui.screens.archives.outline import MORE, Node, outline
from tui.screens.archives.previewing import preview_lines
from tui.text import safe
from tui.widgets.table import cell

if TYPE_CHECKING:
    from textual.screen import Screen

    from services.archives import Archives, OpenArchive, Tree
    from services.operations import Operation, Operations

_PAUSE_SECONDS = 0.8
_LEAST_SECONDS = 0.15
_POLLS = 8
"""After so many looks at what is under way everything is read again."""

_SETTLING_SECONDS = 0.08
_MOST_OPERATIONS = 1000

Lists = Callable[[tuple[Entry, ...], "tuple[Operation, ...]"], None]


class Reading:
    """Reads for one screen.

    Args:
        screen: Its tasks end with it.
        detail: Where the archive under the cursor is shown.
        lists: Told of all entries, and of the operations that are under way or wait for a retry.
        opened: Told when the archive under the cursor was opened.
    """

    def __init__(self, screen: Screen[Any], detail: EntryDetail, lists: Lists, opened: Callable[[], None]) -> None:
        self._screen = screen
        self._detail = detail
        self._lists = lists
        self._tell_opened = opened
        self._grown = asyncio.Event()
        self._archive: OpenArchive | None = None
        self._tree: Tree | None = None
        self._open: set[str] = set()
        self._pages: dict[str, int] = {}
        self.facts: Opened | None = None

    @property
    def _host(self) -> Host:
        return host(self._screen)

    # ── the lists ─────────────────────────────────────────────────────────────────────────────────────────────

    def look_again(self) -> None:
        """Read the lists at once."""
        self._grown.set()

    async def follow(self) -> None:
        """Read the lists whenever anything may have changed, also by another Pinfold; all of them now and then."""
        archives = await self._archives()
        operations = await self._host.underway.operations()
        from services.archives import Wanted

        while True:
            self._grown.clear()
            mark = await self._mark(operations)
            kept, done = await archives.list(Wanted(purged=True)), await operations.all(_MOST_OPERATIONS)
            entries = await self._host.pinfold.calls.run(entries_of, kept, done)
            self._lists(entries, tuple(one for one in done if one.state.unfinished))
            await self._change(operations, mark)

    async def _mark(self, operations: Operations) -> tuple[object, ...]:
        """Something that is another once anybody did anything to archives or operations, and quickly read."""
        return await self._host.pinfold.activity.recent(1), await operations.unfinished()

    async def _change(self, operations: Operations, mark: tuple[object, ...]) -> None:
        """Wait until there is something new, and not for ever, since files come and go without a word."""
        await asyncio.sleep(_LEAST_SECONDS)
        for _ in range(_POLLS):
            try:
                async with asyncio.timeout(_PAUSE_SECONDS):
                    await self._grown.wait()
                return
            except TimeoutError:
                if await self._mark(operations) != mark:
                    return

    async def _archives(self) -> Archives:
        pinfold = self._host.pinfold
        await pinfold.calls.run(import_module, "services.archives")
        return pinfold.archives

    # ── the archive under the cursor ──────────────────────────────────────────────────────────────────────────

    @property
    def archive(self) -> OpenArchive | None:
        """The archive under the cursor, once it was opened."""
        return self._archive

    def forget(self) -> None:
        """Show nothing of an archive any more."""
        self._archive = self._tree = self.facts = None
        self._open, self._pages = {"workspace"}, {}
        self._detail.contents.show(())
        self._detail.fill_contents(False)

    async def open(self, entry: Entry) -> None:
        """Open the archive of an entry, and list it when its contents are looked at."""
        await asyncio.sleep(_SETTLING_SECONDS)
        if entry.archive is None or not entry.readable:
            return
        archives = await self._archives()
        try:
            self._archive = await archives.open(entry.archive.id)
        except ArchiveError as error:
            self.facts = Opened(problem=safe(str(error)))
        else:
            self.facts = Opened(self._archive.manifest)
        self._tell_opened()
        await self.list_contents()

    async def list_contents(self) -> None:
        """List the archive, if its contents are what is looked at."""
        if self._archive is None or self._detail.tab != "contents":
            return
        if self._tree is None:
            self._tree = await self._read_tree(self._archive)
        await self._show_tree()

    async def _read_tree(self, archive: OpenArchive) -> Tree:
        from services.archives import Done

        async with aclosing(archive.tree()) as told:
            async for event in told:
                if isinstance(event, Done):
                    self._detail.say(status="" if event.result.vouched else "nothing vouches for it")
                    return event.result
                self._detail.say(status=f"reading {progress_text(event)}")
        raise AssertionError("the work ended without a result")

    async def _show_tree(self) -> None:
        tree, archive = self._tree, self._archive
        if tree is None or archive is None:
            return
        files = archive.manifest.files
        nodes = await self._host.pinfold.calls.run(outline, tree, frozenset(self._open), dict(self._pages), files)
        if self._tree is tree:
            self._detail.fill_contents(True)
            self._detail.contents.show(nodes)

    async def fold(self, key: str, is_open: bool) -> None:
        """Show what is below a line of the tree, or no longer."""
        (self._open.add if is_open else self._open.discard)(key)
        await self._show_tree()

    async def show_more(self, node: Node) -> None:
        """Show more members of a folder."""
        folder = node.key.removesuffix(MORE)
        self._pages[folder] = self._pages.get(folder, 1) + 1
        await self._show_tree()

    async def preview(self, node: Node) -> None:
        """Show the beginning of a member."""
        await asyncio.sleep(_SETTLING_SECONDS)
        archive, view = self._archive, self._detail.contents.preview
        if archive is None:
            return
        try:
            lines = await preview_lines(archive, node, self._host.pinfold.calls)
        except ArchiveError as error:
            lines = [cell(safe(str(error)), "bad")]
        if archive is self._archive:
            view.show(lines)
            view.scroll_to(0, 0, animate=False)
