"""Turn this process into a command, confined or not. Run as a program it executes a further command of a sandbox."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import resource
import signal
import sys
import termios
from typing import NoReturn

from .orders import Command

CANNOT_EXECUTE = 126
NOT_FOUND = 127
STARTED = "ok"
"""All a report says when the command was executed; else its last line is a status and a reason."""

_REPORT = 3
_LOWEST = 10  # descriptors below may be taken by what is put in their place
_SCRIPT = "/.start"
_SET_PARENT_DEATH_SIGNAL = 1

# Inside a sandbox only a shell can look whether the command is there; $1 is the command, with its arguments behind it.
_CONFINED_START = """
set -f
program=
case $1 in
*/*) program=$1 ;;
*)
    IFS=:
    for folder in $PATH; do
        if [ -f "$folder/$1" ] && [ -x "$folder/$1" ]; then program=$folder/$1; break; fi
    done
    unset IFS folder ;;
esac
[ -n "$program" ] && [ -e "$program" ] || fail 127 "$1: not found"
[ -x "$program" ] && [ ! -d "$program" ] || fail 126 "$1: not executable"
unset program
"""
_REPORTED_START = f"""
fail() {{ printf '%s %s\\n' "$1" "$2" >&{_REPORT}; exit "$1"; }}
{_CONFINED_START}
echo {STARTED} >&{_REPORT}
exec {_REPORT}>&-
exec "$@"
"""
_UNREPORTED_START = f"""
fail() {{ printf '%s\\n' "$2" >&2; exit "$1"; }}
{_CONFINED_START}
exec "$@"
"""


def become(command: Command, *, report: int | None, parent: int | None = None, status: int | None = None) -> NoReturn:
    """Replace this process by the command; it becomes the leader of a session and dies with its parent.

    Args:
        command: What to execute.
        report: A pipe that learns whether it could be executed; None prints a failure to standard error.
        parent: The process that must still be the parent.
        status: A pipe bubblewrap tells its process numbers.
    """
    try:
        os.setsid()
        if command.terminal:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        _die_with_parent(parent)
        _reset_signals()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if command.cores:
            os.sched_setaffinity(0, command.cores)
        _enter(command.directory)
        if command.bubblewrap:
            _execute_confined(command, report, status)
        if report is not None:
            os.write(report, f"{STARTED}\n".encode())
        os.execvpe(command.argv[0], command.argv, command.environment)
    except FileNotFoundError:
        code, reason = NOT_FOUND, f"{command.argv[0]}: not found"
    except _WorkspaceUnusable as error:
        code, reason = CANNOT_EXECUTE, str(error)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        code, reason = CANNOT_EXECUTE, f"{command.argv[0]}: {why}"
    if report is None:
        os.write(2, f"{reason}\n".encode(errors="replace"))
    else:
        os.write(report, f"{code} {reason}\n".encode(errors="replace"))
    os._exit(code)


class _WorkspaceUnusable(Exception):
    pass


def _enter(directory: str) -> None:
    try:
        os.chdir(directory)
    except OSError as error:
        raise _WorkspaceUnusable(f"the workspace {directory} cannot be entered: {error.strerror}") from error


def _die_with_parent(parent: int | None) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the signal of a parent's death is not available")
    if parent is not None and os.getppid() != parent:
        os._exit(128 + signal.SIGKILL)  # it died before the line above


def _reset_signals() -> None:
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):  # KILL and STOP, and those the C library keeps for itself
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _execute_confined(command: Command, report: int | None, status: int | None) -> NoReturn:
    script = _UNREPORTED_START if report is None else _REPORTED_START
    options = ["--ro-bind-data", str(_in_memory(script.encode())), _SCRIPT, *command.confinement]
    for name, value in command.environment.items():
        options += ["--setenv", name, value]
    if status is not None:
        status = fcntl.fcntl(status, fcntl.F_DUPFD, _LOWEST)
        options += ["--json-status-fd", str(status)]
    if report is not None:
        os.dup2(report, _REPORT)
    handed_over = _in_memory(b"".join(os.fsencode(option) + b"\0" for option in options))
    arguments = (command.bubblewrap, "--args", str(handed_over), "--", "/bin/sh", _SCRIPT, *command.argv)
    os.execve(command.bubblewrap, arguments, {})


def _in_memory(data: bytes) -> int:
    """A file that is on no disk and, unlike a command line, in no list of processes."""
    descriptor = fcntl.fcntl(os.memfd_create("handed over"), fcntl.F_DUPFD, _LOWEST)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def main(arguments: list[str]) -> int:
    """Execute the command that arrives over the descriptor named by the only argument."""
    with os.fdopen(int(arguments[0]), "rb") as handed_over:
        line = handed_over.readline()
    if not line:
        print("nothing to execute", file=sys.stderr)  # noqa: T201
        return errno.EINVAL
    become(Command.decoded(line), report=None)
