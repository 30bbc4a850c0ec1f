"""Every change but editing: asked for, done, told of, and kept to be taken back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from services.errors import InputRefused
from services.memory import Listing as RowListing
from tui.host import Host, host, key_of
from tui.screens.dialog import Confirm
from tui.screens.memory.changes import deleting
from tui.screens.memory.changes.doing import Outcome, Subject
from tui.screens.memory.changes.undos import Undos
from tui.screens.memory.hiding import hidden
from tui.screens.memory.items import Item
from tui.screens.memory.listing import Listing
from tui.screens.memory.operations import agents, keys
from tui.screens.memory.operations.catalogue import fitting
from tui.screens.memory.operations.operation import Operation
from tui.screens.memory.places import AgentRows, FoundRows, Place, ScopeKeys
from tui.screens.memory.reading import Reading
from tui.screens.memory.sources import pattern_of

if TYPE_CHECKING:
    from services.memory import Scope
    from tui.screens.memory.acting import ActingScreen
    from tui.screens.memory.files.dialogs import FileAnswer
    from tui.screens.memory.files.files import Transfer

_SAID = 160


class Changing:
    """Carries out what the operator asks for.

    Args:
        screen: Asks the questions.
        listing: Says what is concerned.
        reading: Reads again what was changed.

    Attributes:
        transfer: The export or import under way.
    """

    def __init__(self, screen: ActingScreen, listing: Listing, reading: Reading) -> None:
        self._screen = screen
        self._listing = listing
        self._reading = reading
        self.undos = Undos(screen, self.done)
        self.transfer: Transfer | None = None

    @property
    def _host(self) -> Host:
        return host(self._screen)

    # ── what is concerned ─────────────────────────────────────────────────────────────────────────────────────

    def at(self) -> tuple[Place | None, Item | None]:
        """The place and the row under the cursor; of what a search found, where the row really is."""
        item = self._listing.table.row
        place = self._listing.place
        return (item.place if item is not None else None) if isinstance(place, FoundRows) else place, item

    def subject(self) -> Subject:
        """The same, with the services."""
        place, item = self.at()
        assert place is not None
        return Subject(self._host.pinfold, place, item)

    def _ids(self) -> list[str]:
        """The rows concerned: those marked, else the one under the cursor."""
        table = self._listing.table
        if table.marks:
            return [key.partition("\0")[2] for key in table.marks]
        return [table.row.id] if table.row is not None else []

    async def mark_all(self) -> None:
        """Mark every row of the place that passes the filter.

        Raises:
            InputRefused: There are too many.
        """
        place, table = self._listing.place, self._listing.table
        if table.total > deleting.MOST:
            raise InputRefused(
                f"{table.total:,} rows are too many to mark",
                why=f"at most {deleting.MOST:,} are marked at once",
                fix=f"Filter first, or delete by pattern with {key_of(self._screen, 'memory.delete_matching')}.",
            )
        ids = [item.id for item in table.rows]
        if isinstance(place, ScopeKeys) and len(ids) < table.total:
            ids = await self._host.pinfold.memory.namespace(place.scope).keys(pattern_of(self._listing.text))
        elif isinstance(place, AgentRows) and len(ids) < table.total:
            wanted = RowListing(category=place.category or None, superseded=True, limit=deleting.MOST)
            ids = [row.key for row in await self._host.pinfold.agent_memories.of(place.alias).listed(wanted)]
        table.mark(f"{place!r}\0{each}" for each in ids)

    # ── doing ─────────────────────────────────────────────────────────────────────────────────────────────────

    def done(self, outcome: Outcome | None) -> None:
        """Tell what was done, keep how it is taken back, and show it."""
        if outcome is None:
            return
        said, _ = hidden(outcome.said, reveal=self._reading.reveal)
        said = said if len(said) <= _SAID else f"{said[:_SAID]}…"
        if outcome.undo is not None:
            said += self.undos.keep(outcome.undo)
        if said:
            self._host.told(said)
        self._screen.refresh_bindings()
        if outcome.place is not None:
            self._screen.show_place(outcome.place, outcome.item)
            self._host.begin(self._screen, "memory tree", self._reading.read_tree)
        else:
            self._reading.aim = outcome.item
            self._host.begin(self._screen, "memory page", self._show)

    async def _show(self) -> None:
        await self._reading.read_place()
        await self._reading.read_tree()

    def ask(self, operation: Operation) -> None:
        """Ask for what an operation needs, and do it."""
        from tui.screens.memory.operations.choosing import OperationForm

        subject = self.subject()

        async def run(values: Mapping[str, Any]) -> Outcome:
            return await operation.run(subject, values)

        self._screen.app.push_screen(OperationForm(operation, subject, run), self.done)

    def choose(self) -> None:
        """Let the operator choose among all operations that make sense."""
        from tui.screens.memory.operations.choosing import ChooseOperation

        place, item = self.at()
        operations = fitting(place, item)
        if place is None or not operations:
            return
        heading = f"{place.title}  {item.name[:60]}" if item is not None else place.title

        def chosen(operation: Operation | None) -> None:
            if operation is not None:
                self.ask(operation)

        self._screen.app.push_screen(ChooseOperation(heading, operations), chosen)

    def perform(self, group: str, work: Callable[[], Awaitable[Outcome]]) -> None:
        """Do something that needs no question."""
        self._host.begin(self._screen, group, self._perform, work)

    async def _perform(self, work: Callable[[], Awaitable[Outcome]]) -> None:
        self.done(await work())

    def pin(self) -> None:
        """Pin the row under the cursor, or take the pin out."""
        self.perform("pin", partial(agents.pin, self.subject()))

    def count(self, by: int) -> None:
        """Count the integer under the cursor up or down by one."""
        subject = self.subject()
        operation = next(each for each in keys.OPERATIONS if each.id == ("incr" if by > 0 else "decr"))
        values = {"key": subject.key, "amount": 1, "ttl": None}
        self.perform("count", lambda: operation.run(subject, values))

    # ── many at once ──────────────────────────────────────────────────────────────────────────────────────────

    def delete(self) -> None:
        """Ask, then delete the rows concerned."""
        subject, ids = self.subject(), self._ids()
        names = [item.name for item in self._listing.table.rows if item.id in set(ids)]
        question = deleting.delete_question(subject.place, ids, names if len(names) == len(ids) else [])
        self._confirm(question, lambda: deleting.delete(subject, ids))

    def clear(self) -> None:
        """Ask, then empty the scope."""
        self._host.begin(self._screen, "preview", self._ask_clear)

    async def _ask_clear(self) -> None:
        subject = self.subject()
        assert isinstance(subject.place, ScopeKeys)
        question = await deleting.clear_question(subject.pinfold, subject.place)
        self._confirm(question, lambda: deleting.clear(subject))

    def _confirm(self, question: Confirm, work: Callable[[], Awaitable[Outcome]]) -> None:
        def answer(yes: bool | None) -> None:
            if yes:
                self._listing.table.mark(())
                self.perform("bulk", work)

        self._screen.app.push_screen(question, answer)

    def delete_matching(self) -> None:
        """Ask for a pattern, then delete what it matches."""
        subject = self.subject()
        assert isinstance(subject.place, ScopeKeys)

        def answer(pattern: str | None) -> None:
            if pattern:
                self.perform("bulk", lambda: deleting.delete_matching(subject, pattern))

        dialog = deleting.DeleteMatching(subject.place, pattern_of(self._listing.text))
        self._screen.app.push_screen(dialog, answer)

    def move(self) -> None:
        """Ask where to, then move the keys concerned."""
        from tui.screens.memory.changes import moving

        subject, ids = self.subject(), self._ids()
        assert isinstance(subject.place, ScopeKeys)

        def answer(chosen: tuple[Scope, bool] | None) -> None:
            if chosen is not None:
                self._listing.table.mark(())
                self.perform("bulk", lambda: moving.move(subject, ids, *chosen))

        self._screen.app.push_screen(moving.MoveKeys(subject.place, ids), answer)

    # ── files ─────────────────────────────────────────────────────────────────────────────────────────────────

    def begin_transfer(
        self, work: Callable[[Transfer, FileAnswer], Awaitable[Outcome]], answer: FileAnswer | None
    ) -> None:
        """Write or read a file beside everything else."""
        if answer is not None:
            self._host.begin(self._screen, "memory file", self._transfer, work, answer)

    async def _transfer(self, work: Callable[[Transfer, FileAnswer], Awaitable[Outcome]], answer: FileAnswer) -> None:
        from tui.screens.memory.files.files import Transfer

        self.transfer = Transfer(self._host.pinfold, self._listing.say)
        self._screen.refresh_bindings()
        try:
            outcome = await work(self.transfer, answer)
        finally:
            self.transfer = None
            self._screen.refresh_bindings()
        self.done(outcome)

    def stop_transfer(self) -> None:
        """End the export or import under way."""
        if self.transfer is not None:
            self.transfer.give_up()
