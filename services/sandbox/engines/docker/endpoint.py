"""Where the engine answers: DOCKER_HOST, a docker context, or a socket in one of the usual places."""

from __future__ import annotations

import hashlib
import os
import ssl
import stat
import urllib.parse
from collections.abc import Mapping
from pathlib import Path

import msgspec

from services.errors import EngineError

_CONFIG_LIMIT = 1024 * 1024
_DEFAULT_SOCKET = Path("/var/run/docker.sock")
_DEFAULT_CONTEXT = "default"


class TlsFiles(msgspec.Struct, frozen=True):
    """The certificates of a tcp endpoint; a file that does not exist is not used.

    Attributes:
        verify: Whether the engine's own certificate is checked against `ca`.
    """

    ca: Path
    cert: Path
    key: Path
    verify: bool

    def context(self) -> ssl.SSLContext:
        """Read the files.

        Raises:
            EngineError: A file cannot be read or is no certificate.
        """
        context = ssl.create_default_context()
        try:
            if self.ca.exists():
                context.load_verify_locations(self.ca)
            if not self.verify:
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            if self.cert.exists():
                context.load_cert_chain(self.cert, self.key)
        except OSError as error:  # ssl.SSLError is one
            raise EngineError(
                "cannot use the engine's certificates",
                why=f"{self.ca.parent}: {error.strerror or error}",
                fix="Check ca.pem, cert.pem and key.pem there.",
            ) from error
        return context


class Endpoint(msgspec.Struct, frozen=True):
    """An engine's address.

    Attributes:
        address: As people write it, `unix:///var/run/docker.sock` or `tcp://host:2376`.
        origin: What named it: `DOCKER_HOST`, `docker context desktop`, or "" for a usual place.
        socket: The unix socket; None for tcp.
        host, port: Where tcp connects to.
        tls: None for plain tcp and for sockets.
    """

    address: str
    origin: str = ""
    socket: Path | None = None
    host: str = ""
    port: int = 0
    tls: TlsFiles | None = None


class _ContextEndpoint(msgspec.Struct, rename="pascal"):
    host: str = ""
    skip_tls_verify: bool = msgspec.field(default=False, name="SkipTLSVerify")


class _ContextMeta(msgspec.Struct):
    name: str = msgspec.field(default="", name="Name")
    endpoints: dict[str, _ContextEndpoint] = msgspec.field(default_factory=dict, name="Endpoints")


class _CliConfig(msgspec.Struct):
    current_context: str = msgspec.field(default="", name="currentContext")


def find_endpoint(env: Mapping[str, str]) -> Endpoint:
    """Choose the endpoint as Docker's own command does; reads small files, so call it in a thread.

    DOCKER_HOST wins, then DOCKER_CONTEXT, then the current context, then the first usual socket that exists: the
    system's, a rootless engine's, Docker Desktop's.

    Raises:
        EngineError: The address or the context cannot be used; says which and why.
    """
    config = Path(env.get("DOCKER_CONFIG") or _home(env) / ".docker")
    if host := env.get("DOCKER_HOST", "").strip():
        return parse_address(host, "DOCKER_HOST", _tls_from_environment(env, config))
    if context := env.get("DOCKER_CONTEXT", ""):
        origin = "DOCKER_CONTEXT"
    else:
        context = _current_context(config / "config.json")
        origin = f"docker context {context}"
    if context not in ("", _DEFAULT_CONTEXT):
        return _context_endpoint(context, origin, config)
    for socket in _usual_sockets(env):
        if _is_socket(socket):
            return Endpoint(f"unix://{socket}", socket=socket)
    return Endpoint(f"unix://{_DEFAULT_SOCKET}", socket=_DEFAULT_SOCKET)


def parse_address(address: str, origin: str, tls: TlsFiles | None = None) -> Endpoint:
    """Read an address as DOCKER_HOST holds it.

    Raises:
        EngineError: It is malformed, or of a kind that Pinfold cannot use.
    """
    kind, separator, rest = address.partition("://")
    if not separator:
        kind, rest = "tcp", address
    if kind == "unix":
        return Endpoint(address, origin, socket=Path(rest) if rest else _DEFAULT_SOCKET)
    if kind in ("tcp", "http", "https"):
        host, port = _host_and_port(rest, address, origin)
        if kind == "https" and tls is None:
            tls = TlsFiles(Path("ca.pem"), Path("cert.pem"), Path("key.pem"), verify=True)
        return Endpoint(f"tcp://{rest}", origin, host=host, port=port, tls=tls)
    if kind == "ssh":
        raise EngineError(
            f"cannot use {address} ({origin})",
            why="Pinfold does not speak to engines over ssh:// yet",
            fix=f"Run `ssh -N -L /tmp/engine.sock:/var/run/docker.sock {rest}` "
            "and set DOCKER_HOST=unix:///tmp/engine.sock.",
        )
    raise EngineError(
        f"cannot use {address} ({origin})", why=f"{kind}:// is not supported", fix="Use unix:// or tcp://."
    )


def _host_and_port(rest: str, address: str, origin: str) -> tuple[str, int]:
    try:
        parts = urllib.parse.urlsplit(f"//{rest}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not port:
        raise EngineError(f"cannot use {address} ({origin})", why="it has no host and port", fix="Use tcp://HOST:PORT.")
    return host, port


def _tls_from_environment(env: Mapping[str, str], config: Path) -> TlsFiles | None:
    verify = env.get("DOCKER_TLS_VERIFY", "") != ""
    folder = env.get("DOCKER_CERT_PATH", "")
    if not (verify or folder or env.get("DOCKER_TLS", "")):
        return None
    return _tls_in(Path(folder) if folder else config, verify=verify)


def _tls_in(folder: Path, *, verify: bool) -> TlsFiles:
    return TlsFiles(folder / "ca.pem", folder / "cert.pem", folder / "key.pem", verify)


def _current_context(file: Path) -> str:
    try:
        return msgspec.json.decode(_read(file), type=_CliConfig).current_context
    except FileNotFoundError:
        return ""
    except (OSError, msgspec.DecodeError) as error:
        raise EngineError(f"cannot tell the docker context: {file} cannot be read", why=str(error)) from error


def _context_endpoint(context: str, origin: str, config: Path) -> Endpoint:
    digest = hashlib.sha256(context.encode("utf-8", "surrogateescape")).hexdigest()
    file = config / "contexts" / "meta" / digest / "meta.json"
    try:
        meta = msgspec.json.decode(_read(file), type=_ContextMeta)
    except FileNotFoundError as error:
        raise EngineError(
            f"there is no docker context {context!r} ({origin})",
            fix="`docker context ls` shows which there are; `docker context use default` goes back.",
        ) from error
    except (OSError, msgspec.DecodeError) as error:
        raise EngineError(
            f"cannot use the docker context {context!r}: {file} cannot be read", why=str(error)
        ) from error
    found = meta.endpoints.get("docker")
    if found is None or not found.host:
        raise EngineError(f"cannot use the docker context {context!r}", why="it names no engine")
    certificates = config / "contexts" / "tls" / digest / "docker"
    tls = _tls_in(certificates, verify=not found.skip_tls_verify) if certificates.is_dir() else None
    return parse_address(found.host, origin, tls)


def _usual_sockets(env: Mapping[str, str]) -> list[Path]:
    home = _home(env)
    runtime = env.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    return [
        _DEFAULT_SOCKET,
        Path(runtime) / "docker.sock",
        home / ".docker" / "run" / "docker.sock",
        home / ".docker" / "desktop" / "docker.sock",
    ]


def _home(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or Path.home())


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.stat().st_mode)
    except OSError:
        return False


def _read(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(_CONFIG_LIMIT)
