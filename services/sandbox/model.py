"""Sessions, their states, and what a sandbox is made of."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import msgspec

from services.agents import Lifecycle, Network, Tools
from services.policy import Limits as Limits
from services.policy import Mask as Mask
from services.policy import Mount as Mount


class SessionState(StrEnum):
    """Where a session is between prepare and cleanup; the value is the word shown."""

    PREPARING = "preparing"
    PULLING = "pulling"
    CREATING = "creating"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    """Ended by the operator or by being idle, on request and not by itself."""
    EXITED = "exited"
    """Ended by itself with status 0."""
    FAILED = "failed"
    """Ended by itself with another status, or never started."""
    KILLED = "killed"
    """Ended by a signal Pinfold did not send."""
    OUT_OF_MEMORY = "out of memory"
    LOST = "lost"
    """The engine does not know its sandbox any more, so how it ended cannot be told."""

    @property
    def live(self) -> bool:
        """Whether the sandbox exists and may do something, or is about to."""
        return self in _LIVE

    @property
    def ended(self) -> bool:
        """Whether nothing will happen any more."""
        return not self.live


_LIVE = frozenset(
    {
        SessionState.PREPARING,
        SessionState.PULLING,
        SessionState.CREATING,
        SessionState.STARTING,
        SessionState.RUNNING,
        SessionState.STOPPING,
    }
)


class SandboxSpec(msgspec.Struct, frozen=True):
    """All an engine needs to make one sandbox; recorded with the session.

    Attributes:
        session: The session's id.
        home: The id of the home, for labels.
        command: argv of the main process; empty: the image's own.
        environment: Plain variables, recorded.
        secrets: Names of variables whose values are handed over at creation and recorded nowhere.
        workspace: The directory the main process starts in, on this machine.
        unconfined: The profile allows running without a sandbox around it.
        stop_timeout: Seconds between one rung of the stop ladder and the next.
        output_limit: Bytes of output kept.
        masks: What is hidden inside the mounts.
        allowed_domains: What is reached under `network = "allowlist"`, entries of the policy.
        tools: How the tools of its memory are reached.
        inlet: The directory of the tool server's sockets, where its loopback device leads to them; else "".
    """

    session: str
    home: str
    agent: str
    lifecycle: Lifecycle
    image: str
    command: tuple[str, ...]
    environment: dict[str, str]
    secrets: tuple[str, ...]
    workspace: str
    mounts: tuple[Mount, ...]
    limits: Limits
    network: Network
    unconfined: bool
    stop_timeout: float
    output_limit: int
    masks: tuple[Mask, ...] = ()
    allowed_domains: tuple[str, ...] = ()
    tools: Tools = "none"
    inlet: str = ""


class Session(msgspec.Struct, frozen=True):
    """One run of an agent in a sandbox, as recorded.

    Attributes:
        sandbox: The engine's id of the sandbox; "" when there is none yet or any more.
        detail: What the state is waiting for or died of, one line for people.
        idle_timeout: Seconds; None is never.
        created_at, started_at, ended_at, active_at: Nanoseconds since 1970, UTC.
        exit_code: The status of the main process as a shell reports it: 128 + n for signal n.
        revision: Rises with every change.
        engine_id: The `EngineStatus.identity` of the engine that made the sandbox; "" when unknown.
    """

    id: str
    agent: str
    runner: str
    engine: str
    node: str
    image: str
    lifecycle: Lifecycle
    idle_timeout: float | None
    confined: bool
    workspace: str
    state: SessionState
    detail: str
    sandbox: str
    spec: SandboxSpec
    prompt: str
    created_at: int
    started_at: int | None
    ended_at: int | None
    active_at: int | None
    exit_code: int | None
    out_of_memory: bool
    revision: int
    engine_id: str = ""


StepState = Literal["running", "done", "failed", "cancelled"]


class Step(msgspec.Struct, frozen=True):
    """One step of a session: prepare, pull, create, start, run, interrupt, terminate, kill, cleanup.

    Attributes:
        number: Counted from 1 within the session.
        started_at, ended_at: Nanoseconds since 1970.
    """

    session: str
    number: int
    name: str
    state: StepState
    detail: str
    started_at: int
    ended_at: int | None


class StartRequest(msgspec.Struct, frozen=True):
    """What an operator asks for; an empty field leaves the agent's own choice.

    Attributes:
        command: argv that replaces the agent's command.
        prompt: Handed to the runner; the runner `command` gets it as `$PINFOLD_PROMPT`.
    """

    agent: str
    prompt: str = ""
    engine: str = ""
    node: str = ""
    runner: str = ""
    image: str = ""
    lifecycle: str = ""
    command: tuple[str, ...] = ()
