"""Packs a workspace as nobody and prints what was omitted: `python -m … WORKSPACE OUT`.

Root reads every file, so what an unreadable one does is seen only by somebody else.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from services.archives.working import Gauge
from services.archives.writing.workspace import pack

NOBODY = 65534


def main(workspace: Path, out: Path) -> None:
    """Pack, and tell."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    packed = pack(out, "workspace.tar.gz", workspace, Gauge())
    sys.stdout.write(json.dumps([[one.name, one.reason.name] for one in packed.omitted]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
