"""The JSON that verbs print. Scripts rely on these shapes: fields may be added, never renamed or removed.

Times are RFC 3339 in UTC with nanoseconds, durations are seconds, sizes are bytes; null means unknown or unlimited.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from services.activity import Entry
    from services.agents import Agent, Problem
    from services.output import Line, SpoolReader
    from services.sandbox import EngineStatus, Orphan, Session, Step


@lru_cache(maxsize=256)
def rfc3339(at: int | None) -> str | None:
    """Write a time; many lines that came at once share it.

    Args:
        at: Nanoseconds since 1970; None and 0 are unknown.
    """
    if not at:
        return None
    seconds, nanoseconds = divmod(at, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{nanoseconds:09d}Z"


class SessionDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A session, as `sessions list` gives it."""

    id: str
    agent: str
    runner: str
    engine: str
    node: str
    image: str
    lifecycle: str
    confined: bool
    workspace: str
    state: str
    live: bool
    detail: str
    sandbox: str
    prompt: str
    command: tuple[str, ...]
    exit_code: int | None
    out_of_memory: bool
    idle_timeout: float | None
    created_at: str | None
    started_at: str | None
    ended_at: str | None
    active_at: str | None

    @classmethod
    def of(cls, session: Session) -> SessionDocument:
        """Describe a session."""
        return cls(
            id=session.id,
            agent=session.agent,
            runner=session.runner,
            engine=session.engine,
            node=session.node,
            image=session.image,
            lifecycle=session.lifecycle,
            confined=session.confined,
            workspace=session.workspace,
            state=session.state.value,
            live=session.state.live,
            detail=session.detail,
            sandbox=session.sandbox,
            prompt=session.prompt,
            command=session.spec.command,
            exit_code=session.exit_code,
            out_of_memory=session.out_of_memory,
            idle_timeout=session.idle_timeout,
            created_at=rfc3339(session.created_at),
            started_at=rfc3339(session.started_at),
            ended_at=rfc3339(session.ended_at),
            active_at=rfc3339(session.active_at),
        )


class StepDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a session; `state` is running, done, failed or cancelled."""

    number: int
    name: str
    state: str
    detail: str
    started_at: str | None
    ended_at: str | None

    @classmethod
    def of(cls, step: Step) -> StepDocument:
        """Describe a step."""
        return cls(
            number=step.number,
            name=step.name,
            state=step.state,
            detail=step.detail,
            started_at=rfc3339(step.started_at),
            ended_at=rfc3339(step.ended_at),
        )


class MountDocument(msgspec.Struct, frozen=True):
    """What a sandbox sees of the machine."""

    source: str
    target: str
    writable: bool


class LimitsDocument(msgspec.Struct, frozen=True):
    """The most a sandbox may use."""

    memory: int | None
    cpus: float | None
    pids: int | None


class OutputDocument(msgspec.Struct, frozen=True):
    """How much output a session has; `first` is the oldest line kept, lines count from 0."""

    first: int
    end: int
    bytes: int
    dropped_lines: int
    lost_lines: int
    complete: bool

    @classmethod
    def of(cls, reader: SpoolReader) -> OutputDocument:
        """Describe a spool."""
        return cls(
            first=reader.first,
            end=reader.end,
            bytes=reader.size,
            dropped_lines=reader.dropped_lines,
            lost_lines=reader.lost_lines,
            complete=reader.complete,
        )


class SessionDetails(msgspec.Struct, frozen=True, kw_only=True):
    """A session with its parts, as `sessions show` gives it."""

    session: SessionDocument
    network: str
    secrets: tuple[str, ...]
    limits: LimitsDocument
    mounts: tuple[MountDocument, ...]
    output: OutputDocument
    steps: tuple[StepDocument, ...]


class ResultDocument(msgspec.Struct, frozen=True):
    """What became of one session an action was meant for; `error` is "" when it succeeded."""

    id: str
    agent: str
    result: str
    error: str = ""


class OrphanDocument(msgspec.Struct, frozen=True):
    """A sandbox with this home's label that no session knows."""

    engine: str
    sandbox: str
    session: str
    agent: str
    status: str

    @classmethod
    def of(cls, orphan: Orphan) -> OrphanDocument:
        """Describe an orphan."""
        return cls(orphan.engine, orphan.sandbox, orphan.session, orphan.agent, orphan.status)


class LineDocument(msgspec.Struct, frozen=True):
    """One line of output of `stream` stdout, stderr or note; bytes that are no UTF-8 are replaced in `text`."""

    session: str
    number: int
    at: str | None
    stream: str
    text: str
    type: Literal["line"] = "line"

    @classmethod
    def of(cls, session: str, line: Line) -> LineDocument:
        """Describe a line that has all its bytes."""
        text = line.data.decode("utf-8", errors="replace")
        return cls(session, line.number, rfc3339(line.at), line.stream.name.lower(), text)


class ProgressDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a session that `run` follows, a line each."""

    session: SessionDocument
    note: str = ""
    type: Literal["session"] = "session"


class EntryDocument(msgspec.Struct, frozen=True):
    """One entry of the activity log; `outcome` is done, refused or failed."""

    number: int
    at: str | None
    actor: str
    verb: str
    agent: str
    session: str
    outcome: str
    detail: str

    @classmethod
    def of(cls, entry: Entry) -> EntryDocument:
        """Describe an entry."""
        return cls(
            entry.number,
            rfc3339(entry.at),
            entry.actor,
            entry.verb,
            entry.agent,
            entry.session,
            entry.outcome,
            entry.detail,
        )


class ProblemDocument(msgspec.Struct, frozen=True):
    """Something wrong in a TOML file; lines count from 1, 0 is unknown."""

    severity: str
    file: str
    line: int
    key: str
    message: str

    @classmethod
    def of(cls, problem: Problem) -> ProblemDocument:
        """Describe a problem."""
        return cls(problem.severity, str(problem.file), problem.line, problem.key, problem.message)


class AgentDocument(msgspec.Struct, frozen=True, kw_only=True):
    """An agent, as `agents list` gives it.

    Null where no configuration could be read. `stale` means the file is broken and the last good one is used.
    """

    alias: str
    enabled: bool | None
    stale: bool
    description: str | None
    risk_profile: str | None
    runner: str | None
    engine: str | None
    image: str | None
    lifecycle: str | None
    workspace: str
    file: str
    problems: tuple[ProblemDocument, ...]

    @classmethod
    def of(cls, agent: Agent) -> AgentDocument:
        """Describe an agent."""
        section = agent.config.agent if agent.config else None
        settings = agent.settings
        return cls(
            alias=agent.alias,
            enabled=section.enabled if section else None,
            stale=agent.stale,
            description=section.description if section else None,
            risk_profile=section.risk_profile if section else None,
            runner=settings.runner if settings else None,
            engine=settings.engine if settings else None,
            image=settings.image if settings else None,
            lifecycle=settings.lifecycle if settings else None,
            workspace=str(agent.workspace),
            file=str(agent.file),
            problems=tuple(ProblemDocument.of(problem) for problem in agent.problems),
        )


class SettingDocument(msgspec.Struct, frozen=True):
    """One setting of an agent's sandbox, and the file that decided it."""

    name: str
    value: object
    origin: str


class AgentDetails(msgspec.Struct, frozen=True):
    """An agent with its sandbox's settings, as `agents show` gives it."""

    agent: AgentDocument
    settings: tuple[SettingDocument, ...]


class EngineDocument(msgspec.Struct, frozen=True):
    """What an engine says of itself."""

    name: str
    usable: bool
    confined: bool
    version: str
    address: str
    problem: str
    fix: str
    notes: tuple[str, ...]

    @classmethod
    def of(cls, status: EngineStatus) -> EngineDocument:
        """Describe an engine."""
        return cls(
            status.name,
            status.usable,
            status.confined,
            status.version,
            status.address,
            status.problem,
            status.fix,
            status.notes,
        )
