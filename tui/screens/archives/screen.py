"""The screen of archives."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.containers import Container
from textual.widget import Widget

from tui.actions import Scope
from tui.host import key_of
from tui.keymap import bindings
from tui.screens.archives.acting import Acting
from tui.screens.archives.checks import Checks
from tui.screens.archives.columns import entry_columns, unfinished_columns
from tui.screens.archives.contents import Contents
from tui.screens.archives.detail import EntryDetail
from tui.screens.archives.emptiness import say_nothing
from tui.screens.archives.entries import Entry, Narrowed
from tui.screens.archives.outline import MORE
from tui.screens.archives.pages import Pages
from tui.screens.archives.reading import Reading
from tui.screens.frame import FrameScreen
from tui.text import safe
from tui.widgets.folding_table import FoldingTable
from tui.widgets.list_pane import ListPane
from tui.widgets.table import Table

if TYPE_CHECKING:
    from services.operations import Operation

_AROUND_ROWS = 2
_MOST_UNDERWAY = 6
_TICK_SECONDS = 0.25


class ArchivesScreen(FrameScreen):
    """What is under way on top; archives and operations, and all about the one under the cursor."""

    MODE = "archives"
    SCOPE = Scope.ARCHIVES
    HELP = (
        "Every agent that was renamed, deleted or restored: what was done, what of it is kept, whether that is intact, "
        "what referred to it, and how to get it back. Actions concern the marked rows, else the row under the cursor."
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.ARCHIVES)
    AUTO_FOCUS = "#entries Table"

    def body(self) -> Iterable[Widget]:
        """What is under way, the list and the detail."""
        now, underway = self.host.now, self.host.underway
        self._checks = Checks(self, self._checked)
        self._only = Narrowed()
        self._entries: tuple[Entry, ...] = ()
        self._underway: ListPane[Operation] = ListPane(
            "Under way", Table(unfinished_columns(now, underway.of), lambda one: one.id), id="underway"
        )
        self._list: ListPane[Entry] = ListPane(
            "Archives and operations",
            Table(
                entry_columns(now, self._checks.standing),
                lambda entry: entry.key,
                text=lambda e: f"{e.alias} {e.kind} {e.state} {e.by} {e.note} {e.key}",
            ),
            id="entries",
        )
        self._detail = EntryDetail()
        self._reading = Reading(self, self._detail, self._show_lists, self._show_detail)
        self._acting = Acting(self, self, self._checks, self._reading)
        self._pages = Pages(self, self._detail, self._reading, self._checks, lambda: self.entry)
        self._shown: tuple[str, str, int] = ("", "", 0)
        self._standing: tuple[object, ...] = ()
        yield Container(
            self._underway, Container(self._list, self._detail, id="both"), id="body", classes="-nothing-underway"
        )

    def on_mount(self) -> None:
        """Listen to the store, and to what is carried out here."""
        store = self.host.store
        store.awaiting_changed.subscribe(self, self._wake)
        store.activity_changed.subscribe(self, self._grown)
        self.host.underway.changed.subscribe(self, self._progressed)
        self._clock = self.set_interval(_TICK_SECONDS, self._tick)

    def on_screen_resume(self) -> None:
        """Read everything again, and follow it."""
        self._clock.resume()
        self._wake(None)

    def on_screen_suspend(self) -> None:
        """Let disk and database rest."""
        self._clock.pause()
        self.workers.cancel_group(self, "archive list")

    def _wake(self, _: None) -> None:
        if not self.is_current:
            return
        store = self.host.store
        if not store.ready:
            self._list.wait_for(store.awaiting, store.awaiting_since)
            return
        if not self._entries:
            self._list.wait_for("what was kept", time.monotonic())
        self.host.begin(self, "archive list", self._reading.follow)

    def _grown(self, _: None) -> None:
        self._reading.look_again()

    def _progressed(self, _: None) -> None:
        underway = self.host.underway
        if self.is_current:
            self._underway.table.redraw()
            self._pages.write_steps()
            standing = tuple((one.operation and one.operation.step, one.cancellable) for one in underway.running)
            if standing != self._standing:
                self._standing = standing
                self._reading.look_again()
                self.refresh_bindings()

    def _tick(self) -> None:
        self._list.table.redraw()
        self._underway.table.redraw()
        self._pages.write_facts()
        self._pages.write_steps()

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────

    def _show_lists(self, entries: tuple[Entry, ...], unfinished: tuple[Operation, ...]) -> None:
        self._entries = entries
        self._underway.show(unfinished)
        self._underway.styles.height = min(len(unfinished), _MOST_UNDERWAY) + _AROUND_ROWS
        self.query_one("#body").set_class(not unfinished, "-nothing-underway")
        if not unfinished and self._underway.has_focus_within:
            self._list.table.focus()
        self._show_rows()

    def _show_rows(self) -> None:
        now = self.host.now()
        left = self._only.text
        say_nothing(self._list, self._only, len(self._entries), partial(key_of, self))
        self._list.rename(f"Archives and operations: {left}" if left else "Archives and operations")
        self._list.show([entry for entry in self._entries if self._only.lets_through(entry, now)])
        self._follow_cursor()

    def show_archive(self, key: str) -> None:
        """Put the cursor on an archive or an operation, by its id."""
        self._list.drop_filter()
        self._only = Narrowed()
        self._show_rows()
        self._list.table.move_to(key)
        self._list.table.focus()

    @on(Table.MarksChanged)
    def _marked(self) -> None:
        self.refresh_bindings()

    @on(Table.Moved)
    def _moved(self, message: Table.Moved) -> None:
        if type(message) is Table.Moved and message.table in (self._list.table, self._underway.table):
            self._follow_cursor()

    def _follow_cursor(self) -> None:
        """Show the entry under the cursor; open its archive again only when it is another, or changed."""
        entry = self.entry
        archive = entry.archive if entry is not None else None
        shown = (entry.key if entry else "", archive.state.value if archive else "", archive.size if archive else 0)
        if shown != self._shown:
            self._shown = shown
            self._reading.forget()
            if entry is not None:
                self.host.begin(self, "archive open", self._reading.open, entry)
        self._show_detail()

    def _show_detail(self) -> None:
        self._pages.write()
        self.refresh_bindings()

    def _checked(self, archive: str) -> None:
        if not self.is_attached:
            return
        self._list.table.redraw()
        entry = self.entry
        if entry is not None and entry.archive is not None and entry.archive.id == archive:
            self._pages.write_checks()
        self.refresh_bindings()

    # ── the contents ──────────────────────────────────────────────────────────────────────────────────────────

    @on(EntryDetail.Turned)
    def _turned(self) -> None:
        self._show_detail()
        self.host.begin(self, "archive tree", self._reading.list_contents)

    @on(FoldingTable.Folded)
    def _fold(self, message: FoldingTable.Folded) -> None:
        self.host.begin(self, "archive tree", self._reading.fold, message.key, message.is_open)

    @on(Contents.Chosen)
    def _preview(self) -> None:
        if (node := self._detail.contents.node) is not None:
            self.host.begin(self, "archive preview", self._reading.preview, node)

    @on(Table.Opened)
    def _open(self, message: Table.Opened) -> None:
        if message.table is self._detail.contents.members:
            node = self._detail.contents.node
            if node is not None and node.key.endswith(MORE):
                self.host.begin(self, "archive tree", self._reading.show_more, node)
            elif node is not None:
                self._detail.contents.preview.focus()
        else:
            if message.table is self._list.table and self.entry is not None and self.entry.readable:
                self._detail.turn_to("contents")
            elif message.table is self._underway.table:
                self._detail.turn_to("steps")
            self.add_class("-detail")
            self._detail.focus_page()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Where there is little room, give it to the part in use."""
        self.set_class(self._detail in event.widget.ancestors, "-detail")
        if event.widget in (self._list.table, self._underway.table):
            self._follow_cursor()

    # ── whom actions concern ──────────────────────────────────────────────────────────────────────────────────

    @property
    def entry(self) -> Entry | None:
        """The entry under the cursor of the list in use."""
        if self._underway.has_focus_within and (operation := self._underway.table.row) is not None:
            found = (entry for entry in self._entries if entry.operation is not None)
            return next((entry for entry in found if entry.operation and entry.operation.id == operation.id), None)
        return self._list.table.row

    @property
    def concerned(self) -> Sequence[Entry]:
        """The marked entries while the list is in use, else the one under the cursor."""
        if not self._detail.has_focus_within and not self._underway.has_focus_within and self._list.table.marked:
            return self._list.table.marked
        return () if self.entry is None else (self.entry,)

    @property
    def member(self) -> str:
        """The path of the member under the cursor, while the contents are in use; "" otherwise."""
        node = self._detail.contents.node
        inside = self._detail.contents.has_focus_within and node is not None and node.member is not None
        return node.key if inside and node is not None and node.key.startswith("workspace") else ""

    def subject(self) -> tuple[str, str, str]:
        """The agent of the entry under the cursor."""
        entry = self.entry
        return (entry.alias, "", entry.alias) if entry is not None else ("", "", "")

    def commands(self) -> Iterator[tuple[str, str, Callable[[], object]]]:
        """What the palette offers beside the actions: every archive and operation by its id."""
        for entry in self._entries[:200]:
            yield (
                f"archive: {safe(entry.key)}",
                f"{entry.kind} {entry.alias}, {entry.state}",
                partial(self.show_archive, entry.key),
            )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what makes sense for the entries concerned."""
        return self._acting.offers(action) if self.is_mounted else True

    def leave(self) -> None:
        """Go back to the list, then drop its filter, its marks, and what was narrowed down."""
        if not self._list.table.has_focus:
            self.remove_class("-detail")
            self._list.table.focus()
        elif self._list.drop_filter():
            return
        elif self._list.table.marked:
            self._list.table.clear_marks()
        elif self._only != Narrowed():
            self.narrow(Narrowed())

    def narrow(self, narrowed: Narrowed) -> None:
        """Show only some entries."""
        self._only = narrowed
        self._show_rows()

    # ── actions ───────────────────────────────────────────────────────────────────────────────────────────────

    def action_verify(self) -> None:
        """Recompute the checksums of the archives concerned."""
        self._detail.turn_to("verified")
        self._acting.verify()

    def action_compare(self) -> None:
        """Ask what the archive is compared with."""
        self._acting.compare(self._entries, then=lambda: self._detail.turn_to("compared"))

    def action_restore(self) -> None:
        """Ask what is brought back."""
        self._acting.restore(self.member)

    def action_retry(self) -> None:
        """Complete the operation."""
        self._acting.retry()

    def action_stop(self) -> None:
        """Stop the operation, or what is done with the archive."""
        self._acting.stop()

    def action_narrow(self) -> None:
        """Ask what is shown."""
        self._acting.narrow(self._entries, self._only, self.narrow)

    def action_purge(self) -> None:
        """Ask, then remove the archives concerned."""
        self._acting.purge()

    def action_expire(self) -> None:
        """List what is kept no longer, and remove it once that is agreed to."""
        self._acting.expire()

    def action_next_tab(self) -> None:
        """Show the next tab."""
        self._detail.step_tab(1)

    def action_previous_tab(self) -> None:
        """Show the tab before."""
        self._detail.step_tab(-1)
