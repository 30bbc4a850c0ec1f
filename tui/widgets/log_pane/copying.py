"""Copying through the terminal (OSC 52), and saying honestly how far that got."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from services.errors import PinfoldError
from services.output import Line, LineCleaner
from tui.figures import counted, size

MOST_BYTES = 74_000
"""What terminals that take copies are known to take: some stop at 100,000 bytes, and base64 makes a third more."""

_TMUX_SECONDS = 1.0
_OR_SAVE = "Saving to a file (^s) always works."
_CLEANER = LineCleaner(cut=MOST_BYTES)


def copied_text(lines: list[Line]) -> str:
    """Lines as text without colours or controls, each with a line end.

    Raises:
        PinfoldError: It is more than terminals take.
    """
    if sum(line.length for line in lines) <= 2 * MOST_BYTES:
        text = "".join([f"{_CLEANER.text(line.data)}\n" for line in lines])
        if len(text.encode()) <= MOST_BYTES:
            return text
    what = counted(len(lines), "line")
    raise PinfoldError(f"{what}: too much to copy", why=f"terminals take {size(MOST_BYTES)} at most", fix=_OR_SAVE)


async def outcome(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """Say what became of a text that was sent to the terminal to be copied.

    No terminal confirms a copy; of tmux it can be asked whether it passes copies on.

    Args:
        text: What was sent.
        environment: Tells whether tmux or screen stands between here and the terminal.
    """
    what = f"{counted(text.count(chr(10)), 'line')} ({size(len(text.encode()))})"
    if environment.get("TMUX"):
        setting = await _tmux_setting()
        if setting in ("off", "external"):
            return f"tmux did not pass {what} on: its set-clipboard is {setting}, and must be on. {_OR_SAVE}"
        return f"{what} sent to the terminal through tmux, not confirmed. {_OR_SAVE}"
    if environment.get("STY"):
        return f"screen does not pass copies on to the terminal. {_OR_SAVE}"
    return f"{what} sent to the terminal, not confirmed. {_OR_SAVE}"


async def _tmux_setting() -> str:
    """What tmux has `set-clipboard` at: on, external or off; "" when it does not say."""
    try:
        process = await asyncio.create_subprocess_exec(
            *("tmux", "show-options", "-sv", "set-clipboard"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return ""
    try:
        output, _ = await asyncio.wait_for(process.communicate(), _TMUX_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
        return ""
    return output.decode(errors="replace").strip()
