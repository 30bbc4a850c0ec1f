"""All about one agent, read only: what is in force, the file, its sessions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.message import Message

from tui.screens.agents.config import Setting, setting_columns, settings_in_force
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

TABS = (("config", "Config"), ("source", "Source"), ("sessions", "Sessions"))


class AgentDetail(Pane):
    """Three tabs about one agent.

    Args:
        now: The clock, nanoseconds since 1970.
    """

    class SourceWanted(Message):
        """The text of the agent's file is wanted."""

        def __init__(self, alias: str) -> None:
            super().__init__()
            self.alias = alias

    def __init__(self, now: Callable[[], int]) -> None:
        super().__init__(id="agent")
        self._row: AgentRow | None = None
        self._looking_for_problem = False
        self._tabs = TabStrip(TABS)
        self._settings: Table[Setting] = Table(setting_columns(), lambda row: row.key, id="config")
        self._source = SourceView(id="source")
        self._sessions: Table[SessionRow] = Table(
            session_columns(lambda _: None, now, with_agent=False), lambda row: row.id, sort="age", id="sessions"
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
        yield self._settings
        yield self._no_settings
        yield self._source
        yield self._sessions
        yield self._no_sessions

    def on_mount(self) -> None:
        """Show the first page."""
        self._turn()

    @property
    def sessions(self) -> Table[SessionRow]:
        """The page of sessions."""
        return self._sessions

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
        title = self.query_one(TitleLine)
        if row is None or agent is None:
            title.show("Agent", status="", warning="")
            self._settings.show(())
            self._source.show("", ())
            self._sessions.show(())
        else:
            title.show(
                row.alias, status=row.description, warning="stale: the last good file is in force" if row.stale else ""
            )
            self._settings.show(settings_in_force(agent))
            self._sessions.show(sessions)
            if other:
                self._source.show("", ())
            self._ask_source()
        self._tabs.relabel("source", f"Source {len(row.problems)}!" if row and row.problems else "Source")
        self._tabs.relabel("sessions", f"Sessions {len(sessions)}" if sessions else "Sessions")
        self._turn()

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

    def go_to_problem(self) -> None:
        """Show the source at its next problem."""
        self._looking_for_problem = True
        if self.tab == "source":
            self._ask_source()
        else:
            self._tabs.chosen = "source"

    def step_tab(self, by: int) -> None:
        """Turn some pages further."""
        self._tabs.step(by)

    def focus_page(self) -> None:
        """Give the page shown the focus."""
        self.query_one(f"#{self.tab}").focus()

    @on(TabStrip.Chosen)
    def _turn_over(self) -> None:
        self._turn()
        self._ask_source()

    def _turn(self) -> None:
        focused = self.has_focus_within
        empty_settings = self._settings.total == 0
        empty_sessions = self._sessions.total == 0
        self._settings.display = self.tab == "config" and not empty_settings
        self._no_settings.display = self.tab == "config" and empty_settings
        self._source.display = self.tab == "source"
        self._sessions.display = self.tab == "sessions" and not empty_sessions
        self._no_sessions.display = self.tab == "sessions" and empty_sessions
        if focused and self.query_one(f"#{self.tab}").display:
            self.focus_page()


def _remark(problem: Problem) -> Remark:
    texts = tuple(safe(text) for text in (problem.message, problem.fix) if text)
    return Remark(problem.line, texts, error=problem.severity == "error")
