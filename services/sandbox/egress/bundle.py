"""What a proxy is made of: an image of a few source files, and this machine's Python mounted into it.

The image is built from nothing, without a registry, and holds no program. Its name follows from its contents, so every
version of Pinfold uses its own.
"""

from __future__ import annotations

import hashlib
import io
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import services

REPOSITORY = "pinfold/egress"

_ROOT = "opt/pinfold"
_PACKAGES = ("services", "services/policy", "services/sandbox", "services/sandbox/egress")
_MODULES = (
    "policy/decision", "policy/domains", "sandbox/egress/bodies", "sandbox/egress/destinations", "sandbox/egress/door",
    "sandbox/egress/heads", "sandbox/egress/inlet", "sandbox/egress/proxy", "sandbox/egress/refusal",
    "sandbox/egress/relay", "sandbox/egress/rules", "sandbox/egress/serve", "sandbox/egress/tally",
    "sandbox/egress/tls",
)  # fmt: skip
"""They need nothing but Python's own library; the packages they lie in are empty in the image."""

_ENTRY = "import sys\n\nfrom services.sandbox.egress.serve import main\n\nmain(sys.argv[1:])\n"
_DIRECTORIES = ("dev", "etc", "proc", "sbin", "sys", "tmp", "usr", "opt", _ROOT)
"""The engine puts its init process into `/sbin`, so that is neither a link nor mounted."""

_SYSTEM = ("bin", "lib", "lib32", "lib64", "libx32")
_STORES = (Path("/nix/store"), Path("/gnu/store"))


@dataclass(frozen=True)
class Runtime:
    """A Python for the proxy.

    Attributes:
        python: The program.
        mounts: Directories of the engine's machine it needs, at the same places inside, read-only.
        links: Names in the root directory that are links, and where they lead.
    """

    python: str
    mounts: tuple[str, ...]
    links: tuple[tuple[str, str], ...]


def own_runtime() -> Runtime:
    """The Python that runs Pinfold, for an engine on this machine."""
    links = [(name, str(Path("/", name).readlink())) for name in _SYSTEM if Path("/", name).is_symlink()]
    mounts = ["/usr", *(f"/{name}" for name in _SYSTEM if _is_own_directory(Path("/", name)))]
    program = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    for needed in (Path(sys.base_prefix), program.resolve()):
        inside = next((store for store in _STORES if needed.is_relative_to(store)), None)
        place = inside or (needed if needed.is_dir() else needed.parent)
        if not any(place.is_relative_to(mounted) for mounted in mounts):
            mounts.append(str(place))
    return Runtime(str(program), tuple(mounts), tuple(links))


def usual_runtime() -> Runtime:
    """The Python of most Linux systems, for an engine on another machine; it may be missing there."""
    return Runtime("/usr/bin/python3", ("/usr",), tuple((name, f"usr/{name}") for name in _SYSTEM))


@dataclass(frozen=True)
class Bundle:
    """An image for one runtime."""

    runtime: Runtime

    @cached_property
    def archive(self) -> bytes:
        """The image's files as a tar archive, the same bytes every time."""
        written = io.BytesIO()
        with tarfile.open(fileobj=written, mode="w") as archive:
            for entry, text in self._entries():
                archive.addfile(entry, io.BytesIO(text))
        return written.getvalue()

    @cached_property
    def tag(self) -> str:
        """The image's tag."""
        return hashlib.sha256(self.archive).hexdigest()[:12]

    @property
    def image(self) -> str:
        """The image's full name."""
        return f"{REPOSITORY}:{self.tag}"

    def command(self, *arguments: str) -> tuple[str, ...]:
        """The command line: isolated, without other packages, writing nothing beside the sources."""
        return (self.runtime.python, "-I", "-S", "-B", f"/{_ROOT}", *arguments)

    def _entries(self) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
        for name in (*_DIRECTORIES, *(f"{_ROOT}/{package}" for package in _PACKAGES)):
            yield _entry(name, tarfile.DIRTYPE, 0o755), b""
        for name, target in self.runtime.links:
            link = _entry(name, tarfile.SYMTYPE, 0o777)
            link.linkname = target
            yield link, b""
        folder = Path(services.__file__).parent
        texts = {f"services/{module}.py": (folder / f"{module}.py").read_bytes() for module in _MODULES}
        texts |= {f"{package}/__init__.py": b"" for package in _PACKAGES} | {"__main__.py": _ENTRY.encode()}
        for name, text in texts.items():
            file = _entry(f"{_ROOT}/{name}", tarfile.REGTYPE, 0o644)
            file.size = len(text)
            yield file, text


def _entry(name: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = kind, mode
    return entry


def _is_own_directory(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()
