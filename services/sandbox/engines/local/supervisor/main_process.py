"""Start a sandbox's main process and tell why it could not be started."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import NoReturn

from .execute import CANNOT_EXECUTE, STARTED, become
from .orders import Command
from .processes import Process, descendants, identify

_REPORT_LIMIT = 4096


class StartFailed(Exception):
    """The main process could not be started.

    Args:
        code: The status a shell would report.
        reason: May hold the words of a foreign program.
    """

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Started:
    """A main process that was executed.

    Attributes:
        child: The number to wait for; bubblewrap's when confined.
        root: The process whose descendants are the sandbox.
        main: The command itself; None when it has ended already.
        status: Where bubblewrap writes; kept open, since it would die of a closed pipe.
    """

    child: int
    root: Process
    main: Process | None
    status: int | None


def start_main_process(command: Command, *, stdout: int, stderr: int, complaints: int) -> Started:
    """Start the command with its output in two pipes and nothing to read.

    Args:
        command: What to execute.
        stdout: The writing end of a pipe; closed here.
        stderr: The writing end of a pipe; closed here.
        complaints: The reading end of `stderr`, not blocking: where bubblewrap says why it failed.

    Raises:
        StartFailed: It could not be executed.
    """
    report_read, report_write = os.pipe()
    status_read, status_write = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        _become(command, parent, (stdout, stderr, report_write, status_write))
    for descriptor in (stdout, stderr, report_write, status_write):
        os.close(descriptor)
    try:
        report = _read_to_end(report_read)
    finally:
        os.close(report_read)
    lines = report.decode(errors="replace").splitlines()
    if lines != [STARTED]:
        os.close(status_read)
        os.waitpid(child, 0)
        raise _failure(lines, complaints)
    if command.bubblewrap:
        return _confined(child, status_read)
    os.close(status_read)
    itself = identify(parent)
    if itself is None:
        raise StartFailed(CANNOT_EXECUTE, "/proc does not show this process")
    return Started(child, itself, identify(child), None)


def _become(command: Command, parent: int, pipes: tuple[int, int, int, int]) -> NoReturn:
    stdout, stderr, report, status = pipes
    try:
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        for source, target in ((nothing, 0), (stdout, 1), (stderr, 2)):
            os.dup2(source, target)
        become(command, report=report, parent=parent, status=status if command.bubblewrap else None)
    finally:
        os._exit(CANNOT_EXECUTE)  # nothing of the supervisor may run on in the child


def _read_to_end(descriptor: int) -> bytes:
    data = b""
    while len(data) < _REPORT_LIMIT:
        piece = os.read(descriptor, _REPORT_LIMIT)
        if not piece:
            break
        data += piece
    return data


def _failure(lines: list[str], complaints: int) -> StartFailed:
    reported = [line for line in lines if line != STARTED]
    if reported:
        code, _, reason = reported[-1].partition(" ")
        return StartFailed(int(code) if code.isdigit() else CANNOT_EXECUTE, reason)
    try:
        said = os.read(complaints, _REPORT_LIMIT).decode(errors="replace").strip()
    except BlockingIOError:
        said = ""
    return StartFailed(CANNOT_EXECUTE, said or "it ended before it was executed")


def _confined(child: int, status: int) -> Started:
    line = os.read(status, _REPORT_LIMIT).partition(b"\n")[0]
    first = int(json.loads(line)["child-pid"])
    root = identify(first)
    if root is None:  # it has ended already, and all of the sandbox with it
        return Started(child, Process(first, 0, ""), None, status)
    return Started(child, root, next((p for p in map(identify, descendants(first)) if p), None), status)
