"""The docker SDK's client as Pinfold needs it: no socket is left open that could not be connected.

Imports the SDK, which takes an eighth of a second; so only `control` imports this, in a thread.
"""

from __future__ import annotations

import socket
from typing import Any

import docker
from docker.tls import TLSConfig
from docker.transport import UnixHTTPAdapter
from docker.transport.unixconn import UnixHTTPConnection, UnixHTTPConnectionPool

from services.sandbox.engines.docker.endpoint import Endpoint


def open_client(endpoint: Endpoint, version: str, seconds: float) -> docker.APIClient:
    """Make a client; connects to nothing.

    Args:
        endpoint: Where the engine answers.
        version: Of the API.
        seconds: How long an answer is waited for.
    """
    tls: TLSConfig | bool = False
    if endpoint.tls is not None:
        files = endpoint.tls
        pair = (str(files.cert), str(files.key)) if files.cert.exists() else None
        ca = str(files.ca) if files.ca.exists() else None
        tls = TLSConfig(client_cert=pair, ca_cert=ca, verify=files.verify)
    address = f"unix://{endpoint.socket}" if endpoint.socket is not None else f"tcp://{endpoint.host}:{endpoint.port}"
    client = docker.APIClient(address, version=version, timeout=int(seconds), tls=tls)
    client.trust_env = False  # neither a proxy nor another bundle of certificates comes between
    if endpoint.socket is not None:
        client.mount("http+docker://", _Adapter(f"http+unix://{endpoint.socket}", int(seconds)))
    return client


class _Connection(UnixHTTPConnection):
    """Closes its socket when nobody listens; the SDK leaves that to the garbage collector."""

    def connect(self) -> None:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(self.timeout)
            sock.connect(self.unix_socket)
        except OSError:
            sock.close()
            raise
        self.sock = sock


class _Pool(UnixHTTPConnectionPool):
    timeout: Any  # the base class of both says something else

    def _new_conn(self) -> _Connection:  # type: ignore[override]  # the stubs know no connection of a pool but theirs
        return _Connection(self.base_url, self.socket_path, self.timeout)


class _Adapter(UnixHTTPAdapter):
    def get_connection(self, url: str | bytes, proxies: object = None) -> _Pool:
        with self.pools.lock:
            pool = self.pools.get(url)
            if pool is None:
                pool = self.pools[url] = _Pool(str(url), self.socket_path, self.timeout, maxsize=self.max_pool_size)
        return pool
