"""One call of a tool from its arguments to its answer, with its line in the activity log."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from services.activity import ActivityLog, Outcome
from services.errors import DatabaseError, InputRefused, MemoryRefused, PinfoldError, SessionError, SessionRefused
from services.policy import Policies
from services.sandbox.tools.grants import Grant
from services.sandbox.tools.serving.gate import Gate
from services.sandbox.tools.serving.offered import TOOLS, Reach, Result, Stores, Tool, offered

VERB = "tool.call"
RESULT_LIMIT = 4 * 1024 * 1024
"""The most bytes an answer has."""

_log = logging.getLogger(__name__)

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)


@dataclass(frozen=True)
class Answered:
    """What a call came to.

    Attributes:
        text: For the model.
        data: The same, as JSON; None when it is but a sentence.
        failed: It was refused or failed; the text says why and what to do.
    """

    text: str
    data: dict[str, Any] | None = None
    failed: bool = False


class Calls:
    """Answers the calls of every session.

    Args:
        policies: What each agent may do, as its file says at the moment of a call.
        stores: What tools read and change.
        gate: Lets calls through.
        activity: Gets a line for every call; never a value.
    """

    def __init__(self, policies: Policies, stores: Stores, gate: Gate, activity: ActivityLog) -> None:
        self._policies = policies
        self._stores = stores
        self._gate = gate
        self._activity = activity

    def offered(self, grant: Grant) -> tuple[Tool, ...]:
        """The tools a session may call now.

        Raises:
            PinfoldError: Its agent has no policy (any more).
        """
        return offered(grant, self._policies.of(grant.agent))

    async def call(self, grant: Grant, name: str, arguments: Mapping[str, Any]) -> Answered:
        """Call a tool for a session; whatever Pinfold refuses or fails at is an answer, not an error."""
        size = _size_of(arguments)
        try:
            answered = await self._answer(grant, name, arguments)
        except PinfoldError as error:
            refused = isinstance(error, MemoryRefused | SessionError)
            await self._log(grant, name, "refused" if refused else "failed", f"{size:,} bytes in: {_reason(error)}")
            return Answered(str(error), failed=True)
        except BaseException as error:  # also when whoever called has gone, which cancels this
            if isinstance(error, Exception):
                _log.error("an unforeseen error in the tool %s", name if name in TOOLS else "", exc_info=error)
            await asyncio.shield(
                asyncio.ensure_future(self._log(grant, name, "failed", f"{size:,} bytes in: broken off"))
            )
            raise
        await self._log(grant, name, "done", f"{size:,} bytes in, {len(answered.text.encode()):,} out")
        return answered

    async def _answer(self, grant: Grant, name: str, arguments: Mapping[str, Any]) -> Answered:
        tool = TOOLS.get(name)
        policy = self._policies.of(grant.agent)
        if tool is None:
            known = ", ".join(each.name for each in offered(grant, policy))
            raise SessionRefused("there is no such tool", fix=f"There are: {known}.")
        asked = tool.read(arguments)
        reach = Reach(grant, policy, self._stores)
        async with self._gate.passed(grant, policy, tool, arguments):
            return _written(await tool.run(reach, asked))

    async def _log(self, grant: Grant, name: str, outcome: Outcome, detail: str) -> None:
        shown = name if _NAME.fullmatch(name) else "(no tool's name)"
        await self._activity.record(
            VERB,
            actor=f"agent:{grant.agent}",
            agent=grant.agent,
            session=grant.session,
            outcome=outcome,
            detail=f"{shown}: {detail}",
        )


def _written(result: str | Result) -> Answered:
    if isinstance(result, str):
        answered = Answered(result)
    else:
        text = msgspec.json.encode(result)
        answered = Answered(text.decode(), msgspec.json.decode(text))
    if len(answered.text) > RESULT_LIMIT:
        raise InputRefused("the answer is too long", why=f"it has over {RESULT_LIMIT:,} bytes", fix="Ask for less.")
    return answered


def _size_of(arguments: Mapping[str, Any]) -> int:
    try:
        return len(msgspec.json.encode(arguments))
    except (RecursionError, UnicodeEncodeError, msgspec.MsgspecError):
        return 0


def _reason(error: PinfoldError) -> str:
    """Why, for the log: what a policy says is Pinfold's own words, any other message may quote a value."""
    if isinstance(error, SessionRefused):
        return f"{error.what}: {error.why}" if error.why else error.what
    words = {InputRefused: "the input is not acceptable", DatabaseError: "the database failed"}
    return words.get(type(error), re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__).lower())
