"""What the engine tells a supervisor over its standard input."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True)
class Command:
    """One command to execute, confined or not.

    Attributes:
        argv: The program and its arguments.
        directory: Where it starts.
        environment: All of its variables, secrets included.
        bubblewrap: The program that confines it; "" runs it unconfined.
        confinement: Bubblewrap's options; the variables are added when it is executed.
        cores: The processors it may use; empty: all.
        terminal: Standard input is a terminal that becomes its controlling one.
    """

    argv: tuple[str, ...]
    directory: str
    environment: dict[str, str] = field(repr=False)
    bubblewrap: str = ""
    confinement: tuple[str, ...] = ()
    cores: tuple[int, ...] = ()
    terminal: bool = False

    def encoded(self) -> bytes:
        """As one line of JSON."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def decoded(cls, line: bytes) -> Command:
        """Read what `encoded` wrote."""
        return cls.of(json.loads(line))

    @classmethod
    def of(cls, fields: dict[str, object]) -> Command:
        """Build it from a JSON object."""
        plain = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
        return cls(**plain)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Order:
    """All a supervisor needs for one sandbox.

    Attributes:
        command: The main process.
        memory: Bytes all its processes may use together; None is unlimited.
        pids: Processes and threads there may be; None is unlimited.
        output_limit: Bytes of output kept.
        stop_timeout: Seconds from TERM to KILL when the supervisor itself is told to end.
    """

    command: Command
    memory: int | None
    pids: int | None
    output_limit: int
    stop_timeout: float

    def encoded(self) -> bytes:
        """As one line of JSON."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def decoded(cls, line: bytes) -> Order:
        """Read what `encoded` wrote."""
        fields = json.loads(line)
        return cls(command=Command.of(fields.pop("command")), **fields)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a supervisor says over its standard output.

    Attributes:
        what: `ready` for the word to start, `started`, or `failed`.
        code: The exit status a failed start counts as, as a shell reports it.
        reason: Why it failed; may hold the words of a foreign program.
    """

    what: str
    code: int = 0
    reason: str = ""

    def encoded(self) -> bytes:
        """As one line of JSON."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def decoded(cls, line: bytes) -> Answer:
        """Read what `encoded` wrote."""
        return cls(**json.loads(line))
