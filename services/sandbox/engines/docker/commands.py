"""One more command inside a running sandbox, without a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from services.errors import EngineError
from services.sandbox.engines.docker.api import Api
from services.sandbox.engines.docker.container import Identified
from services.sandbox.engines.docker.control import Control
from services.sandbox.engines.docker.failures import Refused, one_line, plain

if TYPE_CHECKING:
    from docker import APIClient

KEPT = 64 * 1024
"""Bytes of its output that are returned."""

_HEADER = 8


class CommandState(msgspec.Struct, rename="pascal"):
    """An inspected command."""

    running: bool = False
    exit_code: int | None = None


async def run_command(api: Api, control: Control, sandbox: str, command: tuple[str, ...]) -> tuple[int, bytes]:
    """Run a command to its end and return its status and the last 64 KiB it printed, both streams as they came.

    Raises:
        Refused: The sandbox does not run.
        EngineError: The command cannot be run.
        EngineUnavailable: The engine was lost; the command may go on.
    """
    what = f"cannot run {command[0]}" if command else "cannot run nothing"

    def create(client: APIClient) -> object:
        return client.exec_create(sandbox, list(command))

    made = await control.ask(what, Identified, create)
    printed = LastBytes(KEPT)
    frames = Frames()
    body = {"Detach": False, "Tty": False}
    with await api.open(what, "POST", f"/exec/{made.id}/start", body=body) as stream:
        while data := await stream.read():
            printed.add(frames.feed(data))
    status = await exit_status(control, made.id)
    if status in (126, 127) and (reason := not_startable(printed.value)):
        raise EngineError(what, why=reason)
    return status, printed.value


async def exit_status(control: Control, command: str) -> int:
    """Ask how a command that printed its last ended.

    Raises:
        EngineError: It goes on without its output, or the engine forgot it.
    """
    what = "cannot tell how the command ended"
    try:
        state = await control.ask(what, CommandState, lambda client: client.exec_inspect(command))
    except Refused as refused:
        raise EngineError(what, why=refused.reason) from refused
    if state.exit_code is None:
        raise EngineError(what, why="it closed its output and still runs")
    return state.exit_code


def not_startable(printed: bytes) -> str:
    """Return the engine's reason when it printed that a command could not be started, else ""."""
    words = one_line(printed.decode("utf-8", "replace"))
    return plain(words) if words.startswith("OCI runtime exec failed") else ""


class LastBytes:
    """Keeps the end of what is added, in bounded memory."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()

    def add(self, data: bytes) -> None:
        """Append, and forget what is too old."""
        self._kept += data
        if len(self._kept) > 2 * self._limit:
            del self._kept[: -self._limit]

    @property
    def value(self) -> bytes:
        """The last bytes, no more than the limit."""
        return bytes(self._kept[-self._limit :])


class Frames:
    """Takes the engine's frames off: a stream's number, three zeros, four bytes of length, then so many bytes."""

    def __init__(self) -> None:
        self._header = b""
        self._missing = 0

    def feed(self, data: bytes) -> bytes:
        """Take bytes cut anywhere and return those inside the frames."""
        parts: list[bytes] = []
        position = 0
        while position < len(data):
            if self._missing:
                part = data[position : position + self._missing]
                parts.append(part)
                self._missing -= len(part)
                position += len(part)
                continue
            wanted = _HEADER - len(self._header)
            self._header += data[position : position + wanted]
            position += wanted
            if len(self._header) == _HEADER:
                self._missing = int.from_bytes(self._header[4:])
                self._header = b""
        return b"".join(parts)
