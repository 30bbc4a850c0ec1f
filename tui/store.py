"""What the screens show: frozen rows of clean text, and a signal for each kind that changed."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.dom import DOMNode
from textual.signal import Signal

from tui.approval_row import ApprovalRow
from tui.text import safe

if TYPE_CHECKING:
    from services.agents import Agent, Interface, Problem
    from services.sandbox import Approval, EngineStatus, Limits, Mount, Orphan, Session, SessionState


@dataclass(frozen=True)
class SessionRow:
    """One session, or a sandbox of ours that no session explains.

    Attributes:
        confined: Whether it is kept from the rest of this machine.
        created_at, started_at, ended_at, active_at: Nanoseconds since 1970.
        orphan: The sandbox as the engine told of it, for removing it; None for a session.
        asking: Its calls that wait for the operator, the oldest first.
    """

    id: str
    agent: str
    runner: str
    engine: str
    node: str
    image: str
    lifecycle: str
    confined: bool
    workspace: str
    state: SessionState | None
    detail: str
    command: tuple[str, ...] = ()
    prompt: str = ""
    network: str = ""
    mounts: tuple[Mount, ...] = ()
    limits: Limits | None = None
    idle_timeout: float | None = None
    created_at: int | None = None
    started_at: int | None = None
    ended_at: int | None = None
    active_at: int | None = None
    exit_code: int | None = None
    orphan: Orphan | None = None
    asking: tuple[ApprovalRow, ...] = ()

    @classmethod
    def of(cls, session: Session) -> SessionRow:
        """Take over what is shown of a session."""
        return cls(
            id=safe(session.id),
            agent=safe(session.agent),
            runner=safe(session.runner),
            engine=safe(session.engine),
            node=safe(session.node),
            image=safe(session.image),
            lifecycle=session.lifecycle,
            confined=session.confined,
            workspace=safe(session.workspace),
            state=session.state,
            detail=safe(session.detail),
            command=tuple(safe(word) for word in session.spec.command),
            prompt=safe(session.prompt),
            network=session.spec.network,
            mounts=session.spec.mounts,
            limits=session.spec.limits,
            idle_timeout=session.idle_timeout,
            created_at=session.created_at,
            started_at=session.started_at,
            ended_at=session.ended_at,
            active_at=session.active_at,
            exit_code=session.exit_code,
        )

    @classmethod
    def of_orphan(cls, orphan: Orphan) -> SessionRow:
        """Take over what is known of a sandbox without a record."""
        return cls(
            id=f"orphan:{safe(orphan.sandbox)}",
            agent=safe(orphan.agent) or "?",
            runner="",
            engine=safe(orphan.engine),
            node="",
            image="",
            lifecycle="",
            confined=True,
            workspace="",
            state=None,
            detail=f"a sandbox of this home without a record; {safe(orphan.status)}",
            orphan=orphan,
        )

    @property
    def live(self) -> bool:
        """Whether its sandbox exists and may do something."""
        return self.state is not None and self.state.live


@dataclass(frozen=True)
class AgentRow:
    """One agent and what is known of it.

    Attributes:
        running: How many of its sessions are live.
        sessions: How many sessions it has in all.
        active_at: When anything happened in one of its sessions, nanoseconds since 1970.
        problems: What is wrong with its file, the errors first.
        stale: Its file is wrong, and the last good configuration is in force.
        startable: Sessions may be started.
    """

    alias: str
    enabled: bool
    description: str
    runner: str
    profile: str
    memory: str
    running: int
    sessions: int
    active_at: int | None
    problems: tuple[Problem, ...]
    stale: bool
    usable: bool
    startable: bool

    @classmethod
    def of(cls, agent: Agent, sessions: Iterable[SessionRow]) -> AgentRow:
        """Take over what is shown of an agent, together with its sessions."""
        own = list(sessions)
        config, settings = agent.config, agent.settings
        moments = [at for row in own for at in (row.created_at, row.active_at, row.ended_at) if at is not None]
        return cls(
            alias=safe(agent.alias),
            enabled=agent.enabled,
            description=safe(agent.description),
            runner=safe(settings.runner) if settings else "",
            profile=safe(config.agent.risk_profile) if config else "",
            memory=config.memory.backend if config else "",
            running=sum(row.live for row in own),
            sessions=len(own),
            active_at=max(moments, default=None),
            problems=agent.problems,
            stale=agent.stale,
            usable=config is not None,
            startable=agent.enabled and agent.obstacle is None,
        )

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that keep the file from being used."""
        return tuple(problem for problem in self.problems if problem.severity == "error")


@dataclass(frozen=True)
class EngineRow:
    """One engine as it answered last."""

    name: str
    usable: bool
    problem: str
    fix: str
    version: str
    notes: tuple[str, ...]
    confined: bool

    @classmethod
    def of(cls, status: EngineStatus) -> EngineRow:
        """Take over what is shown of an engine."""
        return cls(
            name=safe(status.name),
            usable=status.usable,
            problem=safe(status.problem),
            fix=safe(status.fix),
            version=safe(status.version),
            notes=tuple(safe(note) for note in status.notes),
            confined=status.confined,
        )


class Store:
    """The rows, replaced by the bridge and read by the screens.

    The activity log is not kept here: `activity_changed` tells whoever shows it to read it.

    Args:
        owner: The app; signals reach its mounted nodes only.
    """

    def __init__(self, owner: DOMNode) -> None:
        self.agents: tuple[AgentRow, ...] = ()
        self.sessions: dict[str, SessionRow] = {}
        self.orphans: tuple[SessionRow, ...] = ()
        self.engines: tuple[EngineRow, ...] = ()
        self.approvals: tuple[ApprovalRow, ...] = ()
        self.interface: Interface | None = None
        self.awaiting = "the services"
        self.awaiting_since = time.monotonic()
        self._known_agents: dict[str, Agent] = {}
        self.agents_changed: Signal[None] = Signal(owner, "agents")
        self.sessions_changed: Signal[None] = Signal(owner, "sessions")
        self.engines_changed: Signal[None] = Signal(owner, "engines")
        self.approvals_changed: Signal[None] = Signal(owner, "approvals")
        self.interface_changed: Signal[None] = Signal(owner, "interface")
        self.activity_changed: Signal[None] = Signal(owner, "activity")
        self.awaiting_changed: Signal[None] = Signal(owner, "awaiting")

    @property
    def ready(self) -> bool:
        """Whether the first rows are here."""
        return not self.awaiting

    @property
    def running(self) -> int:
        """How many sessions are live."""
        return sum(row.live for row in self.sessions.values())

    @property
    def session_rows(self) -> list[SessionRow]:
        """Sessions and orphans."""
        return [*self.sessions.values(), *self.orphans]

    def agent(self, alias: str) -> AgentRow | None:
        """The row of an agent."""
        return next((row for row in self.agents if row.alias == alias), None)

    def configured(self, alias: str) -> Agent | None:
        """An agent as it is configured."""
        return self._known_agents.get(alias)

    def sessions_of(self, alias: str) -> list[SessionRow]:
        """The sessions of an agent."""
        return [row for row in self.sessions.values() if row.agent == alias]

    def await_(self, what: str, since: float) -> None:
        """Say what the screens wait for; "" once the first rows are here.

        Args:
            what: A clause such as `the engines`.
            since: When the wait began, seconds of the monotonic clock.
        """
        self.awaiting, self.awaiting_since = what, since
        self.awaiting_changed.publish(None)

    def put_agents(self, agents: Iterable[Agent]) -> None:
        """Replace all agents."""
        known = {agent.alias: agent for agent in agents}
        changed, self._known_agents = known != self._known_agents, known
        self._relate_agents(changed=changed)

    def put_interface(self, interface: Interface) -> None:
        """Replace how the operator wants the screens."""
        if interface != self.interface:
            self.interface = interface
            self.interface_changed.publish(None)

    def put_sessions(self, changed: Iterable[Session], removed: Iterable[str] = ()) -> None:
        """Add or replace sessions, and drop those removed."""
        rows = dict(self.sessions)
        for session in changed:
            row = SessionRow.of(session)
            rows[session.id] = replace(row, asking=self._asked_by(row.id))
        for gone in removed:
            rows.pop(gone, None)
        if rows != self.sessions:
            self.sessions = rows
            self.sessions_changed.publish(None)
            self._relate_agents()

    def put_approvals(self, approvals: Iterable[Approval]) -> None:
        """Replace the calls that wait for the operator, the oldest first."""
        rows = tuple(ApprovalRow.of(approval) for approval in approvals)
        if rows == self.approvals:
            return
        self.approvals = rows
        self.approvals_changed.publish(None)
        sessions = {name: replace(row, asking=self._asked_by(row.id)) for name, row in self.sessions.items()}
        if sessions != self.sessions:
            self.sessions = sessions
            self.sessions_changed.publish(None)

    def _asked_by(self, session: str) -> tuple[ApprovalRow, ...]:
        return tuple(row for row in self.approvals if row.session == session)

    def put_engines(self, statuses: Iterable[EngineStatus], orphans: Iterable[Orphan]) -> None:
        """Replace what is known of the engines and the sandboxes nobody explains."""
        engines = tuple(EngineRow.of(status) for status in statuses)
        orphan_rows = tuple(SessionRow.of_orphan(orphan) for orphan in orphans)
        if engines != self.engines:
            self.engines = engines
            self.engines_changed.publish(None)
        if orphan_rows != self.orphans:
            self.orphans = orphan_rows
            self.sessions_changed.publish(None)

    def _relate_agents(self, *, changed: bool = False) -> None:
        """Build the agents' rows again, since they count sessions; tell of it when anything about agents changed."""
        by_agent: dict[str, list[SessionRow]] = {alias: [] for alias in self._known_agents}
        for row in self.sessions.values():
            if row.agent in by_agent:
                by_agent[row.agent].append(row)
        agents = tuple(AgentRow.of(agent, by_agent[alias]) for alias, agent in self._known_agents.items())
        if changed or agents != self.agents:
            self.agents = agents
            self.agents_changed.publish(None)
