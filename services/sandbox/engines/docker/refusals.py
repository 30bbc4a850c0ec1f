"""Why the engine made or started no sandbox, in words an operator can act on."""

from __future__ import annotations

import re

from services.errors import EngineError, ImageMissing
from services.sandbox.engines.docker.api import Api
from services.sandbox.engines.docker.commands import Frames, LastBytes
from services.sandbox.engines.docker.container import Container, container_name
from services.sandbox.engines.docker.failures import Refused, one_line, plain
from services.sandbox.model import SandboxSpec

_NO_SOURCE = re.compile(r"bind source path does not exist: (.+)")
_NOT_RUN = re.compile(r"\[FATAL tini \(\d+\)\] exec (.+) failed: (.+)")
_NOT_RUN_STATUS = (126, 127)
_WORDS = 8 * 1024


def create_refused(refused: Refused, spec: SandboxSpec) -> EngineError:
    """Explain why no sandbox was made."""
    if refused.status == 404 or "invalid reference format" in refused.reason:
        return ImageMissing(
            f"the image {spec.image} is not here", why=refused.reason, fix="Pull or build it, or correct its name."
        )
    return _no_source(refused) or EngineError(f"cannot make a sandbox for {spec.agent}", why=plain(refused.reason))


def start_refused(refused: Refused) -> EngineError:
    """Explain why a sandbox did not start."""
    return _no_source(refused) or EngineError("cannot start the sandbox", why=plain(refused.reason))


def name_taken(spec: SandboxSpec) -> EngineError:
    """Explain that somebody else's container has the name a sandbox needs."""
    name = container_name(spec)
    return EngineError(
        f"cannot make a sandbox for {spec.agent}",
        why=f"a container named {name} exists and is not of this session",
        fix=f"If you do not need it, remove it with `docker rm -f {name}`; else give it another name with"
        f" `docker rename {name} NAME`.",
    )


async def why_not_run(api: Api, container: Container) -> str:
    """Return why the main process could not be run, "" when it was.

    The init process inside starts before the main one, so the engine cannot know: it reads the init's last words.

    Raises:
        Refused: The engine does not show them.
        EngineUnavailable: It was lost.
    """
    if container.status != "exited" or container.state.exit_code not in _NOT_RUN_STATUS:
        return ""
    query = {"stderr": 1, "tail": 1}
    frames, words = Frames(), LastBytes(_WORDS)
    path = f"/containers/{container.id}/logs"
    with await api.open("cannot read the sandbox's last words", "GET", path, query) as stream:
        while data := await stream.read():
            words.add(frames.feed(data))
    found = _NOT_RUN.fullmatch(one_line(words.value.decode("utf-8", "replace")))
    return f"cannot run {found[1]}: {found[2]}" if found else ""


def _no_source(refused: Refused) -> EngineError | None:
    found = _NO_SOURCE.search(refused.reason)
    if found is None:
        return None
    return EngineError(
        f"cannot mount {found[1]}",
        why="it does not exist on the engine's machine",
        fix="Make it, or correct the agent's configuration.",
    )
