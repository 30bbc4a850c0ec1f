"""`pinfold run`: an agent in a sandbox, from here to its end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from contextlib import aclosing
from typing import TYPE_CHECKING

import click

from services.output import Stream
from services.sandbox import SessionState, StartRequest
from tui.invocation import complain
from tui.signals import handled
from tui.verbs.after_dashes import CommandAfterDashes, command_after_dashes
from tui.verbs.call import Call, verb
from tui.verbs.copying import ALL_STREAMS, OUTPUT_STREAMS, AsJson, AsText, Bytes, Lines, Target, copy_output
from tui.verbs.documents import ProgressDocument, SessionDocument
from tui.verbs.printer import wants_colours

if TYPE_CHECKING:
    from services.pinfold import Pinfold
    from services.sandbox import Session

FAILED = 1
_TELL_SECONDS = 1.0


@click.command("run", cls=CommandAfterDashes)
@verb
@click.argument("alias")
@click.argument("prompt", required=False, default="")
@click.option("--engine", default="", help="docker or local; else the agent's.")
@click.option("--node", default="", help="The machine to run on.")
@click.option("--runner", default="", help="The program inside; else the agent's.")
@click.option("--image", default="", help="The image to make the sandbox from; else the agent's.")
@click.option("--lifecycle", default="", help="oneshot, session, longrunning or persistent; else the agent's.")
@click.option("-d", "--detach", is_flag=True, help="Print the session's id as soon as it runs, and leave it running.")
async def command(call: Call, alias: str, prompt: str, detach: bool, **choices: str) -> int:
    """Run an agent in a sandbox, print its output, and exit with its status.

    What follows -- replaces the agent's command. The first ctrl-c stops the session step by step, the second kills
    it. When Pinfold itself fails the status is 1.
    """
    request = StartRequest(agent=alias, prompt=prompt, command=command_after_dashes(), **choices)
    async with call.pinfold(supervise=True) as pinfold:
        session = await _started(call, pinfold, request, detach=detach)
        if detach:
            _print_detached(call, session)
            return 0
        ended = await _followed(call, pinfold, session)
    if call.json:
        call.printer.json_lines([ProgressDocument(session=SessionDocument.of(ended))])
    elif ended.exit_code != 0 or ended.out_of_memory:
        complain(f"session {ended.id} {ended.state.value}{f': {ended.detail}' if ended.detail else ''}")
    return FAILED if ended.exit_code is None else ended.exit_code


async def _started(call: Call, pinfold: Pinfold, request: StartRequest, *, detach: bool) -> Session:
    """Start a session, telling what is waited for."""
    told, told_at = "", 0.0
    async with aclosing(pinfold.sandboxes.start(request)) as progress:
        async for step in progress:
            now = time.monotonic()
            if step.note == told or (step.pull and now - told_at < _TELL_SECONDS):
                continue
            told, told_at = step.note, now
            if call.json and not detach:
                call.printer.json_lines([ProgressDocument(session=SessionDocument.of(step.session), note=step.note)])
            elif sys.stderr.isatty() and step.session.state in (SessionState.PULLING, SessionState.PREPARING):
                complain(step.note)
    if not call.json and (sys.stderr.isatty() or not step.session.confined):
        unconfined = "" if step.session.confined else ", unconfined: nothing keeps it from the rest of this machine"
        complain(f"session {step.session.id} runs on {step.session.engine}{unconfined}")
    return step.session


def _print_detached(call: Call, session: Session) -> None:
    if call.json:
        call.printer.document(SessionDocument.of(session))
    else:
        call.printer.line(session.id)


async def _followed(call: Call, pinfold: Pinfold, session: Session) -> Session:
    """Copy a session's output until it has ended; ctrl-c stops it."""
    interrupts: asyncio.Queue[signal.Signals] = asyncio.Queue()
    with await pinfold.sandboxes.output(session.id) as reader, handled(signal.SIGINT, interrupts.put_nowait):
        try:
            async with asyncio.TaskGroup() as tasks:
                stopping = tasks.create_task(_stop_when_interrupted(pinfold, session, interrupts))
                copying = tasks.create_task(copy_output(reader, _targets(call, session), follow=True))
                ended = await pinfold.sandboxes.wait(session.id)
                await copying
                stopping.cancel()
        except* BrokenPipeError:
            complain(f"nobody reads the output any more; session {session.id} goes on without")
            raise
    return ended


async def _stop_when_interrupted(pinfold: Pinfold, session: Session, interrupts: asyncio.Queue[signal.Signals]) -> None:
    await interrupts.get()
    complain(f"interrupting session {session.id}, then TERM, then KILL; ctrl-c again kills it now")
    async with asyncio.TaskGroup() as tasks:
        telling = tasks.create_task(_tell_of_rungs(pinfold, session))
        killing = tasks.create_task(_kill_when_interrupted(pinfold, session, interrupts))
        await pinfold.sandboxes.stop(session.id)
        telling.cancel()
        killing.cancel()


async def _kill_when_interrupted(pinfold: Pinfold, session: Session, interrupts: asyncio.Queue[signal.Signals]) -> None:
    await interrupts.get()
    complain(f"killing session {session.id}")
    await pinfold.sandboxes.kill(session.id)


async def _tell_of_rungs(pinfold: Pinfold, session: Session) -> None:
    """Say each step of the stop as it is taken."""
    told = ""
    with pinfold.events.listen() as listener:
        async for _ in listener.batches():
            detail, _, _ = (await pinfold.sandboxes.session(session.id)).detail.partition(";")
            if detail not in ("", told):
                told = detail
                complain(f"session {session.id} {detail}")


def _targets(call: Call, session: Session) -> list[Target]:
    """Where output goes: stdout to stdout and stderr to stderr, in one run where both are the same file."""
    out, err = sys.stdout.fileno(), sys.stderr.fileno()
    if call.json:
        return [Lines(out, ALL_STREAMS, 0, AsJson(session.id), partial=False)]
    if os.path.sameopenfile(out, err):
        return [_target(out, ALL_STREAMS)]
    return [_target(out, frozenset({Stream.STDOUT})), _target(err, ALL_STREAMS - {Stream.STDOUT})]


def _target(descriptor: int, streams: frozenset[Stream]) -> Target:
    if os.isatty(descriptor):
        return Lines(
            descriptor, streams, 0, AsText(times=False, clean=True, colours=wants_colours(os.environ)), partial=True
        )
    return Bytes(descriptor, streams & OUTPUT_STREAMS, 0)
