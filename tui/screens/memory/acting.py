"""What the keys of the screen of memory do, and when each works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.actions import Scope, in_scope
from tui.screens.frame import FrameScreen
from tui.screens.memory.changes.deleting import can_delete
from tui.screens.memory.editing.drafts import editable
from tui.screens.memory.editing.writing import Problem
from tui.screens.memory.files.asking import AskingFiles
from tui.screens.memory.operations.catalogue import fitting, making
from tui.screens.memory.operations.keys import EXPIRE
from tui.screens.memory.places import AgentRows, FoundRows, Place, ScopeKeys

if TYPE_CHECKING:
    from tui.screens.memory.changes.changing import Changing
    from tui.screens.memory.editing.editing import Editing
    from tui.screens.memory.listing import Listing
    from tui.screens.memory.reading import Reading
    from tui.screens.memory.viewer import Viewer

_OWN = frozenset(action.call for action in in_scope(Scope.MEMORY))


class ActingScreen(FrameScreen):
    """Carries out the actions of the screen with the panes that its body makes."""

    _listing: Listing
    _viewer: Viewer
    _reading: Reading
    _changing: Changing
    _editing: Editing

    def show_place(self, place: Place | None, item: str = "") -> None:
        """Show the rows of a place, with the cursor on one of them."""
        raise NotImplementedError

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what the place and the row under the cursor allow."""
        if action not in _OWN:
            return True
        if not self.is_mounted or not self.host.store.ready:
            return False
        listing, viewer = self._listing, self._viewer
        place, item, editing = listing.place, listing.table.row, viewer.draft is not None
        keys = isinstance(place, ScopeKeys)
        if editing and action != "stop":
            return action == "save" and not isinstance(viewer.value, Problem)
        match action:
            case "new":
                return making(place, item) is not None
            case "edit":
                return item is not None and editable(item.place, item)
            case "save":
                return False
            case "undo":
                return self._changing.undos.last is not None
            case "operate":
                return bool(fitting(*self._changing.at()))
            case "expire":
                return keys and item is not None
            case "increase" | "decrease":
                return keys and item is not None and item.type == "integer"
            case "pin":
                return isinstance(place, AgentRows) and item is not None
            case "delete":
                return can_delete(place) and (item is not None or bool(listing.table.marks))
            case "move":
                return keys and (item is not None or bool(listing.table.marks))
            case "delete_matching" | "clear" | "snapshot" | "restore":
                return keys and (action == "restore" or listing.table.total > 0)
            case "export" | "take_in":
                return self._changing.transfer is None
            case "stop":
                return self._changing.transfer is not None
        return True

    def action_new(self) -> None:
        """Make something new in the place that is shown."""
        operation = making(self._listing.place, self._listing.table.row)
        if operation is not None:
            self._changing.ask(operation)

    def action_edit(self) -> None:
        """Edit the row under the cursor."""
        if (item := self._listing.table.row) is not None:
            self._editing.begin(item)

    def action_save(self) -> None:
        """Show what would be written, then write it."""
        self.host.begin(self, "edit", self._editing.save)

    def action_undo(self) -> None:
        """Take the last change back."""
        self.host.begin(self, "undo", self._changing.undos.take_back)

    def action_reveal(self) -> None:
        """Show secrets, or hide them."""
        self._reading.reveal = not self._reading.reveal
        self.host.told(
            "secrets are shown until you leave this screen" if self._reading.reveal else "secrets are hidden"
        )
        self.host.begin(self, "memory page", self._reading.read_place)

    def action_search(self) -> None:
        """Ask what to search for everywhere."""
        from tui.screens.memory.searching import AskSearch

        self.app.push_screen(AskSearch(self._reading.search), self._search)

    def _search(self, text: str | None) -> None:
        if text:
            self._reading.search = text
            self.host.begin(self, "memory tree", self._reading.read_tree)
            self.show_place(FoundRows(text))
            self._listing.table.focus()

    def action_operate(self) -> None:
        """Choose among everything that can be done."""
        self._changing.choose()

    def action_expire(self) -> None:
        """Change how long the key under the cursor lives."""
        self._changing.ask(EXPIRE)

    def action_increase(self) -> None:
        """Add one to the counter."""
        self._changing.count(1)

    def action_decrease(self) -> None:
        """Take one from the counter."""
        self._changing.count(-1)

    def action_pin(self) -> None:
        """Pin the row, or take the pin out."""
        self._changing.pin()

    def action_delete(self) -> None:
        """Delete what is marked, else the row."""
        self._changing.delete()

    def action_delete_matching(self) -> None:
        """Delete the keys of a pattern."""
        self._changing.delete_matching()

    def action_clear(self) -> None:
        """Empty the scope."""
        self._changing.clear()

    def action_move(self) -> None:
        """Move what is marked, else the key."""
        self._changing.move()

    def action_export(self) -> None:
        """Write keys or rows to a file."""
        AskingFiles(self, self._changing).export(self._listing.text)

    def action_take_in(self) -> None:
        """Read keys or rows from a file."""
        AskingFiles(self, self._changing).take_in()

    def action_snapshot(self) -> None:
        """Write everything in the scope to a file."""
        AskingFiles(self, self._changing).snapshot()

    def action_restore(self) -> None:
        """Replace everything in the scope by a snapshot."""
        AskingFiles(self, self._changing).restore()

    def action_stop(self) -> None:
        """Stop the export or import."""
        self._changing.stop_transfer()
