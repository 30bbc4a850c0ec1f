"""The screen of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.timer import Timer
from textual.widget import Widget

from tui.actions import Scope
from tui.keymap import bindings
from tui.screens.memory.acting import ActingScreen
from tui.screens.memory.changes.changing import Changing
from tui.screens.memory.editing.editing import Editing
from tui.screens.memory.items import Item
from tui.screens.memory.listing import Listing
from tui.screens.memory.operations.catalogue import fitting
from tui.screens.memory.places import (
    AgentRows,
    ArchiveOf,
    CoreBlocksOf,
    FoundRows,
    OpenContexts,
    Place,
    StepsOf,
)
from tui.screens.memory.reading import Reading
from tui.screens.memory.tree import TreePane, TreeTable
from tui.screens.memory.viewer import Viewer
from tui.widgets.key_bar import KeyBar
from tui.widgets.status_rule import StatusRule
from tui.widgets.table import PagedTable, Table

_SETTLING_SECONDS = 0.08
_FOLLOWING = ("memory follow", "memory files")


class MemoryScreen(ActingScreen):
    """Scopes and agents in a tree, their rows in a table, the row under the cursor below."""

    MODE = "memory"
    SCOPE = Scope.MEMORY
    HELP = (
        "What is remembered: keys of users, teams, chats and contexts; what agents stored, always see and put away. "
        "The rows follow the cursor of the tree, and enter goes on to them. Actions concern the marked rows, else the "
        "row under the cursor. What others change shows within a second."
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.MEMORY)

    _tree_settling: Timer | None = None
    _rows_settling: Timer | None = None

    def body(self) -> Iterable[Widget]:
        """Tree, table and viewer."""
        self._tree = TreePane()
        self._listing = Listing(self.host.now)
        self._viewer = Viewer(self.host.now)
        self._reading = Reading(self, self._tree, self._listing, self._viewer, lambda: self._editing.look())
        self._changing = Changing(self, self._listing, self._reading)
        self._editing = Editing(self, self._viewer, lambda: self._reading.reveal, self._changing.done)
        yield Container(self._tree, Vertical(self._listing, self._viewer, id="right"), id="body")

    def on_mount(self) -> None:
        """Listen to the store."""
        store = self.host.store
        store.agents_changed.subscribe(self, self._agents_changed)
        store.awaiting_changed.subscribe(self, self._wake)
        self.host.leaving.append(self._editing.unsaved)
        self._clock = self.set_interval(1.0, self._tick)

    def on_screen_resume(self) -> None:
        """Read everything again, and follow changes."""
        self._clock.resume()
        self._wake(None)

    def on_screen_suspend(self) -> None:
        """Let the database rest, and hide secrets; a dialog over the screen changes nothing."""
        if self.app.current_mode == self.MODE:
            return
        self._clock.pause()
        for group in _FOLLOWING:
            self.workers.cancel_group(self, group)
        self._reading.reveal = False

    def _wake(self, _: None) -> None:
        if not self.is_current:
            return
        store = self.host.store
        if not store.ready:
            self._tree.wait_for(store.awaiting, store.awaiting_since)
            return
        if not any(worker.group in _FOLLOWING and not worker.is_finished for worker in self.workers):
            self.host.begin(self, _FOLLOWING[0], self._reading.follow)
            self.host.begin(self, _FOLLOWING[1], self._reading.follow_files)

    def _agents_changed(self, _: None) -> None:
        if self.is_current and self.host.store.ready:
            self._read_tree()

    def _tick(self) -> None:
        self._listing.table.redraw()
        self._viewer.tick()
        now = self.host.now()
        if any(item.expires_at is not None and item.expires_at <= now for item in self._listing.table.visible_rows):
            self._read_page()

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────

    def _read_tree(self) -> None:
        self.host.begin(self, "memory tree", self._reading.read_tree)

    def _read_page(self) -> None:
        self.host.begin(self, "memory page", self._reading.read_page)

    def _read_item(self) -> None:
        self.host.begin(self, "memory item", self._reading.read_item)

    @on(Table.Moved)
    def _moved(self, message: Table.Moved) -> None:
        if type(message) is not Table.Moved:  # the table's other messages are kinds of it
            return
        if message.table is self._tree.table:
            self._tree_settling = self._settle(self._tree_settling, self._follow_tree)
        elif message.table is self._listing.table:
            self.refresh_bindings()
            self._rows_settling = self._settle(self._rows_settling, self._read_item)

    def _settle(self, before: Timer | None, then: Callable[[], None]) -> Timer:
        """Do something once the cursor rests; what waited for that until now is not done."""
        if before is not None:
            before.stop()
        return self.set_timer(_SETTLING_SECONDS, then)

    def _follow_tree(self) -> None:
        place = self._tree.place
        if place is not None and place != self._listing.place:
            self.show_place(place)

    def show_place(self, place: Place | None, item: str = "") -> None:
        """Show the rows of a place, with the cursor on one of them, and the place in the tree."""
        if self._tree_settling is not None:
            self._tree_settling.stop()
        self._listing.turn_to(place)
        self._reading.aim = item
        self._tree.aim(place)
        self.refresh_bindings()
        if isinstance(place, FoundRows):
            self.host.begin(self, "memory search", self._reading.find, place.text)
        else:
            self.host.begin(self, "memory page", self._reading.read_place)

    @on(PagedTable.Wanted)
    def _read_more(self, message: PagedTable.Wanted) -> None:
        self.host.begin(self, "memory page", self._reading.read_page, message.window)

    @on(Listing.Filtered)
    def _filter(self) -> None:
        self._listing.table.clear()
        self._read_page()

    @on(PagedTable.MarkAllAsked)
    def _mark_all(self) -> None:
        self.host.begin(self, "mark", self._changing.mark_all)

    @on(Table.MarksChanged)
    def _marked(self) -> None:
        self.refresh_bindings()

    @on(Viewer.Edited)
    def _edited(self) -> None:
        if self._viewer.draft is None and self._viewer.has_focus_within:
            self._listing.table.focus()
        self.refresh_bindings()

    @on(TreeTable.Folded)
    def _fold(self, message: TreeTable.Folded) -> None:
        (self._reading.open.add if message.is_open else self._reading.open.discard)(message.key)
        self._read_tree()

    @on(Table.Opened)
    def _open(self, message: Table.Opened) -> None:
        if message.table is self._tree.table:
            self._open_node()
        elif (item := self._listing.table.row) is not None:
            self._open_item(item)

    def _open_node(self) -> None:
        node = self._tree.table.row
        if node is None:
            return
        if node.key.endswith("\0more"):
            kind = node.key.partition("\0")[0]
            self._reading.pages[kind] = self._reading.pages.get(kind, 1) + 1
            self._read_tree()
        elif node.place is not None:
            self._follow_tree()
            self._listing.table.focus()

    def _open_item(self, item: Item) -> None:
        if isinstance(self._listing.place, FoundRows):
            self.show_place(item.place, item.id)
        elif isinstance(self._listing.place, OpenContexts):
            self.show_place(StepsOf(item.id))
        else:
            self.add_class("-viewing")
            self._viewer.query_one("#content").focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Where there is little room, give it to the part in use."""
        for part, name in ((self._viewer, "-viewing"), (self._tree, "-choosing")):
            self.set_class(part in event.widget.ancestors_with_self, name)

    @on(StatusRule.Pressed)
    async def _press(self, message: StatusRule.Pressed) -> None:
        await self.press(KeyBar.Pressed(message.action))

    def subject(self) -> tuple[str, str, str]:
        """The agent whose memory is shown."""
        place = self._listing.place
        alias = place.alias if isinstance(place, AgentRows | CoreBlocksOf | ArchiveOf) else ""
        return alias, "", alias

    def commands(self) -> Iterator[tuple[str, str, partial[None]]]:
        """What the palette offers beside the actions: every operation that makes sense here."""
        for operation in fitting(*self._changing.at()):
            yield f"memory: {operation.label}", operation.help, partial(self._changing.ask, operation)

    def leave(self) -> None:
        """End editing, then go back to the rows, drop their filter and marks, and go back to the tree."""
        if self._viewer.draft is not None:
            self._editing.leave()
        elif self._viewer.has_focus_within:
            self._listing.table.focus()
        elif self._tree.has_focus_within:
            self._tree.drop_filter()
        elif not self._listing.drop_filter():
            if self._listing.table.marks:
                self._listing.table.mark(())
            else:
                self._tree.table.focus()
