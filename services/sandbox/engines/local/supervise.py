"""Starts the supervisor's program. Executed as a file, never imported.

A machine may run hundreds of supervisors, so each loads only what it uses: naming its program by its module would load
every folder above, and with them all of Pinfold; two folders it needs a part of are entered past their `__init__`.
"""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

_PACKAGE = "pinfold_supervisor"
_PARTS = {
    "services.home": {"FileLock": "locks"},
    "services.output": {"Chunk": "model", "SpoolWriter": "spool.writer", "Stream": "model"},
}
"""Names the supervisor uses, and the module of each; any other name loads its whole folder."""


class _Entered(ModuleType):
    """A folder whose `__init__` has not run yet."""

    def __getattr__(self, name: str) -> object:
        part = _PARTS[self.__name__].get(name)
        if part is not None:
            return getattr(importlib.import_module(f"{self.__name__}.{part}"), name)
        if self.__spec__ is None or self.__spec__.loader is None or name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        self.__class__ = ModuleType  # type: ignore[assignment]  # from now on a folder like any other
        self.__spec__.loader.exec_module(self)
        return getattr(self, name)


def _enter(name: str) -> None:
    spec = find_spec(name)
    if spec is None:
        raise ImportError(f"there is no {name}")
    module = module_from_spec(spec)
    module.__class__ = _Entered
    sys.modules[name] = module


def _load_alone(folder: Path) -> None:
    spec = spec_from_file_location(_PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} is not a package")
    module = module_from_spec(spec)
    sys.modules[_PACKAGE] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    for name in _PARTS:
        _enter(name)
    _load_alone(Path(__file__).resolve().parent / "supervisor")
    sys.exit(importlib.import_module(f"{_PACKAGE}.{sys.argv[1]}").main(sys.argv[2:]))
