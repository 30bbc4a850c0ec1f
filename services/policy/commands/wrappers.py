"""Programs that run another program named in their arguments: what they really run."""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.policy.commands.grammar import Word


@dataclass(frozen=True, slots=True)
class Wrapper:
    """How one wrapper's arguments are laid out.

    Attributes:
        flags: Options without a value.
        valued: Options whose value is the next word, or attached.
        operands: Words before the wrapped command, such as the duration of `timeout`.
        transparent: It changes nothing about what the wrapped command may do, and needs no entry of its own.
        assigns: `NAME=value` words may stand before the command.
        feeds: It adds arguments that cannot be known here.
    """

    flags: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    operands: int = 0
    transparent: bool = True
    assigns: bool = False
    feeds: bool = False


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """What a wrapper runs.

    Attributes:
        words: The wrapped program and its arguments; empty when it wraps nothing.
        assignments: Variables it sets for the program.
        problem: Why it cannot be told what runs.
    """

    words: tuple[Word, ...] = ()
    assignments: tuple[str, ...] = ()
    problem: str = ""


def _options(*names: str) -> frozenset[str]:
    return frozenset(names)


WRAPPERS = {
    "env": Wrapper(
        _options("-i", "-", "--ignore-environment", "-0", "--null", "-v", "--debug"),
        _options("-u", "--unset"),
        assigns=True,
    ),
    "time": Wrapper(_options("-p", "-v", "--verbose", "-a", "--append", "-q"), _options("-f", "--format")),
    "nohup": Wrapper(),
    "nice": Wrapper(valued=_options("-n", "--adjustment")),
    "ionice": Wrapper(_options("-t", "--ignore"), _options("-c", "--class", "-n", "--classdata")),
    "timeout": Wrapper(
        _options("--foreground", "--preserve-status", "-v", "--verbose"),
        _options("-k", "--kill-after", "-s", "--signal"),
        1,
    ),
    "stdbuf": Wrapper(valued=_options("-i", "--input", "-o", "--output", "-e", "--error")),
    "command": Wrapper(_options("-p")),
    "builtin": Wrapper(),
    "exec": Wrapper(_options("-c", "-l"), transparent=False),
    "setsid": Wrapper(_options("-w", "--wait", "-f", "--fork", "-c", "--ctty"), transparent=False),
    "sudo": Wrapper(
        _options("-n", "-E", "-H", "-S", "-k", "-b", "-i", "-s", "-P", "-A"),
        _options("-u", "--user", "-g", "--group", "-p", "-C", "-D", "-R", "-T", "-h"),
        transparent=False,
        assigns=True,
    ),
    "doas": Wrapper(_options("-n", "-s"), _options("-u", "-C"), transparent=False),
    "xargs": Wrapper(
        _options("-0", "--null", "-r", "--no-run-if-empty", "-t", "--verbose", "-x", "--exit", "-p", "--interactive"),
        _options(
            "-n", "--max-args", "-I", "-P", "--max-procs", "-d", "--delimiter", "-L", "--max-lines", "-s", "-E", "-a"
        ),
        transparent=False,
        feeds=True,
    ),
    "busybox": Wrapper(transparent=False),
    "strace": Wrapper(_options("-f", "-c", "-q"), _options("-e", "-p", "-s"), transparent=False),
    "watch": Wrapper(_options("-d", "-t", "-e", "-g", "-x"), _options("-n", "--interval"), transparent=False),
    "chroot": Wrapper(operands=1, transparent=False),
    "unshare": Wrapper(_options("-r", "-m", "-u", "-i", "-n", "-p", "-f", "-U"), transparent=False),
    "flock": Wrapper(_options("-n", "-s", "-x", "-u"), _options("-w", "-E"), 1, transparent=False),
}

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=", re.ASCII)
_NICENESS = re.compile(r"-\d+$")


def unwrap(name: str, arguments: tuple[Word, ...]) -> Unwrapped:
    """Find the program that a wrapper runs.

    Args:
        name: One of `WRAPPERS`.
        arguments: The words behind it.
    """
    wrapper = WRAPPERS[name]
    rest = list(arguments)
    assignments: list[str] = []
    operands = wrapper.operands
    options = True
    while rest:
        word = rest[0]
        found = _ASSIGNMENT.match(word.text) if wrapper.assigns else None
        if options and word.text == "--":
            options = False
            rest.pop(0)
        elif options and word.text.startswith("-") and (word.text != "-" or "-" in wrapper.flags):
            if not _take_option(name, wrapper, rest):
                return Unwrapped(problem=f"{name} has an option that is not judged, {word.text}")
        elif found:
            assignments.append(found[1])
            options = False
            rest.pop(0)
        elif operands:
            operands -= 1
            options = False
            rest.pop(0)
        else:
            break
    if rest and rest[0].pattern:
        return Unwrapped(problem=f"{name} runs a program named by a pattern")
    return Unwrapped(tuple(rest), tuple(assignments))


def _take_option(name: str, wrapper: Wrapper, rest: list[Word]) -> bool:
    text = rest[0].text
    if text in wrapper.flags or (name == "nice" and _NICENESS.match(text)):
        rest.pop(0)
        return True
    if text in wrapper.valued:
        del rest[:2]
        return True
    long_name = text.split("=", 1)[0] if text.startswith("--") else ""
    if long_name in wrapper.valued and "=" in text:
        rest.pop(0)
        return True
    if not text.startswith("--") and text[:2] in wrapper.valued:
        rest.pop(0)
        return True
    if not text.startswith("--") and len(text) > 2 and all(f"-{letter}" in wrapper.flags for letter in text[1:]):
        rest.pop(0)
        return True
    return False
