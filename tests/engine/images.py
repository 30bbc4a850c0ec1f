"""The images that tests leave on an engine: shared by all processes that test on it, removed by the last of them."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from docker import APIClient
from docker.errors import APIError

LABELS = ("pinfold.image=egress", "pinfold.test-image=python", "pinfold.test-image=bridges")
"""The image of busybox stays, with its name: benchmarks use it too, and it takes longest to make."""


@contextmanager
def images_removed_at_last(host: str) -> Iterator[None]:
    """Use images for the length of a block; whoever ends it last removes them."""
    lock = Path(tempfile.gettempdir()) / f"pinfold-test-images-{os.getuid()}.lock"
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        remove_images(host)


def remove_images(host: str) -> None:
    """Remove all that nothing uses."""
    api = APIClient(host, version="auto", timeout=30)
    try:
        for label in LABELS:
            for image in api.images(filters={"label": label}):
                with suppress(APIError):  # a Pinfold that is none of a test's uses it
                    api.remove_image(image["Id"])
    finally:
        api.close()
