"""What a sandbox's main process is."""

from __future__ import annotations

import msgspec


class Program(msgspec.Struct, frozen=True):
    """The main process of a sandbox.

    Attributes:
        command: argv; empty: the image's own.
        environment: Variables the runner adds.
    """

    command: tuple[str, ...]
    environment: dict[str, str]
