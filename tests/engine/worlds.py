"""Homes whose agents run in containers of the test image."""

from __future__ import annotations

from services.home import Home
from tests.support.sessions import World


def docker_world(home: Home, host: str, image: str) -> World:
    """A world on the engine at an address."""
    world = World(home, engine="docker", env={"DOCKER_HOST": host})
    with home.config_file.open("a", encoding="utf-8") as file:
        file.write(f'[defaults.sandbox]\nimage = "{image}"\nmemory = "64m"\n')
    return world
