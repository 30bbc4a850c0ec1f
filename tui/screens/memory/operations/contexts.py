"""What can be done with contexts and their steps."""

from __future__ import annotations

from typing import Any

import msgspec

from services.memory import ScopeKind, StepType
from tui.memory_log import log
from tui.screens.memory.changes.doing import Outcome, Subject, Values
from tui.screens.memory.editing.writing import read_loosely
from tui.screens.memory.items import Item
from tui.screens.memory.operations.keys import shown
from tui.screens.memory.operations.operation import Operation, Parameter
from tui.screens.memory.places import OpenContexts, Place, ScopeKeys, StepsOf

_COPY = Parameter(
    "copy", "Begin with", read=lambda typed: typed == "copy", options=(("copy", "the parent's keys"), ("no", "nothing"))
)
_HOW = Parameter(
    "how",
    "Ends as",
    options=(("completed", "completed"), ("failed", "failed"), ("interrupted", "interrupted")),
)
_WHY = Parameter("why", "Why", "for a failed or interrupted one")
_AGENT = Parameter("agent", "Agent", "an alias, or nothing")
_CHAT = Parameter("chat", "Chat", "the id of a chat, or nothing")
_TYPE = Parameter("type", "Does", options=tuple((kind.value, kind.value) for kind in StepType), read=StepType)
_INPUT = Parameter("input", "Input", "JSON or text", lambda typed: read_loosely(typed) if typed else None)


def _in_contexts(place: Place, _: Item | None) -> bool:
    return isinstance(place, OpenContexts)


def _on_context(place: Place, item: Item | None) -> bool:
    if isinstance(place, ScopeKeys):
        return place.scope.kind is ScopeKind.CONTEXT
    return isinstance(place, OpenContexts) and item is not None and item.state == "open"


def _on_step(place: Place, item: Item | None) -> bool:
    return isinstance(place, StepsOf) and item is not None


def _on_running_step(place: Place, item: Item | None) -> bool:
    return _on_step(place, item) and item is not None and item.of.state == "running"


def _on_resumable_step(place: Place, item: Item | None) -> bool:
    return _on_step(place, item) and item is not None and item.of.resumable


def _context_of(subject: Subject) -> str:
    return subject.place.scope.id if isinstance(subject.place, ScopeKeys) else subject.key


async def _open(subject: Subject, values: Values) -> Outcome:
    context = await subject.pinfold.memory.contexts.open(agent=values["agent"], chat=values["chat"])
    await log(subject.pinfold, "open", context.id)
    return Outcome(f"context {context.id} is open", item=context.id)


async def _fork(subject: Subject, values: Values) -> Outcome:
    fork = await subject.pinfold.memory.contexts.fork(_context_of(subject), copy=values["copy"])
    await log(subject.pinfold, "fork", f"{_context_of(subject)} {fork.id}")
    return Outcome(f"context {fork.id} is forked", item=fork.id)


async def _release(subject: Subject, values: Values) -> Outcome:
    context = _context_of(subject)
    await subject.pinfold.memory.contexts.release(context, values["how"], values["why"])
    await log(subject.pinfold, "release", f"{context} {values['how']}")
    return Outcome(f"context {context} is released")


async def _begin(subject: Subject, values: Values) -> Outcome:
    step = await subject.pinfold.memory.contexts.begin(_context_of(subject), values["type"], values["input"])
    await log(subject.pinfold, "begin", step.id)
    return Outcome(f"step {step.number} runs")


async def _end(subject: Subject, values: Values) -> Outcome:
    contexts = subject.pinfold.memory.contexts
    if values["how"] == "completed":
        await contexts.complete(subject.key, values["why"] or None)
    elif values["how"] == "failed":
        await contexts.fail(subject.key, values["why"])
    else:
        await contexts.interrupt(subject.key, values["why"])
    await log(subject.pinfold, "end", f"{subject.key} {values['how']}")
    return Outcome(f"the step is {values['how']}")


async def _resume(subject: Subject, _: Values) -> Outcome:
    context = await subject.pinfold.memory.contexts.resume(subject.key)
    await log(subject.pinfold, "resume", f"{subject.key} {context.id}")
    return Outcome(f"context {context.id} goes on from the step")


async def _snapshot(subject: Subject, _: Values) -> Outcome:
    snapshot = await subject.pinfold.memory.contexts.snapshot(subject.key)
    values: dict[str, Any] = snapshot.values()
    return Outcome("", shown(values).split("\n") if values else ["the context was empty"])


async def _path(subject: Subject, _: Values) -> Outcome:
    steps = await subject.pinfold.memory.contexts.path(subject.key)
    return Outcome("", [f"{'  ' * step.depth}{step.number} {step.type} {step.state}" for step in steps])


def step_text(item: Item) -> str:
    """All that is known of a step, as JSON."""
    step = item.of
    known = {"input": step.input, "output": step.output, "error": step.error, "context": step.context, "id": step.id}
    return msgspec.json.encode(known).decode()


OPERATIONS = (
    Operation("open", "open a context", "Open an empty context", _open, _in_contexts, (_AGENT, _CHAT)),
    Operation("fork", "fork", "Open a context for a branch; it ends with its parent", _fork, _on_context, (_COPY,)),
    Operation(
        "release", "release", "End a context and its forks and delete their keys", _release, _on_context, (_HOW, _WHY)
    ),
    Operation("begin", "begin a step", "Begin a step with a copy of the keys", _begin, _on_context, (_TYPE, _INPUT)),
    Operation("end", "end the step", "End a step that runs", _end, _on_running_step, (_HOW, _WHY)),
    Operation("resume", "resume", "Open a context as it was when the step began", _resume, _on_resumable_step),
    Operation("step-keys", "keys then", "Show the keys when the step began", _snapshot, _on_step, harmless=True),
    Operation("step-path", "path", "Show the steps it runs inside", _path, _on_step, harmless=True),
)
