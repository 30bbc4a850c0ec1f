"""Starts the supervisor's program. Executed as a file, never imported.

Naming the program by its module would load every folder above it, and with them all of Pinfold, into each supervisor.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

_PACKAGE = "pinfold_supervisor"


def _load_alone(folder: Path) -> None:
    spec = importlib.util.spec_from_file_location(
        _PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} is not a package")
    package = importlib.util.module_from_spec(spec)
    sys.modules[_PACKAGE] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    _load_alone(Path(__file__).resolve().parent / "supervisor")
    sys.exit(importlib.import_module(f"{_PACKAGE}.{sys.argv[1]}").main(sys.argv[2:]))
