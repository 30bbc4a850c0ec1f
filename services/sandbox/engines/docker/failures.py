"""What went wrong with the engine, in words an operator can act on."""

from __future__ import annotations

import errno
import re
import socket
import ssl
from collections.abc import Iterable

from services.errors import EngineError, EngineUnavailable
from services.sandbox.engines.docker.endpoint import Endpoint

_REASON_LIMIT = 500
_LAYERS = re.compile(
    r"(failed to create (shim task|task for container)|OCI runtime (create|exec) failed|runc create failed"
    r"|exec failed|unable to start container process|error during container init): "
)


class Refused(EngineError):
    """The engine answered a request with an error.

    Attributes:
        status: The HTTP status.
        reason: The engine's own words, one line.
    """

    def __init__(self, what: str, status: int, reason: str) -> None:
        self.status = status
        self.reason = one_line(reason) or f"status {status}"
        super().__init__(what, why=self.reason)

    def without(self, secrets: Iterable[str]) -> Refused:
        """Return the same with secrets blotted out that the engine may have quoted."""
        reason = self.reason
        for secret in secrets:
            if secret:
                reason = reason.replace(secret, "***")
        return Refused(self.what, self.status, reason)


def one_line(words: str) -> str:
    """Bring foreign words to one line of bounded length; they stay hostile until shown by `safe`."""
    text = " ".join(words.split())
    return text if len(text) <= _REASON_LIMIT else f"{text[:_REASON_LIMIT]}…"


def plain(reason: str) -> str:
    """Take off what the layers of the engine put around a reason."""
    return _LAYERS.sub("", reason).removesuffix(": unknown")


def unavailable(endpoint: Endpoint, error: BaseException) -> EngineUnavailable:
    """Explain why an engine does not answer."""
    place = f"{endpoint.address} ({endpoint.origin})" if endpoint.origin else endpoint.address
    why, fix = _cause(endpoint, error)
    return EngineUnavailable(f"the docker engine at {place} does not answer", why=why, fix=fix)


def _cause(endpoint: Endpoint, error: BaseException) -> tuple[str, str]:
    start = "Start it, for example with `sudo systemctl start docker`."
    if isinstance(error, TimeoutError):
        return "it takes connections but sends nothing", "Look at its log; restart it if it hangs."
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}", "Check ca.pem in the certificates' folder."
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason or error}", "Check the certificates, and that the port speaks TLS."
    if isinstance(error, socket.gaierror):
        return f"the host {endpoint.host} is not known", "Check the name."
    if isinstance(error, FileNotFoundError):
        return f"there is no socket {endpoint.socket}", start
    if isinstance(error, PermissionError):
        return "you may not use its socket", "Join the group that owns it, for example `sudo usermod -aG docker $USER`."
    if isinstance(error, ConnectionRefusedError):
        return "nobody listens there", start
    if isinstance(error, OSError) and error.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH):
        return "the host cannot be reached", "Check the network."
    return one_line(str(error)) or type(error).__name__, start if isinstance(error, ConnectionError) else ""
