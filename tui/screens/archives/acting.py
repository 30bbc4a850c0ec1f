"""What can be done with the entries of the screen of archives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from services.errors import PinfoldError
from tui.figures import counted
from tui.host import Host, host
from tui.screens.archives.entries import Entry, Narrowed
from tui.screens.operations import Asking

if TYPE_CHECKING:
    from services.archives import Archive
    from services.operations import Operation
    from tui.screens.archives.checks import Checks
    from tui.screens.archives.choosing import Other
    from tui.screens.archives.reading import Reading
    from tui.screens.frame import FrameScreen

_MOST_OTHERS = 500


class Entries(Protocol):
    """The screen, as far as it says whom actions concern."""

    @property
    def entry(self) -> Entry | None:
        """The entry under the cursor."""
        ...

    @property
    def concerned(self) -> Sequence[Entry]:
        """The marked entries, else the one under the cursor."""
        ...


class Acting:
    """Carries out the actions of the screen.

    Args:
        screen: Shows the dialogs.
        whom: Tells whom actions concern.
        checks: Verifies and compares.
        reading: Has the archive under the cursor open.
    """

    def __init__(self, screen: FrameScreen, whom: Entries, checks: Checks, reading: Reading) -> None:
        self._screen = screen
        self._whom = whom
        self._checks = checks
        self._reading = reading
        self._asking = Asking(screen, self._done)

    @property
    def _host(self) -> Host:
        return host(self._screen)

    def offers(self, action: str) -> bool:
        """Whether an action makes sense now."""
        entry = self._whom.entry
        archive = entry.archive if entry is not None else None
        match action:
            case "verify":
                return any(one.readable for one in self._whom.concerned)
            case "compare":
                return entry is not None and entry.readable
            case "restore":
                return entry is not None and entry.sealed
            case "retry":
                return entry is not None and entry.retryable
            case "stop":
                return self._stoppable(entry) or (archive is not None and self._checks.running(archive.id))
            case "purge":
                return any(one.purgeable for one in self._whom.concerned)
            case "narrow" | "expire":
                return self._host.store.ready
            case "next_tab" | "previous_tab":
                return entry is not None
        return True

    def _stoppable(self, entry: Entry | None) -> bool:
        if entry is None or entry.operation is None:
            return False
        undertaking = self._host.underway.of(entry.operation.id)
        return undertaking is not None and undertaking.cancellable

    def _done(self, _: Operation) -> None:
        self._reading.look_again()

    # ── on archives ───────────────────────────────────────────────────────────────────────────────────────────

    def verify(self) -> None:
        """Recompute the checksums of the archives concerned."""
        for entry in self._whom.concerned:
            if entry.archive is not None and entry.readable:
                self._checks.verify(entry.archive.id)

    def compare(self, entries: Sequence[Entry], then: Callable[[], None]) -> None:
        """Ask what the archive is compared with, then compare it."""
        from tui.screens.archives.choosing import ChooseOther

        entry = self._whom.entry
        if entry is None or entry.archive is None:
            return
        archive = entry.archive.id

        def go_on(other: Other | None) -> None:
            if other is not None:
                self._checks.compare(archive, other.name, living=other.living)
                then()

        others = self._others(entry, entries)
        if others:
            self._screen.app.push_screen(ChooseOther(archive, others), go_on)
        else:
            self._host.report(PinfoldError("there is no agent and no other archive to compare it with"))

    def _others(self, entry: Entry, entries: Sequence[Entry]) -> list[Other]:
        """The agent of the same alias, other archives of it, other agents, other archives."""
        from tui.screens.archives.choosing import Other

        agents = [Other(row.alias, True, "an agent as it is now") for row in self._host.store.agents]
        archives = [
            Other(one.archive.id, False, f"{one.kind} of {one.alias}")
            for one in entries
            if one.archive is not None and one.readable and one.key != entry.key
        ]
        same = {one.key for one in entries if one.alias == entry.alias}
        found = [*agents, *archives]
        found.sort(key=lambda one: (one.name != entry.alias, not (one.name in same and not one.living), not one.living))
        return found[:_MOST_OTHERS]

    def restore(self, member: str) -> None:
        """Ask what of the archive is brought back.

        Args:
            member: The file or folder to begin with; "" is the whole agent.
        """
        opened, entry = self._reading.archive, self._whom.entry
        if opened is None or entry is None or entry.archive is None or opened.archive.id != entry.archive.id:
            return
        part = "files" if member else "agent"
        self._asking.restore(opened.archive, opened.manifest.references, part=part, path=member)  # type: ignore[arg-type]

    def retry(self) -> None:
        """Complete the operation under the cursor."""
        entry = self._whom.entry
        if entry is not None and entry.operation is not None and entry.retryable:
            self._asking.retry(entry.operation)

    def stop(self) -> None:
        """Stop the operation, or what is done with the archive."""
        entry = self._whom.entry
        if entry is None:
            return
        undertaking = self._host.underway.of(entry.operation.id) if entry.operation is not None else None
        if undertaking is not None and undertaking.cancellable:
            self._host.underway.stop(undertaking)
        elif entry.archive is not None:
            self._checks.stop(entry.archive.id)

    # ── purging ───────────────────────────────────────────────────────────────────────────────────────────────

    def purge(self) -> None:
        """Ask, then remove the archives concerned."""
        archives = [one.archive for one in self._whom.concerned if one.archive is not None and one.purgeable]
        if archives:
            self._ask_purge(archives)

    def expire(self) -> None:
        """List what is kept no longer, and remove it once that is agreed to."""
        from tui.screens.archives.retention import Expire

        def go_on(archives: tuple[Archive, ...] | None) -> None:
            if archives:
                self._ask_purge(archives)

        self._screen.app.push_screen(Expire(), go_on)

    def _ask_purge(self, archives: Sequence[Archive]) -> None:
        from tui.screens.archives.purging import Purge

        def go_on(agreed: bool | None) -> None:
            if agreed:
                self._host.begin(self._screen, "archive purge", self._purge, archives)

        self._screen.app.push_screen(Purge(archives), go_on)

    async def _purge(self, archives: Sequence[Archive]) -> None:
        from services.archives import result_of

        done = 0
        for archive in archives:
            try:
                await result_of(self._host.pinfold.archives.purge(archive.id, archive.alias))
                self._host.underway.forget(archive.id)
                done += 1
            except PinfoldError as error:
                self._host.report(error)
        self._reading.look_again()
        if done:
            self._host.told(f"{archives[0].id if len(archives) == 1 else counted(done, 'archive')} purged")

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────

    def narrow(self, entries: Sequence[Entry], now: Narrowed, then: Callable[[Narrowed], None]) -> None:
        """Ask what is shown."""
        from tui.screens.archives.narrowing import Narrow

        aliases = sorted({entry.alias for entry in entries if entry.alias})
        states = sorted({entry.state for entry in entries} | {now.state} - {""})
        self._screen.app.push_screen(
            Narrow(now, aliases, states), lambda narrowed: then(narrowed) if narrowed is not None else None
        )
