"""Operations that this Pinfold carries out beside the screens, and how far each is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

import msgspec
from textual.dom import DOMNode
from textual.signal import Signal
from textual.timer import Timer

from services.errors import PinfoldError
from tui.host import host

if TYPE_CHECKING:
    from services.operations import Operation, Operations, Plan, Progress

_PAUSE_SECONDS = 0.05


@dataclass(eq=False)
class Undertaking:
    """One operation that is carried out here.

    Attributes:
        plan: What is done; None for a retry that has not told yet.
        progress: What was told last of the first of the steps that run; None until something was.
        told: What was told last of each step, by its number.
        failure: Why it ended early.
        stopping: It is asked to stop.
    """

    plan: Plan | None
    progress: Progress | None = None
    told: dict[int, Progress] = field(default_factory=dict)
    failure: PinfoldError | None = None
    stopping: bool = False
    _ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ended(self) -> bool:
        """Whether nothing more happens."""
        return self._ended.is_set()

    def take_in(self, progress: Progress) -> None:
        """Note what was told."""
        self.told[progress.number] = progress
        if progress.leading or self.progress is None:
            self.progress = progress
        elif progress.operation is not self.progress.operation:  # another step ended meanwhile
            self.progress = msgspec.structs.replace(self.progress, operation=progress.operation)

    def end(self) -> None:
        """Let nothing more happen."""
        self._ended.set()

    async def wait(self) -> None:
        """Wait until nothing more happens."""
        await self._ended.wait()

    @property
    def operation(self) -> Operation | None:
        """As journalled when it was told of last."""
        return self.progress.operation if self.progress is not None else None

    @property
    def cancellable(self) -> bool:
        """Whether it can still be taken back: it runs and is not past its point of no return."""
        operation = self.operation
        return not (self.ended or self.stopping or (operation is not None and operation.committed))


@dataclass(frozen=True)
class Deleted:
    """A delete that one key takes back while its archive is there."""

    alias: str
    archive: str


class Underway:
    """Carries operations out, and tells the screens at most twenty times a second.

    Args:
        app: Its tasks end with it.

    Attributes:
        deleted: The last delete that ended here, until it was taken back.
        changed: Told when anything about an undertaking changed.
    """

    def __init__(self, app: DOMNode) -> None:
        self._app = app
        self._all: list[Undertaking] = []
        self._telling: Timer | None = None
        self.deleted: Deleted | None = None
        self.changed: Signal[None] = Signal(app, "underway")

    @property
    def running(self) -> tuple[Undertaking, ...]:
        """Those that have not ended, the oldest first."""
        return tuple(self._all)

    def of(self, operation: str) -> Undertaking | None:
        """The undertaking of an operation, by its id, while it runs here."""
        return next((one for one in self._all if one.operation is not None and one.operation.id == operation), None)

    def unfinished(self) -> list[str]:
        """What would stop if Pinfold ended now, a line for each."""
        return [_warning(one.operation) for one in self._all if one.operation is not None]

    def begin(self, plan: Plan, *, quiet: bool = False) -> Undertaking:
        """Begin to carry out a plan.

        Args:
            plan: One that is allowed.
            quiet: Whoever asks shows a failure himself.
        """
        undertaking = Undertaking(plan)
        self._start(undertaking, "", quiet)
        return undertaking

    def retry(self, operation: str, *, quiet: bool = False) -> Undertaking:
        """Begin to complete an operation that failed or was interrupted."""
        undertaking = Undertaking(None)
        self._start(undertaking, operation, quiet)
        return undertaking

    def stop(self, undertaking: Undertaking) -> None:
        """Ask one to stop; before its point of no return that takes everything back."""
        undertaking.stopping = True
        self._tell()

    def forget(self, archive: str) -> None:
        """Offer no more to take a delete back, since its archive is gone."""
        if self.deleted is not None and self.deleted.archive == archive:
            self.deleted = None
            self._tell()

    async def operations(self) -> Operations:
        """The service, its modules imported beside the event loop."""
        pinfold = host(self._app).pinfold
        await pinfold.calls.run(import_module, "services.operations")
        return pinfold.operations

    def _start(self, undertaking: Undertaking, retried: str, quiet: bool) -> None:
        self._all.append(undertaking)
        host(self._app).begin(self._app, "operation", self._carry_out, undertaking, retried, quiet)
        self._tell()

    async def _carry_out(self, undertaking: Undertaking, retried: str, quiet: bool) -> None:
        try:
            operations = await self.operations()
            if retried:
                steps = operations.retry(retried)
            else:
                assert undertaking.plan is not None
                steps = operations.carry_out(undertaking.plan)
            try:
                await self._follow(undertaking, steps)
            finally:
                await self._look(undertaking, operations)
        except PinfoldError as error:
            undertaking.failure = error
            if not quiet:
                raise
        finally:
            undertaking.end()
            self._all.remove(undertaking)
            self._tell()

    async def _follow(self, undertaking: Undertaking, steps: AsyncGenerator[Progress, None]) -> None:
        """Take in what is told; leaving the iteration is how an operation is stopped."""
        async with aclosing(steps) as told:
            async for progress in told:
                undertaking.take_in(progress)
                self._tell()
                if undertaking.stopping:
                    return

    async def _look(self, undertaking: Undertaking, operations: Operations) -> None:
        """Read how it ended."""
        if undertaking.operation is None:
            return
        from services.operations import Progress

        operation = await operations.get(undertaking.operation.id)
        undertaking.progress = Progress(operation=operation)
        if operation.state.value != "done":
            return
        if operation.kind == "delete":
            self.deleted = Deleted(operation.alias, operation.archive)
        elif operation.plan.options.part == "agent":
            self.forget(operation.archive)

    def _tell(self) -> None:
        if self._telling is None:
            self._telling = self._app.set_timer(_PAUSE_SECONDS, self._publish)

    def _publish(self) -> None:
        self._telling = None
        self.changed.publish(None)


def _warning(operation: Operation) -> str:
    what = f"the {operation.kind} of {operation.alias} is under way"
    return f"{what}; a retry completes it" if operation.committed else f"{what}; it is taken back"
