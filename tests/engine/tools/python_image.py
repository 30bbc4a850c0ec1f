"""An image for Python without Python in it: links to where a test's agent has this machine's mounted, read-only.

The agent reads the workspaces of siblings; those siblings' workspaces are the system's libraries, the interpreter and
its packages.
"""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path

import mcp
from docker import APIClient

from services.home import Home
from services.policy import SIBLINGS
from services.sandbox.egress import saved_image

IMAGE = "pinfold/python:test"

_DIRECTORIES = ("dev", "etc", "proc", "sbin", "sys", "tmp", "workspace", "siblings", "home/agent")
_PREFIX = Path(sys.base_prefix)
_IN_USR = _PREFIX.is_relative_to("/usr")
PYTHON = f"{_PREFIX}/bin/python3"
SIBLING_PATHS = {"system": Path("/usr"), "packages": Path(mcp.__file__).parent.parent} | (
    {} if _IN_USR else {"interpreter": _PREFIX}
)


def build_python_image(api: APIClient) -> str:
    """Load the image, which is the same every time."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name in _DIRECTORIES:
            directory = tarfile.TarInfo(name)
            directory.type, directory.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(directory)
        links = {"usr": f"{SIBLINGS}/system", **{name: f"usr/{name}" for name in ("bin", "lib", "lib64")}}
        if not _IN_USR:  # at its own path, where it looks for its libraries
            links[str(_PREFIX).lstrip("/")] = f"{SIBLINGS}/interpreter"
        for name, target in links.items():
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            archive.addfile(link)
    labels = {"pinfold.test-image": "python"}
    for _ in api.load_image(saved_image(written.getvalue(), IMAGE, api.version()["Arch"], labels)):
        continue
    api.inspect_image(IMAGE)
    return IMAGE


def write_siblings(home: Home, profile: str) -> str:
    """Make the siblings, and return the section of the agent that reads them."""
    for alias, place in SIBLING_PATHS.items():
        home.agent_dir(alias).mkdir(parents=True)
        home.agent_file(alias).write_text(
            f'[agent]\nrisk_profile = "{profile}"\n[workspace]\npath = "{place}"\n', encoding="utf-8"
        )
    grants = "\n".join(f'{alias} = "read"' for alias in SIBLING_PATHS)
    return f"[workspace.access]\n{grants}\n"


ENVIRONMENT = {
    "PATH": f"{Path(PYTHON).parent}:/usr/bin:/bin",
    "PYTHONPATH": f"{SIBLINGS}/packages",
    "PYTHONDONTWRITEBYTECODE": "1",
}
