"""The errors Pinfold raises on purpose.

PinfoldError                 what failed, why, and what to do
├── ConfigError              a TOML file is wrong; names file, line and key
│   └── AgentNotFound        no agent has this alias
├── FileConflict             a file changed on disk since it was read
├── DatabaseError            the database cannot be read or written
├── LockHeld                 another process holds this lock
├── MemoryRefused            what is remembered cannot be read or changed as asked
│   ├── MemoryUnavailable    what keeps an agent's memory does not answer
│   │   └── EmbedderUnavailable   what turns memories into vectors does not answer, or not as it should
│   │       ├── EmbedderBusy      it asks to be asked later
│   │       └── EmbedderRefused   it answers, and does not take these texts
│   ├── InputRefused         an id, key, value, time or position is not acceptable
│   ├── NothingThere         no value, item or step is where one was expected
│   ├── ChangedMeanwhile     something else is stored than what was seen
│   ├── WrongKind            a key holds another kind of value
│   └── StepRefused          a context or a step is in a state that forbids it
├── ArchiveError             an archive cannot be written or read
│   ├── ArchiveNotFound      there is no such archive
│   ├── ArchiveDamaged       what is there is no archive, or no longer one
│   └── ArchiveRefused       its state forbids what is asked
├── SpoolError               a session's output cannot be read or written
├── EngineError              an engine refused a request
│   ├── EngineUnavailable    an engine does not answer
│   ├── ImageMissing         an image is neither here nor to be had
│   └── SandboxGone          the engine does not know this sandbox
├── SessionError             a session cannot do what was asked
│   ├── SessionNotFound      no session has this id
│   └── SessionRefused       policy or state forbids it
└── OperationError           a rename, delete or restore cannot go on
    ├── OperationNotFound    there is no such operation
    └── OperationRefused     something is in its way; names all of it
"""

from __future__ import annotations

from pathlib import Path


class PinfoldError(Exception):
    """A failure an operator can understand.

    Args:
        what: What failed, as a short clause without a full stop.
        why: The cause, empty when `what` says it all.
        fix: What the operator can do, empty when there is nothing.
    """

    def __init__(self, what: str, *, why: str = "", fix: str = "") -> None:
        super().__init__(what, why, fix)
        self.what = what
        self.why = why
        self.fix = fix

    def __str__(self) -> str:
        text = f"{self.what}: {self.why}" if self.why else self.what
        return f"{text}. {self.fix}" if self.fix else text


class ConfigError(PinfoldError):
    """A TOML file is wrong.

    Args:
        what: The problem as a short clause.
        file: The file it is in.
        line: Counted from 1; 0 when the problem has no line.
        key: The dotted path of the key; empty when there is none.
        fix: What the operator can do.
    """

    def __init__(self, what: str, *, file: Path | None = None, line: int = 0, key: str = "", fix: str = "") -> None:
        super().__init__(what, fix=fix)
        self.file = file
        self.line = line
        self.key = key

    def __str__(self) -> str:
        place = "" if self.file is None else str(self.file)
        if place and self.line:
            place = f"{place}:{self.line}"
        parts = [part for part in (place, self.key, self.what) if part]
        text = ": ".join(parts)
        return f"{text}. {self.fix}" if self.fix else text


class AgentNotFound(ConfigError):
    """No agent has this alias."""


class FileConflict(PinfoldError):
    """A file changed on disk since it was read."""


class DatabaseError(PinfoldError):
    """The database cannot be read or written."""


class DatabaseDamaged(DatabaseError):
    """What is in the database's file is no database, or not whole."""


class LockHeld(PinfoldError):
    """Another process holds this lock."""


class MemoryRefused(PinfoldError):
    """What is remembered cannot be read or changed as asked."""


class MemoryUnavailable(MemoryRefused):
    """What keeps an agent's memory does not answer."""


class EmbedderUnavailable(MemoryUnavailable):
    """What turns memories into vectors does not answer, or not as it should."""


class EmbedderBusy(EmbedderUnavailable):
    """What turns memories into vectors asks to be asked later.

    Args:
        what: As for any error.
        why: As for any error.
        fix: As for any error.
        seconds: How much later, if it said so.
    """

    def __init__(self, what: str, *, why: str = "", fix: str = "", seconds: float | None = None) -> None:
        super().__init__(what, why=why, fix=fix)
        self.seconds = seconds


class EmbedderRefused(EmbedderUnavailable):
    """What turns memories into vectors does not take these texts."""


class InputRefused(MemoryRefused):
    """An id, key, value, time or position is not acceptable."""


class NothingThere(MemoryRefused):
    """No value, item or step is where one was expected."""


class ChangedMeanwhile(MemoryRefused):
    """Something else is stored than what was seen."""


class WrongKind(MemoryRefused):
    """A key holds another kind of value."""


class StepRefused(MemoryRefused):
    """A context or a step is in a state that forbids it."""


class ArchiveError(PinfoldError):
    """An archive cannot be written or read."""


class ArchiveNotFound(ArchiveError):
    """There is no such archive."""


class ArchiveDamaged(ArchiveError):
    """What is there is no archive, or no longer one."""


class ArchiveRefused(ArchiveError):
    """The state of an archive forbids what is asked."""


class SpoolError(PinfoldError):
    """A session's output cannot be read or written."""


class EngineError(PinfoldError):
    """An engine refused a request."""


class EngineUnavailable(EngineError):
    """An engine does not answer."""


class ImageMissing(EngineError):
    """An image is neither here nor to be had."""


class SandboxGone(EngineError):
    """The engine does not know this sandbox."""


class SessionError(PinfoldError):
    """A session cannot do what was asked."""


class SessionNotFound(SessionError):
    """No session has this id."""


class SessionRefused(SessionError):
    """Policy or state forbids it."""


class OperationError(PinfoldError):
    """A rename, delete or restore cannot go on."""


class OperationNotFound(OperationError):
    """There is no such operation."""


class OperationRefused(OperationError):
    """Something is in its way; names all of it."""
