"""Contexts and the steps inside them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from services.memory.scopes import Json, Scope, ScopeKind


class StepType(StrEnum):
    """What a step does."""

    INPUT = "input"
    HOOK_CREATE = "hook_create"
    LLM = "llm"
    TOOL = "tool"
    HOOK_NEXT = "hook_next"
    DELEGATE = "delegate"


StepState = Literal["running", "completed", "failed", "interrupted"]

Outcome = Literal["completed", "failed", "interrupted"]
"""How a step or a context ended."""


@dataclass(frozen=True)
class Context:
    """One request's scratch space while it is worked on.

    Attributes:
        id: Also the id of its scope.
        parent: The context it was forked from, or "".
        forked_in: The step that ran in the parent then, or "".
        resumes: The step whose snapshot it began with, or "".
        agent: The alias, or "".
        chat: The id of the chat, or "".
        request: The id of the request, or "".
        state: `open` while it is worked on.
        created_at: Nanoseconds since 1970.
        ended_at: The same; None while it is open.
    """

    id: str
    parent: str
    forked_in: str
    resumes: str
    agent: str
    chat: str
    request: str
    state: Literal["open", "failed", "interrupted"]
    created_at: int
    ended_at: int | None

    @property
    def scope(self) -> Scope:
        """The scope of its keys."""
        return Scope(ScopeKind.CONTEXT, self.id)


@dataclass(frozen=True)
class Step:
    """One step of the work in a context.

    Attributes:
        number: Counted from 1 within the context.
        parent: The step it runs inside, or "" at the bottom; a fork's steps run inside the step that forked.
        stack: Names the steps that run side by side: the parent, or the context at the bottom.
        depth: How many steps it runs inside.
        input: What it was given.
        output: What it gave; None until it is completed.
        error: Why it failed or was interrupted.
        started_at: Nanoseconds since 1970, as the other times.
        used_at: When a context was resumed from it; None when none was.
    """

    id: str
    context: str
    number: int
    type: StepType
    state: StepState
    parent: str
    stack: str
    depth: int
    chat: str
    request: str
    input: Json
    output: Json
    error: str
    started_at: int
    ended_at: int | None
    used_at: int | None

    @property
    def resumable(self) -> bool:
        """Whether a context can be resumed from it."""
        return self.state in ("failed", "interrupted") and self.used_at is None
