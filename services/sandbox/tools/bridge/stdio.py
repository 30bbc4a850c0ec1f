"""Carries MCP between standard input and output and the socket in the working directory; runs in a sandbox."""

from __future__ import annotations

import os
import socket
import sys
import threading
from pathlib import Path

_PIECE = 65536


def _send(server: socket.socket) -> None:
    try:
        while data := os.read(0, _PIECE):
            server.sendall(data)
        server.shutdown(socket.SHUT_WR)
    except OSError:
        return  # the server has gone, which the other direction tells of


def main(token_file: str) -> int:
    """Carry everything both ways until the server ends the connection.

    Args:
        token_file: Holds the session's token.
    """
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.connect("stdio.sock")
            server.sendall(Path(token_file).read_bytes().strip() + b"\n")
        except OSError as error:
            sys.stderr.write(f"tools-stdio: Pinfold's tool server cannot be reached: {error.strerror}\n")
            return 1
        threading.Thread(target=_send, args=(server,), daemon=True).start()
        with os.fdopen(1, "wb", buffering=0) as output:
            while data := server.recv(_PIECE):
                output.write(data)
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1])
    sys.stderr.flush()
    os._exit(code)  # the other thread waits for input
