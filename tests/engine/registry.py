"""A registry of one image, to pull from without any network."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
CONFIG = "application/vnd.docker.container.image.v1+json"
LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"
BLOB = "application/octet-stream"
PIECE = 64 * 1024


class Registry:
    """Serves `image` from a port of this machine, which an engine here trusts without TLS.

    Args:
        layers: The content of one file for each layer.
        user, password: Asked for when set.

    Attributes:
        pause: Cleared: no layer flows.
        abandoned: The engine closed a connection before it had a layer.
    """

    def __init__(self, layers: list[bytes], user: str = "", password: str = "") -> None:
        self.blobs: dict[str, bytes] = {}
        self.pause = threading.Event()
        self.pause.set()
        self.abandoned = threading.Event()
        self.requests: list[str] = []
        self._credentials = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode() if user else ""
        self._manifest = self._pack(layers)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def image(self) -> str:
        return f"127.0.0.1:{self._server.server_port}/some/image:1"

    def close(self) -> None:
        self.pause.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _pack(self, layers: list[bytes]) -> bytes:
        packed, plain = [], []
        for number, content in enumerate(layers):
            tar = io.BytesIO()
            with tarfile.open(fileobj=tar, mode="w") as archive:
                entry = tarfile.TarInfo(f"layer-{number}")
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
            plain.append(digest(tar.getvalue()))
            packed.append(self._keep(gzip.compress(tar.getvalue(), 1, mtime=0)))
        config = self._keep(
            json.dumps(
                {"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": plain}}
            ).encode()
        )
        return json.dumps(
            {
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "config": {"mediaType": CONFIG, "size": len(self.blobs[config]), "digest": config},
                "layers": [{"mediaType": LAYER, "size": len(self.blobs[layer]), "digest": layer} for layer in packed],
            }
        ).encode()

    def _keep(self, blob: bytes) -> str:
        self.blobs[digest(blob)] = blob
        return digest(blob)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        registry = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self.do_GET()

            def do_GET(self) -> None:
                registry.requests.append(self.path)
                if registry._credentials and self.headers.get("Authorization") != registry._credentials:
                    self._answer(401, b"{}", "application/json")
                elif self.path == "/v2/":
                    self._answer(200, b"{}", "application/json")
                elif self.path.startswith("/v2/some/image/manifests/"):
                    self._answer(200, registry._manifest, MANIFEST)
                elif (blob := registry.blobs.get(self.path.rpartition("/")[2])) is not None:
                    self._answer(200, blob, BLOB)
                else:
                    error = {"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]}
                    self._answer(404, json.dumps(error).encode(), "application/json")

            def _answer(self, status: int, body: bytes, kind: str) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Docker-Content-Digest", digest(body))
                self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
                if status == 401:
                    self.send_header("WWW-Authenticate", 'Basic realm="tests"')
                self.end_headers()
                if self.command == "HEAD":
                    return
                for start in range(0, len(body), PIECE):
                    if kind == BLOB:
                        registry.pause.wait(60)
                    try:
                        self.wfile.write(body[start : start + PIECE])
                    except OSError:
                        registry.abandoned.set()
                        return

            def log_message(self, format: str, *args: object) -> None:
                return

        return Handler


def digest(blob: bytes) -> str:
    return f"sha256:{hashlib.sha256(blob).hexdigest()}"
