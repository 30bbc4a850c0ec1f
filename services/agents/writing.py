"""Writing `agent.toml`: a new one, a draft, or one key of one that people edit; all of it blocks on the disk."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from services.agents.editing import Change, with_change
from services.agents.model import AgentConfig
from services.agents.reading import LIMIT, read_config, usable_data
from services.errors import ConfigError, FileConflict, PinfoldError
from services.home import MISSING, FileText, Home, make_directory, read_file, write_whole

SCHEMA_LINE = "#:schema ../../state/schema/agent.json\n"
"""Tells editors where the JSON Schema of an `agent.toml` lies."""

_USUAL_PROFILE = "hardened"
_LOCK_SECONDS = 3.0


def chosen_profile(name: str, profiles: Collection[str], file: Path) -> str:
    """The risk profile of a new agent: the one named, else the usual one, else the only one there is.

    Args:
        name: May be empty.
        profiles: Those there are.
        file: Where they are written.

    Raises:
        ConfigError: There is no such profile, or none can be chosen.
    """
    if not name:
        choices = [_USUAL_PROFILE] if _USUAL_PROFILE in profiles else list(profiles)
        if len(choices) == 1:
            return choices[0]
    if name in profiles:
        return name
    known = f"There are: {', '.join(profiles)}." if profiles else "Make some with `pinfold init`."
    what = f'there is no risk profile "{name}"' if name else "an agent needs a risk profile"
    raise ConfigError(what, file=file, key="risk_profiles", fix=known)


def write_new_agent(home: Home, alias: str, table: dict[str, Any]) -> None:
    """Make an agent's directory with its `agent.toml` and workspace, or nothing at all.

    Args:
        home: Where.
        alias: A valid one.
        table: What the file is to say.

    Raises:
        ConfigError: There is such an agent already, or `table` is no `AgentConfig`.
        PinfoldError: It cannot be written.
    """
    data = _composed(home, alias, table)
    with _changing(home, alias):
        directory = home.agent_dir(alias)
        if (directory / "agent.toml").exists():
            raise ConfigError(f"there is an agent {alias} already", file=home.agent_file(alias))
        if directory.exists():  # left behind with a workspace, say
            write_whole(home.agent_file(alias), data, expected=MISSING)
            make_directory(home.default_workspace(alias))
        else:
            _write_directory(home, alias, data)


def replace_agent_file(home: Home, alias: str, base: bytes, data: bytes) -> None:
    """Write an agent's file if it still is what it was.

    Args:
        home: Where.
        alias: The agent.
        base: What the file must hold; empty: it must be missing.
        data: What it is to hold.

    Raises:
        ConfigError: `data` is not usable.
        FileConflict: The file holds something else by now.
        LockHeld: Another Pinfold is changing it.
        PinfoldError: It cannot be read or written.
    """
    file = home.agent_file(alias)
    for problem in read_config(data, file, AgentConfig).problems:
        raise problem.as_error()
    with _changing(home, alias):
        if _held(file) != base:  # before anything is put beside what may be a link to anywhere
            raise FileConflict(
                f"{file} was not written",
                why="it changed on disk since it was read",
                fix="Look at both versions and choose.",
            )
        write_whole(file, data, expected=FileText(file, base, MISSING) if base else MISSING)


def set_agent_key(home: Home, alias: str, change: Change) -> None:
    """Set one key of an agent's file and keep everything else in it.

    Raises:
        ConfigError: The file is not usable as it is, or would not be with the change, or there is none.
        FileConflict: It was changed by somebody else in the same moment.
        LockHeld: Another Pinfold is changing it.
        PinfoldError: It cannot be read or written.
    """
    file = home.agent_file(alias)
    with _changing(home, alias):
        before = usable_data(file)
        if not before:
            raise ConfigError("agent.toml is missing", file=file)
        data = with_change(before, change, file)
        for problem in read_config(data, file, AgentConfig).problems:
            raise problem.as_error()
        if data != before:
            write_whole(file, data, expected=FileText(file, before, MISSING))


def _held(file: Path) -> bytes | None:
    """What a file holds; empty when it is missing, None when that cannot be told."""
    try:
        return read_file(file, LIMIT).data
    except FileNotFoundError:
        return b""
    except PinfoldError:
        return None


@contextmanager
def _changing(home: Home, alias: str) -> Iterator[None]:
    lock = home.agent_lock(alias)
    lock.acquire(_LOCK_SECONDS)
    try:
        yield
    finally:
        lock.release()


def _composed(home: Home, alias: str, table: dict[str, Any]) -> bytes:
    from tomlkit import dumps

    try:
        data = (SCHEMA_LINE + dumps(table)).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ConfigError("a value is not text", fix="Write it in UTF-8.") from error
    reading = read_config(data, home.agent_file(alias), AgentConfig)
    for problem in reading.problems:
        raise ConfigError(problem.message, key=problem.key, fix=problem.fix)
    if reading.config != msgspec.convert(table, AgentConfig):
        raise ConfigError("cannot be written as TOML", file=home.agent_file(alias))
    return data


def _write_directory(home: Home, alias: str, data: bytes) -> None:
    """Fill a directory beside the place and move it there, so that nobody sees half an agent."""
    directory = home.agent_dir(alias)
    fresh = directory.with_name(f".{alias}-{secrets.token_hex(4)}.new")
    try:
        make_directory(fresh / "workspace")
        write_whole(fresh / "agent.toml", data, expected=MISSING)
        fresh.rename(directory)
    except OSError as error:
        raise PinfoldError(f"cannot make {directory}", why=error.strerror or str(error)) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
