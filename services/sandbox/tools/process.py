"""The process that serves a home's tools: started when a session needs it, and gone some time after the last one."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import services
from services.errors import SessionError
from services.home import BlockingCalls, Home
from services.sandbox.tools.sockets import answers

PROGRAM = (sys.executable, "-P", "-m", "services.serve_tools")
"""The command line before the home's directory."""

_UP_SECONDS = 45.0
_PAUSE = 0.05
_WORDS = 500


class ServerProcess:
    """Sees to it that somebody serves.

    Args:
        home: Whose tools.
        calls: Threads for looking and starting.
        env: What the server's environment is, as it is this Pinfold's: stores of memory may need something of it.
    """

    def __init__(self, home: Home, calls: BlockingCalls, env: Mapping[str, str]) -> None:
        self._home = home
        self._calls = calls
        self._env = env
        self._starting = asyncio.Lock()

    async def ensure(self) -> None:
        """Return once a server answers, having started one where there was none.

        Of several that are started, one serves and the others end at once.

        Raises:
            SessionError: It does not come up; says what it said last.
        """
        async with self._starting:
            if await self._calls.run(answers, self._home):
                return
            await self._calls.run(self._start)
            deadline = asyncio.get_running_loop().time() + _UP_SECONDS
            while not await self._calls.run(answers, self._home):
                if asyncio.get_running_loop().time() > deadline:
                    why = await self._calls.run(self._last_words)
                    raise SessionError("the tool server does not come up", why=why or "it says nothing")
                await asyncio.sleep(_PAUSE)

    @property
    def _log(self) -> Path:
        return self._home.state_dir / "tool-server.log"

    def _start(self) -> None:
        """Start it as nobody's child; it outlives this process."""
        own = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | dict(self._env)
        root = str(Path(services.__file__).resolve().parent.parent)
        descriptor = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            subprocess.run(
                [*PROGRAM, str(self._home.root)],
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                env={**own, "PYTHONPATH": root, "PYTHONUTF8": "1", "LC_ALL": "C.UTF-8"},
                cwd="/",
                start_new_session=True,
                check=False,
            )
        finally:
            os.close(descriptor)

    def _last_words(self) -> str:
        try:
            lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        except OSError:
            return ""
        return lines[-1][:_WORDS] if lines else ""
