"""All about one agent: its permissions to be edited, what follows from them, its other settings, file and sessions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.widget import Widget

from tui.figures import counted
from tui.screens.agents.references import PlacedReference, placed, reference_columns
from tui.screens.agents.settings import Setting, setting_columns, settings_in_force
from tui.session_columns import session_columns
from tui.store import AgentRow, SessionRow
from tui.text import safe
from tui.widgets.empty_state import EmptyState
from tui.widgets.pane import Pane
from tui.widgets.source_view import Remark, SourceView
from tui.widgets.tab_strip import TabStrip
from tui.widgets.table import Table
from tui.widgets.title_line import TitleLine

if TYPE_CHECKING:
    from services.agents import Agent, Problem
    from services.operations import Reference
    from tui.screens.agents.drafts import Drafts
    from tui.screens.agents.editor import PermissionEditor
    from tui.screens.agents.effective import EffectivePage

TABS = (
    ("permissions", "Permissions"),
    ("effective", "Effective"),
    ("references", "References"),
    ("settings", "Settings"),
    ("source", "Source"),
    ("sessions", "Sessions"),
)

_ALWAYS = ("references", "source", "sessions")
"""Pages that need no configuration in force."""


class AgentDetail(Pane):
    """Six tabs about one agent.

    Args:
        now: The clock, nanoseconds since 1970.
    """

    class SourceWanted(Message):
        """The text of the agent's file is wanted."""

        def __init__(self, alias: str) -> None:
            super().__init__()
            self.alias = alias

    class ReferencesWanted(SourceWanted):
        """Every place that names the agent is wanted."""

    def __init__(self, now: Callable[[], int]) -> None:
        super().__init__(id="agent")
        self._row: AgentRow | None = None
        self._drafts: Drafts | None = None
        self._editor: PermissionEditor | None = None
        self._effective: EffectivePage | None = None
        self._looking_for_problem = False
        self._tabs = TabStrip(TABS)
        self._settings: Table[Setting] = Table(setting_columns(), lambda row: row.key, id="settings")
        self._source = SourceView(id="source")
        self._sessions: Table[SessionRow] = Table(
            session_columns(lambda _: None, now, with_agent=False), lambda row: row.id, sort="age", id="sessions"
        )
        self._references: Table[PlacedReference] = Table(reference_columns(), lambda row: row.key, id="references")
        self._no_references = EmptyState(
            "Nothing names it", ("No other agent, and nothing of its own, refers to this agent.",)
        )
        self._no_settings = EmptyState(
            "No configuration in force", ("The file has never been right since Pinfold started.",), (("p", "see why"),)
        )
        self._no_sessions = EmptyState(
            "No session yet", ("What this agent runs will be listed here.",), (("s", "start one"),)
        )

    def compose(self) -> ComposeResult:
        """Lay out title, tabs and the pages."""
        yield TitleLine("Agent")
        yield self._tabs
        yield self._references
        yield self._no_references
        yield self._settings
        yield self._no_settings
        yield self._source
        yield self._sessions
        yield self._no_sessions

    def on_mount(self) -> None:
        """Show the first page."""
        self._turn()

    async def begin_editing(self, drafts: Drafts) -> None:
        """Take in what edits permissions, once the services are there; its modules would hold up the first frame."""
        from tui.screens.agents.editor import PermissionEditor
        from tui.screens.agents.effective import EffectivePage

        self._drafts = drafts
        editor, effective = PermissionEditor(drafts), EffectivePage(drafts)
        editor.display = effective.display = False
        await self.mount(editor, effective, after=self._tabs)
        self._editor, self._effective = editor, effective
        self.show_editing()

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────

    @property
    def sessions(self) -> Table[SessionRow]:
        """The page of sessions."""
        return self._sessions

    @property
    def editor(self) -> PermissionEditor | None:
        """The page of permissions, once it is there."""
        return self._editor

    @property
    def tab(self) -> str:
        """The page shown."""
        return self._tabs.chosen

    def show(self, row: AgentRow | None, agent: Agent | None, sessions: Sequence[SessionRow]) -> None:
        """Show an agent, or none.

        Args:
            row: What the list shows of it.
            agent: Its configuration.
            sessions: Its sessions.
        """
        other = row is None or self._row is None or row.alias != self._row.alias
        self._row = row
        if row is None or agent is None:
            self._settings.show(())
            self._source.show("", ())
            self._sessions.show(())
        else:
            self._settings.show(settings_in_force(agent))
            self._sessions.show(sessions)
            if other:
                self._source.show("", ())
                self._references.show(())
            self._ask_source()
            self._ask_references()
        self._tabs.relabel("source", f"Source {len(row.problems)}!" if row and row.problems else "Source")
        self._tabs.relabel("sessions", f"Sessions {len(sessions)}" if sessions else "Sessions")
        self.show_editing()

    def show_editing(self) -> None:
        """Show anew how editing stands."""
        row = self._row
        title = self.query_one(TitleLine)
        if row is None:
            title.show("Agent", status="", warning="")
        else:
            title.show(row.alias, status=row.description, warning=self._warning(row))
        alias = row.alias if row is not None else ""
        if self._editor is not None and self.tab == "permissions":
            self._editor.show(alias)
        if self._effective is not None and self.tab == "effective":
            self._effective.show(alias)
        self._turn()

    def _warning(self, row: AgentRow) -> str:
        if row.stale:
            return "stale: the last good file is in force"
        count = self._drafts.of(row.alias).count if self._drafts is not None else 0
        return f"{counted(count, 'change')} not saved" if count else ""

    # ── the source ────────────────────────────────────────────────────────────────────────────────────────────

    def show_source(self, alias: str, text: str) -> None:
        """Take in the text of an agent's file, if it is still the one shown."""
        if self._row is None or alias != self._row.alias:
            return
        self._source.show(text, [_remark(problem) for problem in self._row.problems])
        if self._looking_for_problem:
            self._looking_for_problem = False
            self._source.go_to_next_problem()

    def _ask_source(self) -> None:
        if self.tab == "source" and self._row is not None:
            self.post_message(self.SourceWanted(self._row.alias))

    # ── references ────────────────────────────────────────────────────────────────────────────────────────────

    def show_references(self, alias: str, references: Sequence[Reference]) -> None:
        """Take in every place that names an agent, if it is still the one shown."""
        if self._row is not None and alias == self._row.alias:
            self._references.show(placed(references))
            self._turn()

    def _ask_references(self) -> None:
        if self.tab == "references" and self._row is not None:
            self.post_message(self.ReferencesWanted(self._row.alias))

    def go_to_problem(self) -> None:
        """Show the source at its next problem."""
        self._looking_for_problem = True
        if self.tab == "source":
            self._ask_source()
        else:
            self._tabs.chosen = "source"

    # ── tabs ──────────────────────────────────────────────────────────────────────────────────────────────────

    def turn_to(self, tab: str) -> None:
        """Show one page."""
        self._tabs.chosen = tab

    def try_out(self) -> None:
        """Show the page of what holds, ready to type into its box."""
        self.turn_to("effective")
        if self._effective is not None:
            self._effective.display = True
            self._effective.begin_trying()

    def step_tab(self, by: int) -> None:
        """Turn some pages further."""
        self._tabs.step(by)

    def focus_page(self) -> None:
        """Give the page shown the focus."""
        if self.tab == "permissions" and self._editor is not None:
            self._editor.form.focus()
        elif self.tab == "effective" and self._effective is not None:
            self._effective.query_one(Table).focus()
        elif self.tab in ("references", "settings", "source", "sessions"):
            self.query_one(f"#{self.tab}").focus()

    @on(TabStrip.Chosen)
    def _turn_over(self) -> None:
        self.show_editing()
        self._ask_source()
        self._ask_references()

    def _turn(self) -> None:
        focused = self.has_focus_within
        known = self._settings.total > 0
        has_sessions = self._sessions.total > 0
        pages: list[tuple[str, Widget | None, bool]] = [
            ("permissions", self._editor, known),
            ("effective", self._effective, known),
            ("references", self._references, self._references.total > 0),
            ("settings", self._settings, known),
            ("source", self._source, True),
            ("sessions", self._sessions, has_sessions),
        ]
        shown = False
        for tab, page, full in pages:
            if page is not None:
                page.display = tab == self.tab and full
                shown = shown or page.display
        self._no_settings.display = self._row is not None and not known and self.tab not in _ALWAYS
        self._no_references.display = self.tab == "references" and not self._references.total
        self._no_sessions.display = self.tab == "sessions" and not has_sessions
        if focused and shown and not self.has_focus_within:
            self.focus_page()


def _remark(problem: Problem) -> Remark:
    texts = tuple(safe(text) for text in (problem.message, problem.fix) if text)
    return Remark(problem.line, texts, error=problem.severity == "error")
