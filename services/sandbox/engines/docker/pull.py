"""Fetching an image, layer by layer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec

from services.errors import EngineError, ImageMissing
from services.sandbox.engines.docker.api import Api
from services.sandbox.engines.docker.control import Control
from services.sandbox.engines.docker.failures import Refused, one_line
from services.sandbox.engines.engine import PullProgress

if TYPE_CHECKING:
    from docker import APIClient

_FETCHED = frozenset({"Download complete", "Verifying Checksum", "Extracting"})
_DONE = frozenset({"Pull complete", "Already exists"})
_START_SECONDS = 60.0
"""Before its first word the engine asks the registry, which may be slow."""


class Detail(msgspec.Struct):
    """`progressDetail`; bytes."""

    current: int = 0
    total: int = 0


class PullMessage(msgspec.Struct):
    """One line of the engine's report; `id` names a layer."""

    status: str = ""
    id: str = ""
    progress: Detail | None = msgspec.field(default=None, name="progressDetail")
    error: str = ""


class Layers:
    """How far the layers of one image have come."""

    def __init__(self, image: str) -> None:
        self._image = image
        self._received: dict[str, int] = {}
        self._size: dict[str, int] = {}
        self._done: set[str] = set()

    def take(self, message: PullMessage) -> bool:
        """Take in one line; whether it changed anything."""
        layer = message.id
        if not layer or message.status.startswith("Pulling from"):
            return False
        before = self.progress()
        self._received.setdefault(layer, 0)
        if message.status == "Downloading" and message.progress is not None:
            self._received[layer] = max(0, message.progress.current)
            self._size[layer] = max(self._size.get(layer, 0), message.progress.total)
        elif message.status in _FETCHED | _DONE:
            self._received[layer] = self._size.get(layer, self._received[layer])
        if message.status in _DONE:
            self._done.add(layer)
        return self.progress() != before

    def progress(self) -> PullProgress:
        """Sum up."""
        return PullProgress(
            image=self._image,
            layers=len(self._received),
            done=len(self._done),
            received=sum(self._received.values()),
            size=sum(self._size.values()),
        )


async def pull(api: Api, control: Control, image: str) -> AsyncGenerator[PullProgress, None]:
    """Fetch an image; closing the iterator ends the engine's work on it.

    Raises:
        ImageMissing: The registry does not have it, does not let us, or cannot be reached.
        EngineUnavailable: The engine was lost.
    """
    repository, tag = await control.call(f"cannot pull {image}", lambda _: _parts(image))
    credentials = await control.call(f"cannot pull {image}", lambda client: _credentials(client, repository))
    headers = {"X-Registry-Auth": credentials} if credentials else {}
    query = {"fromImage": repository, "tag": tag}
    layers = Layers(image)
    try:
        stream = await api.open(
            f"cannot pull {image}", "POST", "/images/create", query, headers=headers, seconds=_START_SECONDS
        )
    except Refused as refused:
        raise _missing(image, refused.reason) from refused
    with stream:
        async with aclosing(stream.documents(PullMessage)) as messages:
            async for message in messages:
                if message.error:
                    raise _missing(image, one_line(message.error))
                if layers.take(message):
                    yield layers.progress()


def _parts(image: str) -> tuple[str, str]:
    from docker.utils import parse_repository_tag

    repository, tag = parse_repository_tag(image)
    return repository, tag or "latest"


def _credentials(client: APIClient, repository: str) -> str:
    """Find what `docker login` stored for the image's registry, by way of a credential helper where one is set."""
    from docker import auth

    registry, _ = auth.resolve_repository_name(repository)
    header = auth.get_config_header(client, registry)
    return header.decode("ascii") if isinstance(header, bytes) else str(header or "")


def _missing(image: str, reason: str) -> EngineError:
    return ImageMissing(
        f"the image {image} is not here and cannot be pulled",
        why=reason,
        fix="Check its name and the network, or build it, or load it with `docker load`.",
    )
