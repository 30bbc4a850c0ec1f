"""What all verbs share: `--home` and `--json`, a home that must exist, and how a call ends."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import click

from services.errors import PinfoldError
from services.home import Home
from tui.invocation import Invocation, causes, complain

if TYPE_CHECKING:
    from services.pinfold import Pinfold
    from tui.verbs.printer import Printer

BROKEN_PIPE = 128 + signal.SIGPIPE
"""The exit status when whoever reads the output went away, as a shell reports it."""

Verb = Callable[..., Awaitable[int | None] | int | None]


@dataclass(frozen=True)
class Call:
    """One verb as it was called.

    Attributes:
        home: The home it works on; need not exist.
        json: Print JSON.
    """

    home: Home
    json: bool

    @cached_property
    def printer(self) -> Printer:
        """Prints on standard output."""
        from tui.verbs.printer import Printer

        return Printer()

    def need_home(self) -> None:
        """Refuse to go on without a home.

        Raises:
            PinfoldError: There is none.
        """
        if not self.home.exists:
            option = f" --home {self.home.root}" if self.home != Home.locate() else ""
            raise PinfoldError(
                f"there is no home at {self.home.root}", fix=f"Make one with: pinfold{option} init --demo"
            )

    @asynccontextmanager
    async def pinfold(self, *, supervise: bool = False) -> AsyncIterator[Pinfold]:
        """Open the services of an existing home.

        Args:
            supervise: Also look after its sessions meanwhile.

        Raises:
            PinfoldError: There is no home, or it cannot be used.
        """
        self.need_home()
        from services.pinfold import Pinfold

        async with Pinfold.open(self.home, supervise=supervise) as pinfold:
            if pinfold.database.damage is not None:
                complain(str(pinfold.database.damage))
            yield pinfold


def verb(function: Verb) -> Callable[..., None]:
    """Turn a function, plain or async, into what click calls.

    It gets a `Call` before its own arguments; an int it returns is the exit status.
    """

    @click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    @click.option("--home", metavar="DIR", help="The home to work on; else $PINFOLD_HOME, else ~/.pinfold.")
    @click.pass_context
    @functools.wraps(function)
    def called(context: click.Context, /, home: str | None, as_json: bool, **arguments: object) -> None:
        call = Call(context.ensure_object(Invocation).choose_home(home), as_json)
        try:
            status = function(call, **arguments)
            if inspect.isawaitable(status):
                status = asyncio.run(_awaited(status))
            sys.stdout.flush()
        except (BrokenPipeError, ExceptionGroup) as error:
            if not any(isinstance(cause, BrokenPipeError) for cause in causes(error)):
                raise
            _forget_output()
            status = BROKEN_PIPE
        context.exit(status or 0)

    return called


async def _awaited(result: Awaitable[int | None]) -> int | None:
    return await result


def _forget_output() -> None:
    """Keep the interpreter from complaining, at its end, about a pipe nobody reads."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
