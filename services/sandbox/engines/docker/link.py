"""Which engine it is, found once and kept: its endpoint, the API's version, and the two ways to speak to it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from services.home import BlockingCalls
from services.sandbox.engines.docker.api import Api
from services.sandbox.engines.docker.control import Control
from services.sandbox.engines.docker.endpoint import Endpoint, find_endpoint
from services.sandbox.engines.docker.facts import EngineFacts, read_facts


@dataclass(frozen=True)
class Link:
    """An engine that has answered.

    Attributes:
        api: For streams.
        control: For control calls.
        facts: As found when it first answered, or when its version last changed.
    """

    api: Api
    control: Control
    facts: EngineFacts


class Linker:
    """Finds the engine when it is first needed, and stays with the one that answered.

    A docker context switched meanwhile changes nothing for a Pinfold that runs: its sandboxes are where they were.

    Args:
        calls: Threads.
        env: Where DOCKER_HOST and the like are read.
    """

    def __init__(self, calls: BlockingCalls, env: Mapping[str, str]) -> None:
        self._calls = calls
        self._env = env
        self._link: Link | None = None
        self._made: list[Link] = []
        self._linking = asyncio.Lock()

    async def endpoint(self) -> Endpoint:
        """Where the engine answers, or would.

        Raises:
            EngineError: The address or the docker context cannot be used.
        """
        if self._link is not None:
            return self._link.api.endpoint
        return await self._calls.run(find_endpoint, self._env)

    async def link(self) -> Link:
        """The engine; asks for its version at the first call only.

        Raises:
            EngineUnavailable: It does not answer.
            EngineError: It cannot be used.
        """
        if self._link is None:
            async with self._linking:
                if self._link is None:
                    await self._connect(await self.endpoint())
        assert self._link is not None
        return self._link

    async def facts(self) -> EngineFacts:
        """Ask the engine anew what it is.

        Raises:
            EngineUnavailable: It does not answer.
            EngineError: It cannot be used.
        """
        link = self._link
        if link is None:
            return (await self.link()).facts
        facts = await read_facts(link.api)
        if facts.api != link.facts.api and self._link is link:
            await self._connect(link.api.endpoint)  # it was replaced by another version
        return facts

    async def close(self) -> None:
        """Free what every link holds."""
        for link in self._made:
            await link.control.close()
            await link.api.close()
        self._made, self._link = [], None

    async def _connect(self, endpoint: Endpoint) -> None:
        tls = None if endpoint.tls is None else await self._calls.run(endpoint.tls.context)
        facts = await read_facts(Api(endpoint, tls))
        api = Api(endpoint, tls, facts.api)
        self._link = Link(api, Control(api, self._calls), facts)
        self._made.append(self._link)
