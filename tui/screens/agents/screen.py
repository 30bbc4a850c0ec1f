"""The screen of agents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.containers import Container
from textual.widget import Widget

from tui.actions import Scope
from tui.keymap import bindings
from tui.screens.agents.columns import agent_columns
from tui.screens.agents.detail import AgentDetail
from tui.screens.frame import FrameScreen
from tui.store import AgentRow
from tui.widgets.key_bar import KeyBar
from tui.widgets.list_pane import ListPane
from tui.widgets.status_rule import StatusRule
from tui.widgets.table import Table

if TYPE_CHECKING:
    from services.agents import Agent
    from tui.screens.agents.drafts import Drafts
    from tui.screens.agents.settling import Settling
    from tui.screens.agents.standing import Standing
    from tui.screens.operations import Asking


class AgentsScreen(FrameScreen):
    """A list of agents, and beside it all about the one under the cursor."""

    MODE = "agents"
    SCOPE = Scope.AGENTS
    HELP = "Every agent of this home: what it may do, what follows from that, and what is wrong with its file."
    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.AGENTS)

    _drafts: Drafts | None = None
    _settling: Settling | None = None

    def body(self) -> Iterable[Widget]:
        """The list and the detail."""
        self._looked_at: dict[str, Agent | None] = {}
        self._agents: ListPane[AgentRow] = ListPane(
            "Agents",
            Table(
                agent_columns(self.host.now, self._is_open),
                lambda row: row.alias,
                text=lambda row: f"{row.alias} {row.runner} {row.profile} {row.memory} {row.description}",
                sort="alias",
            ),
            id="agents",
        )
        self._detail = AgentDetail(self.host.now)
        yield Container(self._agents, self._detail, id="body")

    def on_mount(self) -> None:
        """Listen to the store."""
        store = self.host.store
        for signal in (store.agents_changed, store.sessions_changed, store.awaiting_changed):
            signal.subscribe(self, self._update)
        self.host.underway.changed.subscribe(self, lambda _: self.refresh_bindings())
        self.host.leaving.append(self.unsaved)
        self._clock = self.set_interval(1.0, self._tick)

    def on_screen_resume(self) -> None:
        """Catch up."""
        self._update(None)
        self._clock.resume()

    def on_screen_suspend(self) -> None:
        """Let the clock rest."""
        self._clock.pause()

    def _tick(self) -> None:
        self._agents.table.redraw()
        self._detail.sessions.redraw()

    def _update(self, _: None) -> None:
        if not self.is_current:
            return
        store = self.host.store
        if store.ready:
            self._agents.say_empty(
                "No agents yet",
                (
                    "An agent is an agent.toml: what it may touch and how it runs.",
                    "Files you put into the home's agents folder appear at once.",
                ),
                (("n", "make the first one"),),
            )
            if self._drafts is None:
                self._begin_editing()
        else:
            self._agents.wait_for(store.awaiting, store.awaiting_since)
        self._agents.show(store.agents)
        self._show_chosen()

    @on(Table.Moved)
    def _move(self, message: Table.Moved) -> None:
        if message.table is self._agents.table:
            self._show_chosen()

    def _show_chosen(self) -> None:
        row = self._agents.table.row
        store = self.host.store
        self._detail.set_class(row is None, "-none")
        if row is None:
            self._detail.show(None, None, ())
        else:
            self._detail.show(row, store.configured(row.alias), store.sessions_of(row.alias))
        self._look_again()
        self.refresh_bindings()

    # ── drafts ────────────────────────────────────────────────────────────────────────────────────────────────

    def _begin_editing(self) -> None:
        from tui.screens.agents.drafts import Drafts
        from tui.screens.agents.settling import Settling

        self._drafts = Drafts(lambda: self.host.pinfold, self._redraw_draft, self.host.told)
        self._settling = Settling(self, self._drafts)
        self.host.begin(self, "edit", self._detail.begin_editing, self._drafts)

    def _look_again(self) -> None:
        """Look at the files of the agent shown, and of those with a draft, if they changed since the last look."""
        if self._drafts is None:
            return
        row = self._agents.table.row
        for alias in {row.alias if row is not None else "", *self._drafts.open} - {""}:
            agent = self.host.store.configured(alias)
            if agent is not None and self._looked_at.get(alias) is not agent:
                self._looked_at[alias] = agent
                self.host.begin(self, "look", self._drafts.look, alias)

    def _redraw_draft(self, alias: str) -> None:
        if not self.is_attached:
            return
        self._agents.table.redraw()
        row = self._agents.table.row
        if row is not None and row.alias == alias:
            self._detail.show_editing()
        self.refresh_bindings()

    def _is_open(self, alias: str) -> bool:
        return self._drafts is not None and self._drafts.of(alias).open

    def _standing(self) -> Standing | None:
        row = self._agents.table.row if self.is_mounted else None
        return self._drafts.of(row.alias) if row is not None and self._drafts is not None else None

    def unsaved(self) -> list[str]:
        """What would be lost if Pinfold ended now, a line for each agent."""
        drafts = self._drafts
        if drafts is None:
            return []
        return [f"{alias}: {drafts.of(alias).lost}" for alias in drafts.open]

    # ── the rest of the detail ────────────────────────────────────────────────────────────────────────────────

    @on(AgentDetail.SourceWanted)
    def _read_source(self, message: AgentDetail.SourceWanted) -> None:
        self.host.begin(self, "source", self._load_source, message.alias)

    async def _load_source(self, alias: str) -> None:
        self._detail.show_source(alias, await self.host.pinfold.agents.source(alias))

    @on(AgentDetail.ReferencesWanted)
    def _read_references(self, message: AgentDetail.ReferencesWanted) -> None:
        self.host.begin(self, "references", self._load_references, message.alias)

    async def _load_references(self, alias: str) -> None:
        operations = await self.host.underway.operations()
        self._detail.show_references(alias, await operations.references(alias))

    @on(Table.Opened)
    def _open(self, message: Table.Opened) -> None:
        if message.table is self._agents.table:
            self.add_class("-detail")
            self._detail.focus_page()
        elif message.table is self._detail.sessions and (row := self._detail.sessions.row) is not None:
            self.host.show_session(row.id)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Where there is room for one of list and detail, show the one in use."""
        for part, in_use in ((self._detail, True), (self._agents, False)):
            if part in event.widget.ancestors:
                self.set_class(in_use, "-detail")

    @on(StatusRule.Pressed)
    async def _press(self, message: StatusRule.Pressed) -> None:
        await self.press(KeyBar.Pressed(message.action))

    def show_agent(self, alias: str) -> None:
        """Put the cursor on an agent."""
        self._update(None)
        self._agents.drop_filter()
        self._agents.table.move_to(alias)
        self._agents.table.focus()

    def subject(self) -> tuple[str, str, str]:
        """The agent under the cursor."""
        row = self._agents.table.row
        return (row.alias, "", row.alias) if row is not None else ("", "", "")

    # ── actions ───────────────────────────────────────────────────────────────────────────────────────────────

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what the agent under the cursor allows."""
        row = self._agents.table.row if self.is_mounted else None
        standing = self._standing()
        match action:
            case "start":
                return row is not None and row.startable
            case "create":
                return self.host.store.ready
            case "switch":
                return row is not None and row.usable
            case "rename" | "delete":
                return row is not None and self.host.store.ready
            case "restore":
                return self.host.underway.deleted is not None
            case "problem":
                return row is not None and bool(row.problems)
            case "next_tab" | "previous_tab":
                return row is not None
            case "save":
                return standing is not None and standing.editable and standing.open and not standing.diverged
            case "compare":
                return standing is not None and standing.editable and standing.diverged
            case "undo":
                return standing is not None and standing.undo is not None
            case "discard":
                return standing is not None and standing.open
            case "try":
                return standing is not None and standing.sheet is not None and standing.sheet.policy is not None
        return True

    def action_start(self) -> None:
        """Start a session of the agent under the cursor."""
        if (row := self._agents.table.row) is not None:
            self.host.start_session(row.alias)

    def action_create(self) -> None:
        """Ask for a new agent."""
        from tui.screens.agents.create import CreateAgent

        self.app.push_screen(CreateAgent(), self._created)

    def _created(self, alias: str | None) -> None:
        if alias:
            self.host.told(f"agent {alias} made")
            self.show_agent(alias)

    def action_switch(self) -> None:
        """Enable or disable the agent under the cursor."""
        if (row := self._agents.table.row) is not None:
            self.host.begin(self, "switch", self._switch, row)

    async def _switch(self, row: AgentRow) -> None:
        setter = self._drafts or self.host.pinfold.agents
        agent = await setter.set_enabled(row.alias, not row.enabled)
        enabled = agent.config is not None and agent.config.agent.enabled
        self.host.told(f"{row.alias} is {'enabled' if enabled else 'disabled'}")

    def action_rename(self) -> None:
        """Show what renaming the agent under the cursor would do, then rename it."""
        if (row := self._agents.table.row) is not None:
            self._asking().rename(row.alias)

    def action_delete(self) -> None:
        """Show what deleting the agent under the cursor would do, then delete it."""
        if (row := self._agents.table.row) is not None:
            self._asking().delete(row.alias)

    def action_restore(self) -> None:
        """Bring back the agent that was deleted last."""
        self.host.begin(self, "undo delete", self._asking().undo_delete)

    def _asking(self) -> Asking:
        from tui.screens.operations import Asking

        return Asking(self, lambda operation: self.show_agent(operation.target) if operation.target else None)

    def action_problem(self) -> None:
        """Go to the next problem in the source."""
        self._detail.go_to_problem()

    def action_next_tab(self) -> None:
        """Show the next tab."""
        self._detail.step_tab(1)

    def action_previous_tab(self) -> None:
        """Show the tab before."""
        self._detail.step_tab(-1)

    def action_try(self) -> None:
        """Let the operator try what the agent may do."""
        self._detail.try_out()

    def action_save(self) -> None:
        """Show what would be written, then write it."""
        if (row := self._agents.table.row) is not None and self._settling is not None:
            self.host.begin(self, "settle", self._settling.save, row.alias, self._detail.editor)

    def action_compare(self) -> None:
        """Choose between the draft and the file on disk."""
        if (row := self._agents.table.row) is not None and self._settling is not None:
            self.host.begin(self, "settle", self._settling.compare, row.alias)

    def action_undo(self) -> None:
        """Take the last save back."""
        if (row := self._agents.table.row) is not None and self._settling is not None:
            self.host.begin(self, "settle", self._settling.undo, row.alias)

    def action_discard(self) -> None:
        """Forget what is not saved."""
        if (row := self._agents.table.row) is not None and self._settling is not None:
            self._settling.discard(row.alias, self._detail.editor)

    def leave(self) -> None:
        """Go back to the list, then drop its filter."""
        if self._detail.has_focus_within or self.has_class("-detail"):
            self.remove_class("-detail")
            self._agents.table.focus()
        elif not self._agents.drop_filter():
            self._agents.table.clear_marks()
