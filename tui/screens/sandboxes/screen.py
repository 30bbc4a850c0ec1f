"""The screen of sandboxes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.timer import Timer
from textual.widget import Widget

from services.errors import SessionNotFound
from tui.actions import Scope
from tui.figures import counted
from tui.keymap import bindings
from tui.screens.frame import FrameScreen
from tui.screens.sandboxes.details import SessionDetails
from tui.screens.sandboxes.ending import Ending, concerned, end, question
from tui.screens.sandboxes.panes import MOST_PANES, PaneGrid
from tui.screens.sandboxes.usage import UsageWatch
from tui.session_columns import session_columns
from tui.states import state_word
from tui.store import SessionRow
from tui.widgets.list_pane import ListPane
from tui.widgets.table import Table

if TYPE_CHECKING:
    from services.sandbox import StartRequest

_AROUND_ROWS = 2
_LEAST_HEIGHT = 8
_SETTLING_SECONDS = 0.12
"""How long the cursor must rest before the first pane follows it."""


class SandboxesScreen(FrameScreen):
    """Sessions in a table; below, the output of the one under the cursor and of those split off."""

    MODE = "sandboxes"
    SCOPE = Scope.SANDBOXES
    HELP = (
        "Sessions and their output. The first pane follows the cursor; a split keeps its session. "
        "Actions concern the marked rows, else the pane in use, else the row under the cursor."
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.SANDBOXES)

    def body(self) -> Iterable[Widget]:
        """The table, the panes and the details."""
        self._usage = UsageWatch(self)
        self._sessions: ListPane[SessionRow] = ListPane(
            "Sessions",
            Table(
                session_columns(self._usage.history, self.host.now),
                lambda row: row.id,
                text=lambda row: f"{row.agent} {row.id} {row.runner} {row.engine} {state_word(row)} {row.detail}",
                sort="age",
            ),
            id="sessions",
        )
        self._panes = PaneGrid(self.host.now)
        self._details = SessionDetails()
        self._settling: Timer | None = None
        yield Container(self._sessions, Horizontal(self._panes, self._details, id="lower"), id="body")

    def on_mount(self) -> None:
        """Listen to the store."""
        store = self.host.store
        for signal in (store.sessions_changed, store.awaiting_changed):
            signal.subscribe(self, self._update)
        self._clock = self.set_interval(1.0, self._tick)

    def on_screen_resume(self) -> None:
        """Catch up, and take usage again."""
        self._update(None)
        self._clock.resume()

    def on_screen_suspend(self) -> None:
        """Let clock and engines rest."""
        self._clock.pause()
        self._usage.watch(())

    def _tick(self) -> None:
        self._sessions.table.redraw()
        if self._details.display:
            self._details.tick(self.host.now())

    def _update(self, _: None) -> None:
        if not self.is_current:
            return
        store = self.host.store
        if store.ready:
            self._sessions.say_empty(
                "No sessions yet",
                ("A session is one run of an agent in a sandbox, with its output below.",),
                (("s", "start the first one"), ("1", "look at the agents")),
            )
        else:
            self._sessions.wait_for(store.awaiting, store.awaiting_since)
        rows = store.session_rows
        self._sessions.show(rows)
        self._sessions.styles.max_height = max(len(rows) + _AROUND_ROWS, _LEAST_HEIGHT) if rows else None
        for pane in self._panes.panes[1:]:
            if pane.row is not None:
                pane.show(store.sessions.get(pane.row.id, pane.row))
        self._follow_cursor()
        self._watch_usage()

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────

    @on(Table.Moved)
    def _rest(self) -> None:
        if self._settling is not None:
            self._settling.stop()
        self._settling = self.set_timer(_SETTLING_SECONDS, self._follow_cursor)

    def _follow_cursor(self) -> None:
        row = self._sessions.table.row
        self._panes.first.show(row)
        self.query_one("#body").set_class(row is None and not self._sessions.table.total, "-none")
        self._show_details()
        self.refresh_bindings()

    def _show_details(self) -> None:
        if self._details.display:
            self.host.begin(self, "details", self._load_details, self._subject())

    async def _load_details(self, row: SessionRow | None) -> None:
        try:
            steps = await self.host.pinfold.sandboxes.steps(row.id) if row and row.orphan is None else []
        except SessionNotFound:  # removed a moment ago
            steps = []
        self._details.show(row, steps, self.host.now())

    @on(Table.VisibleChanged)
    def _watch_usage(self) -> None:
        visible = self._sessions.table.visible_rows if self.is_current else ()
        self._usage.watch(row.id for row in visible if row.state is not None and row.state.value == "running")

    @on(Table.Opened)
    def _open(self) -> None:
        row = self._sessions.table.row
        if row is not None:
            pane = self._panes.showing(row.id) or self._panes.first
            pane.show(row)
            pane.log_pane.focus()

    def show_session(self, session: str) -> None:
        """Put the cursor on a session."""
        self._update(None)
        self._sessions.drop_filter()
        self._sessions.table.move_to(session)
        self._sessions.table.focus()

    # ── whom actions concern ──────────────────────────────────────────────────────────────────────────────────

    def _subject(self) -> SessionRow | None:
        """The session of the pane that has the focus, else the one under the cursor."""
        if self._panes.has_focus_within and self._panes.active.row is not None:
            row = self._panes.active.row
            return self.host.store.sessions.get(row.id, row)
        return self._sessions.table.row

    def _subjects(self) -> Sequence[SessionRow]:
        """The marked sessions while the table has the focus, else the one in use."""
        if not self._panes.has_focus_within and self._sessions.table.marked:
            return self._sessions.table.marked
        subject = self._subject()
        return () if subject is None else (subject,)

    def subject(self) -> tuple[str, str, str]:
        """The session in use."""
        row = self._subject()
        return ("", row.id, f"{row.agent} {row.id}") if row is not None and row.orphan is None else ("", "", "")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what makes sense for the sessions concerned."""
        if not self.is_mounted:
            return True
        if action == "start":
            return self.host.store.ready
        if action in ("stop", "kill", "remove"):
            return bool(concerned(action, self._subjects()))  # type: ignore[arg-type]
        subject = self._subject()
        if action in ("interrupt", "shell"):
            return subject is not None and subject.state is not None and subject.state.value == "running"
        if action == "split":
            return subject is not None and len(self._panes.panes) < MOST_PANES
        if action == "close":
            return len(self._panes.panes) > 1
        if action == "details":
            return subject is not None
        return True

    # ── actions ───────────────────────────────────────────────────────────────────────────────────────────────

    def action_start(self) -> None:
        """Ask what to start."""
        subject = self._subject()
        self.ask_start(subject.agent if subject is not None and subject.orphan is None else "")

    def ask_start(self, alias: str) -> None:
        """Ask what to start, with an agent chosen already."""
        from tui.screens.sandboxes.start_form import StartForm

        self.app.push_screen(StartForm(alias), self._begin_start)

    def _begin_start(self, request: StartRequest | None) -> None:
        if request is not None:
            self.host.begin(self, "start", self._start, request)

    async def _start(self, request: StartRequest) -> None:
        shown = False
        async for progress in self.host.pinfold.sandboxes.start(request):
            if not shown:
                shown = True
                self.host.store.put_sessions((progress.session,))
                self.call_after_refresh(self._sessions.table.move_to, progress.session.id)

    def action_stop(self) -> None:
        """Stop the sessions concerned."""
        self._end("stop")

    def action_kill(self) -> None:
        """Kill the sessions concerned."""
        self._end("kill")

    def action_remove(self) -> None:
        """Remove the sessions concerned."""
        self._end("remove")

    def _end(self, ending: Ending) -> None:
        rows = concerned(ending, self._subjects())
        if not rows:
            return

        def go_on(agreed: bool | None) -> None:
            if agreed:
                self.host.begin(self, ending, self._end_all, ending, rows)

        asked = question(ending, rows)
        if asked is None:
            go_on(True)
        else:
            self.app.push_screen(asked, go_on)

    async def _end_all(self, ending: Ending, rows: Sequence[SessionRow]) -> None:
        self._sessions.table.clear_marks()
        pinfold = self.host.pinfold
        results = await asyncio.gather(*(end(pinfold, ending, row) for row in rows), return_exceptions=True)
        failed = [result for result in results if isinstance(result, BaseException)]
        for error in failed[:3]:
            self.host.report(error)
        done = len(rows) - len(failed)
        if done:
            past = {"stop": "stopped", "kill": "killed", "remove": "removed"}[ending]
            names = rows[0].agent if len(rows) == 1 else counted(done, "session")
            self.host.told(f"{names} {past}")

    def action_interrupt(self) -> None:
        """Interrupt the session in use."""
        if (row := self._subject()) is not None:
            self.host.begin(self, "interrupt", self._interrupt, row)

    async def _interrupt(self, row: SessionRow) -> None:
        await self.host.pinfold.sandboxes.interrupt(row.id)

    def action_shell(self) -> None:
        """Open a shell in the sandbox of the session in use."""
        if (row := self._subject()) is not None:
            self.host.begin(self, "shell", self._shell, row)

    async def _shell(self, row: SessionRow) -> None:
        from tui.terminal import relay

        size = self.app.size
        shell = await self.host.pinfold.sandboxes.shell(row.id, (), size.width, size.height)
        with self.app.batch_update(), self.app.suspend():
            where = f"in {row.agent} {row.id}" if row.confined else f"UNCONFINED, on this machine, as {row.agent}"
            print(f"\nA shell {where}; its exit brings you back to Pinfold.", flush=True)  # noqa: T201
            await relay(shell)
        self.app.refresh(layout=True)

    def action_details(self) -> None:
        """Show or hide all that is known of the session in use."""
        hidden = not self._details.display
        self.set_class(hidden, "-details")
        self.set_class(not hidden, "-no-details")
        self.call_after_refresh(self._show_details)

    def action_split(self) -> None:
        """Add a pane that keeps the session in use."""
        pane = self._panes.split(self._subject())
        if pane is not None:
            self.refresh_bindings()

    def action_close(self) -> None:
        """Close the pane in use."""
        self._panes.close_active()
        self.refresh_bindings()

    def leave(self) -> None:
        """Go back to the table, then drop its filter, then its marks."""
        if not self._sessions.table.has_focus:
            self._sessions.table.focus()
        elif not self._sessions.drop_filter():
            self._sessions.table.clear_marks()
