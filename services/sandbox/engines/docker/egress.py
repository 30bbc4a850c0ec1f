"""The containers that give a sandbox its way out to allowed hosts, and to nothing else.

| container | its network | what it does |
| --- | --- | --- |
| `<sandbox>-door` | a new one, with the loopback device alone | listens there and hands it on; leads to tools |
| `<sandbox>-proxy` | the engine's bridge | answers what comes in through that socket |
| `<sandbox>` | the door's | what it will |

A sandbox that reaches Pinfold's tools over HTTP has a door even where it needs no proxy; the door of one with an open
network is on the engine's bridge.

They end and go with their sandbox. The engine keeps them going, so no Pinfold needs to be there; what the proxy
refused stands in its log until somebody takes it in. They carry labels of their own, so that nobody takes them for
sandboxes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from services.errors import EngineError
from services.sandbox.egress import (
    HTTP_SOCKET,
    READY,
    Bundle,
    Refusal,
    Runtime,
    encode_rules,
    own_runtime,
    proxy_environment,
    read_refusal,
    usual_runtime,
)
from services.sandbox.engines.docker.commands import Frames, LastBytes
from services.sandbox.engines.docker.container import Identified, WayOut, find_container
from services.sandbox.engines.docker.egress_image import bring_image, remove_other_images
from services.sandbox.engines.docker.failures import Refused, one_line, plain
from services.sandbox.engines.docker.instants import nanoseconds, since
from services.sandbox.engines.docker.link import Link
from services.sandbox.engines.engine import Refusals
from services.sandbox.model import SandboxSpec

if TYPE_CHECKING:
    from docker import APIClient

EGRESS_LABEL = "pinfold.egress"
"""Names the home, as `pinfold.home` does for sandboxes."""

EGRESS_SESSION_LABEL = "pinfold.egress.session"

_HANDOVER = "/dev/shm/door"
"""In the memory that door and proxy share, and the sandbox has no part in."""

_SOCKETS = "/dev/tools"
"""Where a door finds the sockets of the tool server."""

_NOBODY = "65534:65534"
_READY_SECONDS = 20.0
_LOG_FILE = 1024 * 1024
_READ_AT_ONCE = 4 * _LOG_FILE
_STOP_SECONDS = 3
_WORDS = 4 * 1024
_MEMORY = {"door": 48 * 1024 * 1024, "inlet": 48 * 1024 * 1024, "proxy": 192 * 1024 * 1024}
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


class _Labelled(msgspec.Struct, rename="pascal"):
    """One container of a list."""

    labels: dict[str, str] | None = None


class Egress:
    """Makes, starts, reads and removes these containers for one home.

    Args:
        home_id: Only containers with this label are ever touched.
        names: Hosts and their addresses that proxies know beside what the name service says.
    """

    def __init__(self, home_id: str, names: Mapping[str, str]) -> None:
        self._home_id = home_id
        self._names = dict(names)
        self._importing = asyncio.Lock()
        self._bundles: dict[Runtime, Bundle] = {}

    async def make(self, link: Link, spec: SandboxSpec, base: str) -> WayOut:
        """Make what a sandbox needs, a door at least, not running yet; what the session has already is kept.

        Args:
            link: The engine.
            spec: The sandbox to come.
            base: The name of the sandbox's container.

        Raises:
            EngineError: They cannot be made here.
        """
        bundle = self._bundle(link)
        tools = (f"{_SOCKETS}/{HTTP_SOCKET}",) if spec.inlet else ()
        if spec.network != "allowlist":
            what = f"cannot lead {spec.agent} to its tools"
            await self._import(link, bundle, what)
            door = await self._make(link, bundle, spec, f"{base}-door", ("inlet", *tools), what)
            return WayOut(f"container:{door}")
        what = f"cannot keep {spec.agent} to its allowed domains"
        await self._import(link, bundle, what)
        door = await self._make(link, bundle, spec, f"{base}-door", ("door", _HANDOVER, *tools), what)
        rules = encode_rules(spec.allowed_domains)
        await self._make(link, bundle, spec, f"{base}-proxy", ("proxy", _HANDOVER, rules), what)
        return WayOut(f"container:{door}", proxy_environment())

    async def open(self, link: Link, base: str) -> None:
        """Start all there is and wait until it answers; does nothing when it runs.

        Raises:
            EngineError: It does not come up; says what it said.
        """
        what = "cannot start the proxy to the allowed domains"
        last = f"{base}-door"
        for name in (f"{base}-door", f"{base}-proxy"):
            try:
                await link.control.call(what, partial(_start, name=name))
                last = name
            except Refused as refused:
                if refused.status == 404 and name != last:
                    what = "cannot start the way to the tools"
                    continue
                raise EngineError(what, why=plain(refused.reason), fix=_python_needed(link)) from refused
        try:
            async with asyncio.timeout(_READY_SECONDS):
                said = await self._await_ready(link, last, what)
        except TimeoutError:
            said = f"it did not answer within {_READY_SECONDS:.0f} seconds"
        if said:
            raise EngineError(what, why=said, fix=_python_needed(link))

    async def refusals(self, link: Link, base: str, after: int, *, ended: bool) -> Refusals:
        """Read what the proxy refused after a moment.

        Args:
            link: The engine.
            base: The name of the sandbox's container.
            after: Nanoseconds since 1970, the `position` of an earlier call; 0 for all.
            ended: The sandbox has ended; its door and proxy are ended first, so that nothing more is refused.
        """
        what = "cannot read what was refused"
        if ended:
            for name in (f"{base}-proxy", f"{base}-door"):
                await _unless_gone(link, what, partial(_stop, name=name))
        query: dict[str, str | int] = {"stdout": 1, "timestamps": 1, "since": since(after)}
        frames, text = Frames(), LastBytes(_READ_AT_ONCE)
        try:
            with await link.api.open(what, "GET", f"/containers/{base}-proxy/logs", query) as stream:
                while data := await stream.read():
                    text.add(frames.feed(data))
        except Refused as refused:
            if refused.status != 404:
                raise
            return Refusals((), after, complete=True)
        return _read(text.value, after, complete=ended)

    async def sessions(self, link: Link) -> frozenset[str]:
        """The sessions of this home that have such containers."""
        filters = {"label": f"{EGRESS_LABEL}={self._home_id}"}
        found = await link.control.ask(
            "cannot list the proxies", list[_Labelled], lambda client: client.containers(all=True, filters=filters)
        )
        return frozenset((each.labels or {}).get(EGRESS_SESSION_LABEL, "") for each in found) - {""}

    async def remove(self, link: Link, base: str) -> None:
        """End and remove both; does nothing when they are gone, and touches no other home's.

        Images of other versions that nothing else uses go with them.

        Raises:
            EngineError: They could not be removed.
        """
        what = "cannot remove the proxy to the allowed domains"
        images = set()
        for name in (f"{base}-proxy", f"{base}-door"):
            found = await find_container(link.control, name, what)
            if found is not None and found.label(EGRESS_LABEL) == self._home_id:
                await _unless_gone(link, what, partial(_remove, container=found.id))
                images.add(found.config.image)
        if images and images != {(bundle := self._bundle(link)).image}:
            await link.control.call(what, lambda client: remove_other_images(client, bundle))

    def _bundle(self, link: Link) -> Bundle:
        runtime = _runtime(link)
        return self._bundles.setdefault(runtime, Bundle(runtime))

    async def _import(self, link: Link, bundle: Bundle, what: str) -> None:
        async with self._importing:
            try:
                await link.control.call(what, lambda client: client.inspect_image(bundle.image))  # type: ignore[no-untyped-call]
            except Refused as refused:
                if refused.status != 404:
                    raise
                await link.control.call(what, lambda client: bring_image(client, bundle))

    async def _make(
        self, link: Link, bundle: Bundle, spec: SandboxSpec, name: str, arguments: tuple[str, ...], what: str
    ) -> str:
        labels = {EGRESS_LABEL: self._home_id, EGRESS_SESSION_LABEL: spec.session}
        role = arguments[0]
        ipc = f"container:{name.removesuffix('-proxy')}-door" if role == "proxy" else "shareable"
        outside = role == "proxy" or (role == "inlet" and spec.network == "open")
        places = [*((place, place) for place in bundle.runtime.mounts)]
        if spec.inlet and role != "proxy":
            places.append((spec.inlet, _SOCKETS))

        def create(client: APIClient) -> object:
            return client.create_container(
                bundle.image,
                name=name,
                entrypoint=list(bundle.command(*arguments)),
                user=_NOBODY,
                environment=_ENVIRONMENT,
                labels=labels,
                host_config=_host_config(client, role, ipc, places, self._names if role == "proxy" else {}, outside),
                use_config_proxy=False,
            )

        try:
            made = await self._create(link, bundle, create, what)
        except Refused as refused:
            if refused.status != 409:
                raise EngineError(what, why=plain(refused.reason), fix=_python_needed(link)) from refused
        else:
            return made.id
        there = await find_container(link.control, name, what)
        if there is None or any(there.label(label) != value for label, value in labels.items()):
            raise EngineError(what, why=f"a container named {name} exists and is not of this session")
        return there.id

    async def _create(self, link: Link, bundle: Bundle, create: Callable[[APIClient], object], what: str) -> Identified:
        """Make a container; once more where a Pinfold of another version has just removed the image."""
        try:
            return await link.control.ask(what, Identified, create)
        except Refused as refused:
            if refused.status != 404:
                raise
        await self._import(link, bundle, what)
        return await link.control.ask(what, Identified, create)

    async def _await_ready(self, link: Link, proxy: str, what: str) -> str:
        """Read the proxy's words until it is ready; return them if it ends before."""
        query = {"stdout": 1, "stderr": 1, "follow": 1}
        frames, said = Frames(), LastBytes(_WORDS)
        with await link.api.open(what, "GET", f"/containers/{proxy}/logs", query) as stream:
            while data := await stream.read():
                said.add(frames.feed(data))
                if READY.encode() in said.value:
                    return ""
        words = said.value.decode("utf-8", "replace").strip().splitlines()
        return one_line(words[-1]) if words else "it ended at once"


def _runtime(link: Link) -> Runtime:
    """The Python there: this machine's own for an engine behind a socket, else the one most machines have."""
    return own_runtime() if link.api.endpoint.socket is not None else usual_runtime()


def _python_needed(link: Link) -> str:
    return f"The engine's machine needs Python 3.11 or later as {_runtime(link).python}."


async def _unless_gone(link: Link, what: str, method: Callable[[APIClient], None]) -> None:
    try:
        await link.control.call(what, method)
    except Refused as refused:
        if refused.status not in (304, 404, 409):  # ended, gone, or being removed already
            raise


def _start(client: APIClient, name: str) -> None:
    client.start(name)


def _stop(client: APIClient, name: str) -> None:
    client.stop(name, timeout=_STOP_SECONDS)


def _remove(client: APIClient, container: str) -> None:
    client.remove_container(container, force=True, v=True)


def _host_config(
    client: APIClient, role: str, ipc: str, places: list[tuple[str, str]], names: Mapping[str, str], outside: bool
) -> dict[str, Any]:
    """As closed as a sandbox's: no capability, nothing writable but shared memory, nothing of this machine but Python.

    A proxy that fails is started again by the engine; a door never is, since it would open another network.
    """
    from docker.types import LogConfig, Mount

    way_out: dict[str, Any] = {"network_mode": "bridge" if outside else "none"}
    if role == "proxy":
        way_out |= {
            "extra_hosts": dict(names),
            "dns_search": ["."],
            "restart_policy": {"Name": "on-failure"},
        }
    memory = _MEMORY[role]
    return client.create_host_config(
        mounts=[Mount(target, source, type="bind", read_only=True) for source, target in places],
        ipc_mode=ipc,
        shm_size=64 * 1024,
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        read_only=True,
        init=True,
        mem_limit=memory,
        memswap_limit=memory,
        pids_limit=64,
        log_config=LogConfig(type="local", config={"max-size": str(_LOG_FILE), "max-file": "2", "compress": "false"}),
        **way_out,
    )


def _read(text: bytes, after: int, *, complete: bool) -> Refusals:
    found: list[Refusal] = []
    position = after
    for line in text.splitlines():
        stamp, _, words = line.partition(b" ")
        at = nanoseconds(stamp.decode("ascii", "replace"))
        if at is None or at <= after:
            continue
        position = max(position, at)
        refusal = read_refusal(words)
        if refusal is not None:
            found.append(refusal)
    return Refusals(tuple(found), position, complete=complete)
