"""Homes with agents that call tools from their sandboxes, and what they were answered."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from services.home import Home
from services.pinfold import Pinfold
from tests.engine.tools.python_image import ENVIRONMENT, PYTHON, write_siblings
from tests.support.sessions import World, ended, lines_of, started

CLIENT = Path(__file__).with_name("client.py")

PROFILES = """
[risk_profiles.trusted]
level = "supervised"
auto_approve = ["*"]
workspace_only = false
forbidden_paths = []

[risk_profiles.thrifty]
level = "full"
forbidden_paths = []
max_actions_per_hour = 1
"""


class ClientWorld(World):
    """A home on the docker engine.

    Args:
        home: Written to.
        host: The engine's address.
        image: Links to this machine's Python.
    """

    def __init__(self, home: Home, host: str, image: str) -> None:
        super().__init__(home, engine="docker", env={"DOCKER_HOST": host})
        with home.config_file.open("a", encoding="utf-8") as file:
            file.write(f'{PROFILES}[defaults.sandbox]\nimage = "{image}"\nmemory = "256m"\n')
        self._access = write_siblings(home, "trusted")

    def caller(self, alias: str = "worker", *, sandbox: str = "", rest: str = "", profile: str = "trusted") -> None:
        """Write an agent with the client in its workspace."""
        variables = "\n".join(f'{name} = "{value}"' for name, value in ENVIRONMENT.items())
        tools = "" if "tools" in sandbox else 'tools = "http"\n'
        self.agent(
            alias,
            profile=profile,
            sandbox=f"{tools}{sandbox}\n[sandbox.environment]\n{variables}\n",
            rest=f"{self._access}{rest}",
        )
        shutil.copy(CLIENT, self.home.default_workspace(alias))


def command_of(way: str, *calls: tuple[str, dict[str, Any]]) -> tuple[str, ...]:
    """The command line of the client."""
    words = [f"{name} {json.dumps(arguments)}" for name, arguments in calls]
    return (PYTHON, "-B", "/workspace/client.py", way, *words)


async def answers(
    pinfold: Pinfold, way: str, *calls: tuple[str, dict[str, Any]], alias: str = "worker"
) -> list[dict[str, Any]]:
    """Run a session that makes calls, and return what its client printed."""
    session = await started(pinfold, alias, command=command_of(way, *calls))
    end = await ended(pinfold, session.id)
    lines = await lines_of(pinfold, session.id)
    assert end.exit_code == 0, "\n".join(lines)
    return [json.loads(line) for line in lines]


def spoken(documents: list[dict[str, Any]]) -> list[tuple[bool, str]]:
    """Of each call whether it failed, and its text."""
    return [(document["failed"], document["text"]) for document in documents if "call" in document]
