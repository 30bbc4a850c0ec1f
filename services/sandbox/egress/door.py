"""The way from a sandbox's network to its proxy: one listening socket, opened there and handed over.

A sandbox has a network of its own with nothing in it but the loopback device. The door stands in that network and
listens there; the proxy, which is in another one, is given the socket itself and answers what comes in. No packet
can leave the sandbox's network in any other way, and no address of the machine is listened on.

The door keeps the socket open, so a proxy that is started again gets it again and no connection is turned away.
"""

from __future__ import annotations

import socket
import time
from pathlib import Path

PORT = 3128
"""Where programs in the sandbox find their proxy, on 127.0.0.1."""

_BACKLOG = 128
_TRY_SECONDS = 15.0
_PAUSE = 0.02


def keep_open(handover: Path, port: int = PORT) -> None:
    """Listen on this network's loopback device and hand the socket to whoever asks; never returns.

    Args:
        handover: Where they ask, a unix socket that is made anew; out of the sandbox's sight.
        port: To listen on.

    Raises:
        OSError: The port is taken, or the place of the handover cannot be used.
    """
    handover.unlink(missing_ok=True)
    listening = socket.create_server(("127.0.0.1", port), backlog=_BACKLOG)
    with listening, socket.socket(socket.AF_UNIX) as door:
        door.bind(str(handover))
        door.listen()
        while True:
            asking, _ = door.accept()
            with asking:
                socket.send_fds(asking, [b"!"], [listening.fileno()])


def take_over(handover: Path) -> socket.socket:
    """Get the listening socket, waiting some seconds for the door to be there.

    Raises:
        OSError: It is not.
    """
    deadline = time.monotonic() + _TRY_SECONDS
    while True:
        with socket.socket(socket.AF_UNIX) as asking:
            try:
                asking.connect(str(handover))
                _, descriptors, _, _ = socket.recv_fds(asking, 1, 1)
                if descriptors:
                    return socket.socket(fileno=descriptors[0])
            except (FileNotFoundError, ConnectionError):
                if time.monotonic() > deadline:
                    raise
        time.sleep(_PAUSE)
