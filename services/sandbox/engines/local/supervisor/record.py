"""`local.json`: what a supervisor leaves on disk about its sandbox, for any Pinfold to read."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from .processes import Process

RECORD_FILE = "local.json"
_SIZE = 4096
_ERROR_LIMIT = 500


class RecordDamaged(Exception):
    """The file holds something else."""


@dataclass(frozen=True, slots=True)
class Record:
    """What became of one sandbox.

    Attributes:
        supervisor: The process that wrote this.
        status: `created` until told to start.
        root: The process whose descendants are the sandbox; None until started.
        main: The process signals go to; None until started, or when it ended too soon to be seen.
        confined: Whether bubblewrap is around it.
        exit_code: As a shell reports it: 128 + n for signal n.
        out_of_memory: It was killed for using more than its limit.
        error: Why it did not start, or was ended.
        started_at: Nanoseconds since 1970.
        ended_at: Nanoseconds since 1970.
    """

    supervisor: Process
    status: Literal["created", "running", "exited"]
    confined: bool
    root: Process | None = None
    main: Process | None = None
    exit_code: int | None = None
    out_of_memory: bool = False
    error: str = ""
    started_at: int | None = None
    ended_at: int | None = None


def write_record(directory: Path, record: Record) -> None:
    """Replace the record in one step; on a full disk write over the old one, which needs no room.

    Raises:
        OSError: It cannot be written at all.
    """
    fields = asdict(record)
    fields["error"] = record.error[:_ERROR_LIMIT]
    data = json.dumps(fields).encode().ljust(_SIZE)
    fresh = directory / f".{RECORD_FILE}.{os.getpid()}.new"
    try:
        _write(fresh, data, os.O_CREAT | os.O_TRUNC)
        fresh.replace(directory / RECORD_FILE)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        if error.errno not in (errno.ENOSPC, errno.EDQUOT) or not (directory / RECORD_FILE).exists():
            raise
        _write(directory / RECORD_FILE, data, 0)


def read_record(directory: Path) -> Record | None:
    """Read the record; None when there is none.

    Raises:
        RecordDamaged: The file holds something else.
    """
    try:
        data = (directory / RECORD_FILE).read_bytes()
    except FileNotFoundError:
        return None
    try:
        return _checked(json.loads(data))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise RecordDamaged(str(directory / RECORD_FILE)) from error


def _write(path: Path, data: bytes, flags: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | flags, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _checked(fields: Mapping[str, Any]) -> Record:
    if fields["status"] not in ("created", "running", "exited"):
        raise ValueError(fields["status"])
    return Record(
        supervisor=_process(fields["supervisor"]),
        status=fields["status"],
        confined=bool(fields["confined"]),
        root=None if fields["root"] is None else _process(fields["root"]),
        main=None if fields["main"] is None else _process(fields["main"]),
        exit_code=_number_or_none(fields["exit_code"]),
        out_of_memory=bool(fields["out_of_memory"]),
        error=str(fields["error"]),
        started_at=_number_or_none(fields["started_at"]),
        ended_at=_number_or_none(fields["ended_at"]),
    )


def _process(fields: Mapping[str, Any]) -> Process:
    return Process(_number(fields["pid"]), _number(fields["started"]), str(fields["boot"]))


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(value)
    return value


def _number_or_none(value: object) -> int | None:
    return None if value is None else _number(value)
