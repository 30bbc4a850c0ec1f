"""Operations as planned, as journalled, and as they are under way."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import msgspec

Kind = Literal["rename", "delete", "restore"]

StepState = Literal["waiting", "running", "done", "failed", "cancelled"]

ReferenceKind = Literal[
    "delegate", "access", "read_memory_from", "path", "workspace", "session", "memory", "core memory", "context", "file"
]

Part = Literal["agent", "config", "memory", "files"]
"""What of an archive is restored: the agent as a whole, its `agent.toml`, its memory, or one file or folder."""

Action = Literal["stopped", "moved", "copied", "exported", "rewritten", "dropped", "removed", "restored", "kept"]


class OperationState(StrEnum):
    """Where an operation is; the value is the word shown."""

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    """Whoever ran it is gone; it can be retried."""
    FAILED = "failed"
    """A step failed; it can be retried."""
    CANCELLED = "cancelled"
    """Taken back before its point of no return; nothing is left to do."""
    DONE = "done"

    @property
    def unfinished(self) -> bool:
        """Whether it is under way or waits for being retried."""
        return self in (OperationState.RUNNING, OperationState.INTERRUPTED, OperationState.FAILED)

    @property
    def retryable(self) -> bool:
        """Whether it waits for being retried."""
        return self in (OperationState.INTERRUPTED, OperationState.FAILED)


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """A place that names an agent, or something that is the agent's.

    Attributes:
        owner: The alias of the agent whose file names it, or whose it is; "" for `pinfold.toml`.
        text: What it is, a short clause.
        hard: It keeps the agent from being deleted.
        file: The TOML file it stands in; "" for what is kept elsewhere.
        line: Counted from 1; 0 when it stands in no file.
        key: The dotted path of the key.
        value: What stands there, such as the mode of an access; "" when the key says it all.
        fix: What an operator can do about a hard one.
    """

    kind: ReferenceKind
    owner: str
    text: str
    hard: bool = False
    file: str = ""
    line: int = 0
    key: str = ""
    value: str = ""
    fix: str = ""


class Blocker(msgspec.Struct, frozen=True):
    """Why an operation cannot be carried out as things are."""

    reason: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.reason}. {self.fix}" if self.fix else self.reason


class KeyChange(msgspec.Struct, frozen=True):
    """One key of a file as it is and as it will be.

    Attributes:
        line: As the file is now, counted from 1.
        old: The value in TOML.
        new: The value in TOML; "" when the key or entry is dropped.
    """

    key: str
    line: int
    old: str
    new: str


class Rewrite(msgspec.Struct, frozen=True):
    """One TOML file that is rewritten, with its comments kept.

    Attributes:
        owner: The alias whose file it is; "" for `pinfold.toml`.
        digest: SHA-256 of the file when it was planned.
        diff: As `diff -u` writes it; values of environment variables are masked.
    """

    owner: str
    file: str
    digest: str
    changes: tuple[KeyChange, ...]
    diff: tuple[str, ...]


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happens to what an agent has.

    Attributes:
        what: What it happens to, in words.
        source: Where it is; "" when it has no place on disk.
        target: Where it will be.
        files: How many.
        rows: How many.
        size: Bytes.
    """

    action: Action
    what: str
    source: str = ""
    target: str = ""
    files: int = 0
    rows: int = 0
    size: int = 0


class PlannedStep(msgspec.Struct, frozen=True):
    """One step to be journalled.

    Attributes:
        name: One word.
        text: What it does.
        subject: What it works on, when several steps have one name.
    """

    name: str
    text: str
    subject: str = ""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator chose.

    Attributes:
        stop_sessions: Stop the agent's running sessions first.
        keep_workspace: Leave a workspace that lies outside the home where it is, and keep a copy.
        part: What of the archive is restored.
        path: The file or folder that is restored, as it is called in the archive.
        overwrite: Replace what is there.
        references: The dropped references to put back, as `Reference.key` after the owner: `lead:agent.delegates[0]`.
    """

    stop_sessions: bool = False
    keep_workspace: bool = False
    part: Part = "agent"
    path: str = ""
    overwrite: bool = False
    references: tuple[str, ...] = ()


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """All an operation would do; making one changes nothing.

    Attributes:
        alias: The agent, as it is called now or, for a restore, was called when it was archived.
        target: The alias it will have; "" for a delete.
        archive: The name of the archive written or read; "" for a rename.
        blockers: Why it cannot be carried out; empty when it can.
        references: Every place that names the agent.
        effects: What happens to what the agent has.
        notes: What an operator should know.
        steps: In order.
        point_of_no_return: The name of the first step after which it cannot be cancelled, only completed.
        resumes: The id of an unfinished operation that this one goes on with; "" for a new one.
    """

    kind: Kind
    alias: str
    target: str = ""
    archive: str = ""
    options: Options = Options()
    blockers: tuple[Blocker, ...] = ()
    references: tuple[Reference, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    effects: tuple[Effect, ...] = ()
    notes: tuple[str, ...] = ()
    steps: tuple[PlannedStep, ...] = ()
    point_of_no_return: str = ""
    resumes: str = ""

    @property
    def allowed(self) -> bool:
        """Whether it can be carried out."""
        return not self.blockers

    @property
    def subject(self) -> str:
        """What it concerns, for people: the agent, or the archive where nobody knows whose that is."""
        return self.alias or self.archive


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step as journalled.

    Attributes:
        number: Counted from 1.
        detail: What came of it, or why it failed.
        result: What it found, as JSON for the steps after it and for a retry.
        started_at: Nanoseconds since 1970; None while it waits.
        ended_at: Nanoseconds since 1970; None until it ended.
    """

    number: int
    name: str
    text: str
    subject: str = ""
    state: StepState = "waiting"
    detail: str = ""
    result: str = ""
    started_at: int | None = None
    ended_at: int | None = None


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """A rename, delete or restore as journalled.

    Attributes:
        id: Sorts by time.
        target: The alias it gives; "" for a delete.
        archive: The name of its archive; "" for a rename.
        by: Who asked for it.
        detail: Why it failed; "" otherwise.
        warnings: What was done otherwise than planned.
        committed: It is past its point of no return, and can only be completed.
        created_at: Nanoseconds since 1970.
        ended_at: Nanoseconds since 1970; None while it is unfinished.
    """

    id: str
    kind: Kind
    alias: str
    target: str
    archive: str
    by: str
    state: OperationState
    detail: str
    warnings: tuple[str, ...]
    committed: bool
    created_at: int
    ended_at: int | None
    plan: Plan
    steps: tuple[Step, ...]

    @property
    def concerns(self) -> tuple[str, ...]:
        """The aliases that nobody else may do anything with meanwhile."""
        return (
            (self.target,) if self.kind == "restore" else tuple(alias for alias in (self.alias, self.target) if alias)
        )

    @property
    def step(self) -> Step | None:
        """The step that runs, failed, or comes next; None when all are done."""
        return next((step for step in self.steps if step.state != "done"), None)


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far an operation has come; told at least every 100 ms.

    Attributes:
        operation: As recorded when its step, or one that runs at once with it, began or ended.
        step: The name of the step that runs.
        number: The step's; 0 when none runs.
        leading: Whether it is the first of the steps that run.
        note: What is being done, for people.
        done: Files, rows or bytes so far.
        total: Of how many; 0 when that is not known.
        unit: What is counted.
    """

    operation: Operation
    step: str = ""
    number: int = 0
    leading: bool = True
    note: str = ""
    done: int = 0
    total: int = 0
    unit: str = ""
