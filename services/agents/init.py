"""A home's first files: a commented `pinfold.toml` and an agent, or a whole demo."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import msgspec

from services.agents.model import PinfoldConfig
from services.agents.reading import LIMIT, read_config
from services.agents.schema import write_schemas
from services.errors import ConfigError, FileConflict
from services.home import MISSING, BlockingCalls, Home, make_directory, read_file, write_whole

_DEMO_PROFILE = "demo"
_HERE = Path()


class InitResult(msgspec.Struct, frozen=True):
    """What became of a home's first files.

    Attributes:
        created: Files and directories that were missing, and schemas of another version.
        kept: Files that were there already and stay as they are.
    """

    created: tuple[Path, ...]
    kept: tuple[Path, ...]


async def init_home(home: Home, *, demo: bool = False, calls: BlockingCalls) -> InitResult:
    """Make a home, or complete one; what is there already is never changed, so it may be run again.

    Agents are made only together with `pinfold.toml`: those an operator deleted do not come back.

    Args:
        home: Where.
        demo: Fill it with agents worth looking at instead of one example; they run without Docker.
        calls: Writes off the event loop.

    Raises:
        ConfigError: A demo was asked for in a home that is in use for something else.
        PinfoldError: Something cannot be written.
    """
    return await calls.run(_init, home, demo)


def _init(home: Home, demo: bool) -> InitResult:
    if demo:
        _refuse_used_home(home)
    directories = (home.root, home.agents_dir, home.archives_dir, home.state_dir, home.themes_dir)
    created = [directory for directory in directories if make_directory(directory)]
    created += write_schemas(home)
    kept: list[Path] = []
    fresh = not home.config_file.exists()
    for template, path in _files(resources.files(__package__) / "homes" / ("demo" if demo else "starter")):
        file = home.root / path
        if not fresh and file != home.config_file:
            continue
        make_directory(file.parent)
        try:
            write_whole(file, template.read_bytes(), expected=MISSING)
            created.append(file)
        except FileConflict:
            kept.append(file)
    return InitResult(tuple(created), tuple(kept))


def _refuse_used_home(home: Home) -> None:
    try:
        data = read_file(home.config_file, LIMIT).data
    except FileNotFoundError:
        return
    config = read_config(data, home.config_file, PinfoldConfig).config
    if config is None or _DEMO_PROFILE not in config.risk_profiles:
        raise ConfigError(
            "this home is in use, and the demo needs one of its own", file=home.config_file, fix="Name another --home."
        )


def _files(directory: Traversable, path: Path = _HERE) -> Iterator[tuple[Traversable, Path]]:
    """The shipped files of a home, each with its place in it; `pinfold.toml` last, so that it says all is there."""
    for entry in sorted(directory.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(entry, path / entry.name)
        else:
            yield entry, path / entry.name
