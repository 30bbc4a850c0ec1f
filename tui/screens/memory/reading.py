"""Keeps tree, table and viewer up to date: reads what is on screen, and again whenever anybody has changed anything."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from typing import TYPE_CHECKING

from services.errors import PinfoldError
from services.memory import newest_change
from tui.host import Host, host
from tui.screens.memory.facts import Content, read_content
from tui.screens.memory.items import Item
from tui.screens.memory.listing import Listing
from tui.screens.memory.outline import Wanted, read_outline
from tui.screens.memory.places import AgentRows, FoundRows, ScopeKeys
from tui.screens.memory.sources import Asked, Part, read_part
from tui.screens.memory.tree import TreePane
from tui.screens.memory.viewer import Viewer
from tui.widgets.table import Window

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tui.screens.memory.acting import ActingScreen

_TREE_SECONDS = 0.8
_SHARE, _PAUSE_SECONDS = 4, 0.4
"""A refresh is followed by a pause so many times as long as it took, but no longer than this, so that a busy home
costs little and is yet seen within a second."""


class Reading:
    """Reads for the panes of the screen.

    Args:
        screen: Its workers end with it; told which place to begin with.
        tree: The tree.
        listing: The table.
        viewer: The viewer.
        look_at_draft: Finds out whether what is edited was changed meanwhile.

    Attributes:
        aim: The id of the row that the cursor goes to once its page is read, whoever reads it; "" is none.
    """

    def __init__(
        self,
        screen: ActingScreen,
        tree: TreePane,
        listing: Listing,
        viewer: Viewer,
        look_at_draft: Callable[[], Awaitable[None]],
    ) -> None:
        self._screen = screen
        self._tree = tree
        self._listing = listing
        self._viewer = viewer
        self._look_at_draft = look_at_draft
        self._tree_read_at = 0.0
        self.open: set[str] = {"user", "team", "chat", "context"}
        self.pages: dict[str, int] = {}
        self.reveal = False
        self.search = ""
        self.aim = ""

    @property
    def _host(self) -> Host:
        return host(self._screen)

    # ── while the screen is shown ─────────────────────────────────────────────────────────────────────────────

    async def follow(self) -> None:
        """Read everything on screen, and again after each commit of anybody, until cancelled."""
        pinfold = self._host.pinfold
        async with aclosing(pinfold.database.changes()) as changes:
            async for _ in changes:
                began = time.monotonic()
                await self.refresh()
                await asyncio.sleep(min((time.monotonic() - began) * _SHARE, _PAUSE_SECONDS))

    async def follow_files(self) -> None:
        """Read an agent's rows again and again that no commit tells of, until cancelled."""
        while True:
            await asyncio.sleep(0.7)
            place = self._listing.place
            if isinstance(place, AgentRows) and self._kept_elsewhere(place.alias):
                await self.read_page()

    def _kept_elsewhere(self, alias: str) -> bool:
        agent = self._host.store.configured(alias)
        return agent is not None and agent.config is not None and agent.config.memory.backend != "sqlite"

    async def refresh(self) -> None:
        """Read everything on screen once."""
        await self.read_page()
        await self.read_item()
        await self._look_at_draft()
        if time.monotonic() - self._tree_read_at >= _TREE_SECONDS:
            await self.read_tree()
        else:
            self._screen.set_timer(_TREE_SECONDS, self.read_tree_soon, name="tree")

    def read_tree_soon(self) -> None:
        """Read the tree when it was not read just now."""
        if self._screen.is_current and time.monotonic() - self._tree_read_at >= _TREE_SECONDS:
            self._host.begin(self._screen, "memory tree", self.read_tree)

    # ── the parts ─────────────────────────────────────────────────────────────────────────────────────────────

    async def read_tree(self) -> None:
        """Read the tree as far as it is open."""
        self._tree_read_at = time.monotonic()
        aliases = tuple(row.alias for row in self._host.store.agents)
        wanted = Wanted(frozenset(self.open), dict(self.pages), aliases, self.search)
        nodes = await read_outline(self._host.pinfold, wanted)
        if not self._tree.is_attached:
            return
        first = not self._tree.table.total
        self._tree.show(nodes)
        if first and self._listing.place is None:
            await self._begin()

    async def _begin(self) -> None:
        """Show what was changed last, or else the first line of the tree."""
        newest = await newest_change(self._host.pinfold.database, self._host.now())
        if self._listing.place is not None or not self._listing.is_attached:
            return
        if newest is None:
            self._screen.show_place(self._tree.place)
        elif newest.scope is not None:
            self._screen.show_place(ScopeKeys(newest.scope), newest.key)
        else:
            self._screen.show_place(AgentRows(newest.agent), newest.key)

    async def read_page(self, window: Window | None = None, around: str = "") -> None:
        """Read the rows of the place that is shown.

        Args:
            window: Which; None are those around the visible ones, with the cursor's row where it is.
            around: The id of the row to go to; "" stays.
        """
        listing = self._listing
        place, text = listing.place, listing.text
        if place is None or isinstance(place, FoundRows):
            return
        around = around or self.aim
        try:
            part = await read_part(self._host.pinfold, place, self._asked(window, around))
        except PinfoldError as error:
            if listing.place == place:
                listing.refuse(error)
            return
        if listing.place == place and listing.text == text and listing.is_attached:
            listing.show(part)
            if around:
                self.aim = "" if self.aim == around else self.aim
                found = next((item for item in part.rows if item.id == around), None)
                if found is not None:
                    listing.table.move_to(found.key)

    def _asked(self, window: Window | None, around: str) -> Asked:
        table = self._listing.table
        wanted = table.window if window is None else window
        if around:
            return Asked(self._listing.text, Window(0, wanted.limit), around, wanted.limit // 2, self.reveal)
        row = table.row
        before = table.cursor_place - wanted.start
        if window is not None or row is None or not 0 <= before < wanted.limit:
            return Asked(self._listing.text, wanted, reveal=self.reveal)
        return Asked(self._listing.text, wanted, row.id, before, self.reveal)

    async def read_item(self) -> None:
        """Read the row under the cursor for the viewer."""
        item = self._listing.table.row
        if item is None:
            if self._listing.table.total == 0:
                self._viewer.show(None, Content())
            return
        content = await read_content(self._host.pinfold, item, reveal=self.reveal)
        now = self._listing.table.row
        if now is not None and now.key == item.key and self._viewer.is_attached:
            self._viewer.show(now, content)

    async def read_place(self) -> None:
        """Read rows and viewer, with the cursor on the row aimed at."""
        await self.read_page()
        await self.read_item()

    async def find(self, text: str) -> None:
        """Search everything, and show what is found while it comes."""
        from tui.screens.memory.searching import search

        found: dict[str, Item] = {}
        listing = self._listing
        aliases = [row.alias for row in self._host.store.agents]
        listing.say("searching")
        async with aclosing(search(self._host.pinfold, text, aliases, reveal=self.reveal)) as parts:
            async for part in parts:
                found |= {item.key: item for item in part}
                if not isinstance(listing.place, FoundRows) or not listing.is_attached:
                    return
                if part:
                    listing.show(Part(tuple(found.values()), 0, len(found)))
        listing.say("")
        listing.settle()
