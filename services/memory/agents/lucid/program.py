"""The lucid program, called as a command.

It takes texts as arguments only, where whoever lists this machine's processes reads them: a text with a secret is never
handed over. It knows no way to delete.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from services.agents import LucidStore
from services.errors import MemoryUnavailable
from services.memory.agents.model import CONVERSATION, CORE, DAILY, Row
from services.memory.screening import scan

_SECONDS = 3.0
_COOL_DOWN_SECONDS = 15.0
_ARGUMENT_LIMIT = 30_000
"""Characters; the kernel takes 128 KiB an argument."""

_OUTPUT_LIMIT = 1024 * 1024
_TYPES = {CORE: "decision", DAILY: "context", CONVERSATION: "conversation"}
_OTHER_TYPE = "learning"
_ENVIRONMENT = ("HOME", "PATH", "LANG", "LC_ALL", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
_HIT = re.compile(r"- \[[^\]]*\] (.+)")

_log = logging.getLogger(__name__)


class Program:
    """Calls that may fail: then it is left alone for a while, and the mirror serves.

    Args:
        settings: Says what the program is called; asked for every call.
        env: Where it is looked for; it gets no other variables than it needs.
        seconds: A clock that never goes back.
    """

    def __init__(
        self,
        settings: Callable[[], LucidStore],
        env: Mapping[str, str],
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._env = env
        self._seconds = seconds
        self._left_alone_until = 0.0

    @property
    def path(self) -> str:
        """Where the program is.

        Raises:
            MemoryUnavailable: It is not installed.
        """
        name = self._settings().program
        found = shutil.which(str(Path(name).expanduser()), path=self._env.get("PATH", ""))
        if found is None:
            raise MemoryUnavailable(
                "cannot use the memory in lucid",
                why=f"there is no program {name}",
                fix="Install lucid, or name it as program in [memory.lucid].",
            )
        return found

    async def store(self, row: Row, project: Path) -> None:
        """Tell it of a row; what it fails at is logged."""
        text = told(row)
        if not scan(text):
            kind = _TYPES.get(row.category, _OTHER_TYPE)
            await self._called_if_well("store", text, f"--type={kind}", f"--project={project}")

    async def hits(self, query: str, project: Path) -> list[str]:
        """Ask what it knows; texts as it was told them, cut short, the best first; none when it fails."""
        text = flat(query)
        if not text or scan(text):
            return []
        budget = f"--budget={self._settings().budget}"
        output = await self._called_if_well("context", text, budget, f"--project={project}")
        return _hits_in(output)

    async def version(self) -> str:
        """Ask what it is.

        Raises:
            MemoryUnavailable: It is not there, fails, or does not answer.
        """
        return (await self._called("version")).strip()[:40]

    async def _called_if_well(self, *arguments: str) -> str:
        if self._seconds() < self._left_alone_until:
            return ""
        try:
            return await self._called(*arguments)
        except MemoryUnavailable as error:
            self._left_alone_until = self._seconds() + _COOL_DOWN_SECONDS
            _log.warning("%s", error)
            return ""

    async def _called(self, *arguments: str) -> str:
        environment = {name: self._env[name] for name in _ENVIRONMENT if name in self._env}
        environment |= {name: value for name, value in self._env.items() if name.startswith("LUCID_")}
        pipe, nowhere = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        path = self.path
        try:
            process = await asyncio.create_subprocess_exec(
                path, *arguments, stdin=nowhere, stdout=pipe, stderr=nowhere, env=environment, cwd="/"
            )
        except OSError as error:
            raise _failed(arguments[0], error.strerror or str(error)) from error
        assert process.stdout is not None
        try:
            async with asyncio.timeout(_SECONDS):
                output = await process.stdout.read(_OUTPUT_LIMIT)
                while await process.stdout.read(_OUTPUT_LIMIT):
                    continue
                status = await process.wait()
        except TimeoutError as error:
            raise _failed(arguments[0], f"it took longer than {_SECONDS:.0f} seconds") from error
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if status:
            raise _failed(arguments[0], f"it ended with status {status}")
        return output.decode(errors="replace")


def told(row: Row) -> str:
    """What the program is told of a row: one line."""
    return flat(f"{row.key}: {row.content}")


def flat(text: str) -> str:
    """Write a text as one line that cannot be taken for an option."""
    line = " ".join(text.replace("\0", " ").split())[:_ARGUMENT_LIMIT]
    return f"· {line}" if line.startswith("-") else line


def _hits_in(output: str) -> list[str]:
    """Read the lines between `<lucid-context>` and `</lucid-context>`, such as `- [decision] key: text`."""
    lines = [line.strip() for line in output.splitlines()]
    if "<lucid-context>" not in lines:
        return []
    inside = lines[lines.index("<lucid-context>") + 1 :]
    if "</lucid-context>" in inside:
        inside = inside[: inside.index("</lucid-context>")]
    return [found[1].strip() for line in inside if (found := _HIT.fullmatch(line))]


def _failed(verb: str, why: str) -> MemoryUnavailable:
    return MemoryUnavailable(f"`lucid {verb}` failed", why=why, fix="Look at `lucid status`.")
