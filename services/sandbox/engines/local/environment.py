"""The variables a sandbox's commands get: nothing of Pinfold's own environment but the way to programs.

| variable | unconfined | confined |
| --- | --- | --- |
| PATH | Pinfold's own | those folders of it that exist inside |
| HOME | a directory of the session, removed with the sandbox | /home/agent, the same directory |
| LANG | C.UTF-8 | C.UTF-8 |
| TERM | only in a shell: that of the operator's terminal | the same |

The spec's variables and the secrets come on top and may replace any of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from services.sandbox.engines.local.bubblewrap import HOME, shows
from services.sandbox.model import SandboxSpec

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def clean_environment(
    spec: SandboxSpec, secrets: Mapping[str, str], env: Mapping[str, str], *, home: Path, confined: bool
) -> dict[str, str]:
    """Put together all variables of a command.

    Args:
        spec: The sandbox.
        secrets: Values by name.
        env: Pinfold's own environment.
        home: The session's own home directory.
        confined: Whether bubblewrap is around the command.
    """
    return {
        "PATH": _program_path(spec, env.get("PATH", _PATH), confined=confined),
        "HOME": HOME if confined else str(home),
        "LANG": "C.UTF-8",
        **spec.environment,
        **secrets,
    }


def _program_path(spec: SandboxSpec, own: str, *, confined: bool) -> str:
    folders = [folder for folder in own.split(":") if folder.startswith("/")]
    if confined:
        folders = [folder for folder in folders if shows(spec, folder)]
    return ":".join(folders) or _PATH
