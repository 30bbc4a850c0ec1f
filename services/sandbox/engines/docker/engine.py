"""The docker engine, kept to the protocol of all engines."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from types import MappingProxyType

import msgspec

from services.errors import EngineError, EngineUnavailable, SandboxGone
from services.home import BlockingCalls
from services.output import SpoolWriter
from services.sandbox.engines.docker import events, pull, usage
from services.sandbox.engines.docker.api import Api
from services.sandbox.engines.docker.commands import run_command
from services.sandbox.engines.docker.container import (
    HOME_LABEL,
    SESSION_LABEL,
    Container,
    Identified,
    WayOut,
    container_name,
    create_container,
    name_of,
)
from services.sandbox.engines.docker.egress import Egress
from services.sandbox.engines.docker.failures import Refused
from services.sandbox.engines.docker.follow import Follower
from services.sandbox.engines.docker.link import Link, Linker
from services.sandbox.engines.docker.refusals import create_refused, name_taken, start_refused, why_not_run
from services.sandbox.engines.docker.shell import open_shell
from services.sandbox.engines.engine import EngineStatus, PullProgress, Refusals, SandboxState, Shell, Signal, Usage
from services.sandbox.model import SandboxSpec

STATUS_SECONDS = 3.0
"""Within which `status` answers, whatever the engine does."""

_ID = re.compile(r"[0-9a-f]{64}")


class DockerEngine:
    """A Docker Engine of this machine or of another one; see `Engine` for what its methods promise.

    Which engine it is, DOCKER_HOST and the docker contexts say when it is first needed; it stays that one from the
    first answer on.

    Args:
        home_id: Only containers with this label are ever touched.
        calls: Threads for control calls.
        env: Where DOCKER_HOST and the like are read.
        names: Hosts and their addresses, for proxies to allowed hosts, beside what the name service says.
    """

    name = "docker"
    spools_itself = False

    def __init__(
        self,
        home_id: str,
        calls: BlockingCalls,
        env: Mapping[str, str] = os.environ,
        names: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._home_id = home_id
        self._linker = Linker(calls, env)
        self._egress = Egress(home_id, names)

    async def status(self) -> EngineStatus:
        """Ask whether the engine is usable; answers within three seconds."""
        address = ""
        try:
            async with asyncio.timeout(STATUS_SECONDS):
                endpoint = await self._linker.endpoint()
                address = endpoint.address
                facts = await self._linker.facts()
        except TimeoutError:
            problem = EngineError(
                "the docker engine does not answer", why=f"it is silent for {STATUS_SECONDS:.0f} seconds"
            )
        except EngineError as error:
            problem = error
        else:
            return EngineStatus(
                name=self.name,
                usable=True,
                version=facts.version,
                address=address,
                identity=facts.identity,
                notes=facts.notes,
                keeps_allowlist=True,
            )
        why = f"{problem.what}: {problem.why}" if problem.why else problem.what
        return EngineStatus(name=self.name, usable=False, problem=why, fix=problem.fix, address=address)

    async def has_image(self, image: str) -> bool:
        """Whether the image is here; a text that is no image name never is."""
        link = await self._linker.link()
        try:
            await link.control.call(f"cannot look for {image}", lambda client: client.inspect_image(image))  # type: ignore[no-untyped-call]
        except Refused as refused:
            if refused.status in (400, 404):
                return False
            raise
        return True

    async def pull(self, image: str) -> AsyncGenerator[PullProgress, None]:
        """Fetch an image, with progress by layer; closing the iterator stops the fetching.

        Raises:
            ImageMissing: It is not to be had; names the image and the registry's reason.
        """
        link = await self._linker.link()
        async with aclosing(pull.pull(link.api, link.control, image)) as progress:
            async for step in progress:
                yield step

    async def create(self, spec: SandboxSpec, secrets: Mapping[str, str]) -> str:
        """Make a container that is not running yet; for a session that has one, return that one.

        Raises:
            ImageMissing: The image is not here.
            EngineError: Something the spec needs is not to be had: a mount's source, the container's name.
        """
        link = await self._linker.link()
        if spec.network != "allowlist" and not spec.inlet:
            return await self._create(link, spec, secrets, WayOut("bridge" if spec.network == "open" else "none"))
        try:
            way_out = await self._egress.make(link, spec, container_name(spec))
            return await self._create(link, spec, secrets, way_out)
        except EngineUnavailable:
            raise  # what was made is found by whoever asks again
        except EngineError:
            await self._egress.remove(link, container_name(spec))
            raise

    async def _create(self, link: Link, spec: SandboxSpec, secrets: Mapping[str, str], way_out: WayOut) -> str:
        what = f"cannot make a sandbox for {spec.agent}"
        try:
            made = await link.control.ask(
                what, Identified, lambda client: create_container(client, spec, secrets, link.facts, way_out)
            )
        except Refused as refused:
            if refused.status != 409:
                raise create_refused(refused.without(secrets.values()), spec) from None
        else:
            return made.id
        name = container_name(spec)
        there = await link.control.ask(what, Container, lambda client: client.inspect_container(name))
        if there.label(HOME_LABEL) != self._home_id or there.label(SESSION_LABEL) != spec.session:
            raise name_taken(spec)
        return there.id

    async def start(self, sandbox: str) -> None:
        """Run the main process; does nothing when it runs, or has run.

        Raises:
            EngineError: It cannot be started; that its command does not exist may come out only later, in `inspect`.
        """
        link = await self._linker.link()
        container = await self._own(link, sandbox)
        if container.status != "created":
            return
        if container.has_way_out:
            await self._egress.open(link, self._name(container.label(SESSION_LABEL)))
        try:
            await link.control.call("cannot start the sandbox", lambda client: client.start(sandbox))
        except Refused as refused:
            if refused.status == 404 and "No such container" in refused.reason:
                raise _gone(sandbox) from refused
            raise start_refused(refused) from refused

    async def run(self, sandbox: str, command: tuple[str, ...]) -> tuple[int, bytes]:
        """Run one more command inside to its end; return its status and the last 64 KiB it printed."""
        link = await self._linker.link()
        await self._own(link, sandbox)
        return await run_command(link.api, link.control, sandbox, command)

    async def inspect(self, sandbox: str) -> SandboxState:
        """Ask what became of a sandbox."""
        link = await self._linker.link()
        container = await self._own(link, sandbox)
        state = container.sandbox_state()
        if not state.error and (reason := await why_not_run(link.api, container)):
            state = msgspec.structs.replace(state, error=reason)
        return state

    async def list(self) -> list[SandboxState]:
        """All sandboxes of this home, running or not."""
        link = await self._linker.link()
        filters = {"label": f"{HOME_LABEL}={self._home_id}"}
        found = await link.control.ask(
            "cannot list the sandboxes", list[Identified], lambda client: client.containers(all=True, filters=filters)
        )
        states = await asyncio.gather(*(self._state_if_there(link, each.id) for each in found))
        return [state for state in states if state is not None]

    async def changes(self) -> AsyncGenerator[None, None]:
        """Yield whenever something may have changed, at once after subscribing, and twice a minute in any case."""
        link = await self._linker.link()
        async with aclosing(events.changes(link.api, self._home_id)) as changes:
            async for _ in changes:
                yield

    async def signal(self, sandbox: str, signal: Signal) -> None:
        """Send a signal to the main process; does nothing when it does not run."""
        link = await self._linker.link()
        if (await self._own(link, sandbox)).status != "running":
            return
        try:
            await link.control.call(f"cannot send SIG{signal}", lambda client: client.kill(sandbox, f"SIG{signal}"))
        except Refused as refused:
            if refused.status not in (404, 409):  # it ended meanwhile
                raise

    async def remove(self, sandbox: str) -> None:
        """End what still runs and remove the container with its unnamed volumes; does nothing when it is gone.

        Its way out goes first, so that none is left without a sandbox.
        """
        link = await self._linker.link()
        try:
            container = await self._own(link, sandbox)
            if container.has_way_out:
                await self._egress.remove(link, self._name(container.label(SESSION_LABEL)))
            await link.control.call(
                "cannot remove the sandbox", lambda client: client.remove_container(sandbox, force=True, v=True)
            )
        except SandboxGone:
            return
        except Refused as refused:
            if refused.status not in (404, 409):  # gone, or being removed already
                raise

    async def refused(self, session: str, after: int, *, ended: bool) -> Refusals:
        """Read what a sandbox's proxy refused; that of one that has ended is ended first."""
        return await self._egress.refusals(await self._linker.link(), self._name(session), after, ended=ended)

    async def accompanied(self) -> frozenset[str]:
        """The sessions of this home that have a proxy to allowed hosts."""
        return await self._egress.sessions(await self._linker.link())

    async def dismiss(self, session: str) -> None:
        """Remove the proxy to allowed hosts of a session."""
        await self._egress.remove(await self._linker.link(), self._name(session))

    async def follow(self, sandbox: str, spool: SpoolWriter) -> None:
        """Bring all output into the spool until the sandbox has ended and every byte is there."""

        async def look() -> tuple[Api, Container]:
            link = await self._linker.link()
            return link.api, await self._own(link, sandbox)

        await Follower(look, spool).run()

    async def usage(self, sandbox: str) -> AsyncGenerator[Usage, None]:
        """Yield what the sandbox uses about once a second until it ends."""
        link = await self._linker.link()
        if (await self._own(link, sandbox)).status != "running":
            return
        async with aclosing(usage.usage(link.api, sandbox, link.facts.memory)) as samples:
            async for sample in samples:
                yield sample

    async def shell(self, sandbox: str, command: tuple[str, ...], columns: int, rows: int) -> Shell:
        """Open an interactive terminal in a running sandbox; an empty command picks bash, or sh."""
        link = await self._linker.link()
        await self._own(link, sandbox)
        return await open_shell(link.api, link.control, sandbox, command, columns, rows)

    async def close(self) -> None:
        """Free connections; sandboxes go on."""
        await self._linker.close()

    async def _own(self, link: Link, sandbox: str) -> Container:
        """Inspect a container of this home.

        Raises:
            SandboxGone: There is none of this id, or it is another home's.
        """
        if not _ID.fullmatch(sandbox):
            raise _gone(sandbox)
        try:
            container = await link.control.ask(
                "cannot look at the sandbox", Container, lambda client: client.inspect_container(sandbox)
            )
        except Refused as refused:
            if refused.status == 404:
                raise _gone(sandbox) from refused
            raise
        if container.label(HOME_LABEL) != self._home_id:
            raise _gone(sandbox)
        return container

    def _name(self, session: str) -> str:
        return name_of(self._home_id, session)

    async def _state_if_there(self, link: Link, sandbox: str) -> SandboxState | None:
        try:
            return (await self._own(link, sandbox)).sandbox_state()
        except SandboxGone:  # removed since it was listed
            return None


def _gone(sandbox: str) -> SandboxGone:
    return SandboxGone(f"the docker engine does not know the sandbox {sandbox[:12]}")
