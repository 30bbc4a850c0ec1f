"""One look at a home's TOML files: what they say now, and what they said when they were last good.

All of it blocks on the disk and takes a millisecond an agent the first time, so it runs in a thread.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Generic

import msgspec

from services.agents.agent import Agent
from services.agents.aliases import alias_fault
from services.agents.model import AgentConfig, PinfoldConfig
from services.agents.problems import Fault, Problem
from services.agents.reading import LIMIT, ConfigT, located, read_config
from services.agents.references import faults_of_agent, faults_of_settings, faults_of_shared, faults_of_workspace
from services.agents.settings import resolve
from services.errors import PinfoldError
from services.home import MISSING, Home, Stamp, read_file

_NO_PLACES: Mapping[str, str] = MappingProxyType({})

_COARSE_CLOCK_NS = 100_000_000
"""Two changes of a file within one tick of its file system's clock can leave the same stamp."""


class KnownFile(msgspec.Struct, Generic[ConfigT], frozen=True):
    """A TOML file at the last look.

    Attributes:
        settled: Its stamp alone tells whether it changed.
        data: None when it is missing or cannot be read.
        config: What it says, or said when it was last good.
        problems: Why it cannot be used as it is now; with them `config` is from before.
        held_back: What the file says where it is right in itself, but the agent's memory is in another back-end.
    """

    path: Path
    stamp: Stamp
    settled: bool
    data: bytes | None
    config: ConfigT | None
    problems: tuple[Problem, ...]
    held_back: ConfigT | None = None

    @property
    def good(self) -> bool:
        """Whether the file as it is now can be used."""
        return not self.problems

    @property
    def stale(self) -> bool:
        """Whether it cannot, but could before."""
        return bool(self.problems) and self.config is not None


class Look(msgspec.Struct, frozen=True):
    """All TOML files of a home at one moment.

    Attributes:
        shared: What `pinfold.toml` says, or said when it was last good.
        shared_problems: By line.
        agents: By alias, in order.
        doubtful: A file went, or broke, and was taken as it was before; look again shortly.
        places: The back-end that each agent's memory is in, by alias; an agent without memories is not here.
    """

    shared_file: KnownFile[PinfoldConfig] | None = None
    shared: PinfoldConfig = msgspec.field(default_factory=PinfoldConfig)
    shared_problems: tuple[Problem, ...] = ()
    files: Mapping[str, KnownFile[AgentConfig]] = msgspec.field(default_factory=dict)
    agents: Mapping[str, Agent] = msgspec.field(default_factory=dict)
    doubtful: bool = False
    places: Mapping[str, str] = msgspec.field(default_factory=dict)


def look(home: Home, before: Look, *, patient: bool, places: Mapping[str, str] = _NO_PLACES) -> Look:
    """Look at a home again; files that did not change are not read.

    Args:
        home: Where.
        before: The last look.
        patient: Take no change for the worse yet: editors leave a file missing, empty or half written for a moment.
        places: The back-end that each agent's memory is in, by alias.
    """
    shared_file, doubtful = _look_at_shared(home, before.shared_file, patient)
    try:
        names = _agent_names(home)
    except OSError as error:
        unlisted = Problem(f"cannot list the agents: {error.strerror}", home.agents_dir)
        return msgspec.structs.replace(before, shared_problems=(unlisted,), doubtful=False)
    files: dict[str, KnownFile[AgentConfig]] = {}
    for alias, name in names.items():
        known = before.files.get(alias)
        found = _look_at_file(known.path if known else home.agent_file(name), AgentConfig, _as_read(known))
        if patient and not found.good and (known is None or known.good):
            doubtful = True
            if known is None:
                continue
            found = known
        files[alias] = _in_its_place(alias, found, places, known)
    for alias, known in before.files.items():
        if patient and alias not in names:
            doubtful = True
            files[alias] = known
    if shared_file == before.shared_file and files == before.files and not _unlisted(before, home):
        return msgspec.structs.replace(before, shared_file=shared_file, files=files, doubtful=doubtful, places=places)
    return _judge(home, shared_file, dict(sorted(files.items())), doubtful, places)


def look_at_text(home: Home, before: Look, alias: str, data: bytes) -> Agent:
    """What an agent would be if its file held `data`; nothing is written.

    Args:
        home: Where it lies.
        before: All files as they are.
        alias: The agent; need not exist.
        data: The bytes its `agent.toml` would have.
    """
    path = home.agent_file(alias)
    reading = read_config(data, path, AgentConfig)
    read = KnownFile(path, MISSING, False, data, reading.config, reading.problems)
    file = _in_its_place(alias, read, before.places, None)
    siblings = {name: known.config for name, known in before.files.items()} | {alias: file.config}
    shared = before.shared_file.config if before.shared_file else PinfoldConfig()
    return _agent(home, alias, file, siblings, shared)


def _as_read(file: KnownFile[AgentConfig] | None) -> KnownFile[AgentConfig] | None:
    """A file as it was before it was held back."""
    if file is None or file.held_back is None:
        return file
    return msgspec.structs.replace(file, config=file.held_back, problems=(), held_back=None)


def _in_its_place(
    alias: str, file: KnownFile[AgentConfig], places: Mapping[str, str], known: KnownFile[AgentConfig] | None
) -> KnownFile[AgentConfig]:
    """Hold a file back whose agent has memories in another back-end than it names."""
    place = places.get(alias, "")
    if file.config is None or place in ("", file.config.memory.backend):
        return file
    from services.agents.holding_back import held_back, kept_config  # few files need it

    config = kept_config(file.config, place, known.config if known else None)
    if not file.good:
        return msgspec.structs.replace(file, config=config)
    problems = held_back(alias, file.config, place, file.data or b"", file.path)
    return msgspec.structs.replace(file, config=config, problems=problems, held_back=file.config)


def _unlisted(before: Look, home: Home) -> bool:
    return any(problem.file == home.agents_dir for problem in before.shared_problems)


def _look_at_shared(
    home: Home, known: KnownFile[PinfoldConfig] | None, patient: bool
) -> tuple[KnownFile[PinfoldConfig] | None, bool]:
    if (known is None or known.config is None) and not os.path.lexists(home.config_file):
        return None, False  # a home may do without
    found = _look_at_file(home.config_file, PinfoldConfig, known)
    if patient and not found.good and (known is None or known.good):
        return known, True
    return found, False


def _look_at_file(path: Path, kind: type[ConfigT], known: KnownFile[ConfigT] | None) -> KnownFile[ConfigT]:
    if known is not None and known.settled and _stamp(path) == known.stamp:
        return known
    before = known.config if known else None
    try:
        text = read_file(path, LIMIT)
    except FileNotFoundError:
        return KnownFile(path, MISSING, False, None, before, (Problem(f"{path.name} is missing", path),))
    except PinfoldError as error:
        return KnownFile(path, MISSING, False, None, before, (Problem(error.why, path),))
    settled = time.time_ns() - text.stamp.modified_ns > _COARSE_CLOCK_NS
    if known is not None and text.data == known.data:
        return msgspec.structs.replace(known, stamp=text.stamp, settled=settled)
    reading = read_config(text.data, path, kind)
    return KnownFile(path, text.stamp, settled, text.data, reading.config or before, reading.problems)


def _stamp(path: Path) -> Stamp | None:
    try:
        return Stamp.of(path)
    except OSError:
        return None


def _agent_names(home: Home) -> dict[str, str]:
    """The names of directories that are agents, by alias: well named ones, and others that hold an `agent.toml`."""
    found: dict[str, str] = {}
    with contextlib.suppress(FileNotFoundError), os.scandir(home.agents_dir) as entries:
        for entry in entries:
            if entry.name.startswith(".") or not _is_directory(entry):
                continue
            alias = os.fsencode(entry.name).decode("utf-8", errors="replace")
            if not alias_fault(alias) or os.path.lexists(f"{entry.path}/agent.toml"):
                found[alias] = entry.name
    return found


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _judge(
    home: Home,
    shared_file: KnownFile[PinfoldConfig] | None,
    files: Mapping[str, KnownFile[AgentConfig]],
    doubtful: bool,
    places: Mapping[str, str],
) -> Look:
    shared = shared_file.config if shared_file else PinfoldConfig()
    siblings = {alias: file.config for alias, file in files.items()}
    agents = {alias: _agent(home, alias, file, siblings, shared) for alias, file in files.items()}
    return Look(
        shared_file,
        shared or PinfoldConfig(),
        _shared_problems(shared_file),
        MappingProxyType(dict(files)),
        MappingProxyType(agents),
        doubtful,
        places,
    )


def _shared_problems(file: KnownFile[PinfoldConfig] | None) -> tuple[Problem, ...]:
    if file is None:
        return ()
    if file.problems or file.config is None:
        return file.problems
    return located(faults_of_shared(file.config), file.data or b"", file.path)


def _agent(
    home: Home,
    alias: str,
    file: KnownFile[AgentConfig],
    siblings: Mapping[str, AgentConfig | None],
    shared: PinfoldConfig | None,
) -> Agent:
    config = file.config
    fault = alias_fault(alias)
    misnamed = (Problem(fault, file.path, fix="Rename its directory."),) if fault else ()
    if config is None:
        problems = misnamed + file.problems
        return Agent(alias, file.path, None, problems, False, None, None, home.default_workspace(alias), problems[0])
    settings = resolve(config.sandbox, shared.defaults.sandbox if shared else PinfoldConfig().defaults.sandbox)
    workspace, faults = _workspace(alias, config, file.path.parent, home)
    faults += faults_of_agent(alias, config, siblings, shared)
    faults += faults_of_settings(config, settings)
    judged = misnamed + located(faults, file.data if file.data and file.good else b"", file.path)
    return Agent(
        alias=alias,
        file=file.path,
        config=config,
        problems=tuple(sorted(file.problems + judged, key=lambda problem: problem.line)),
        stale=file.stale,
        profile=shared.risk_profiles.get(config.agent.risk_profile) if shared else None,
        settings=settings,
        workspace=workspace,
        obstacle=next((problem for problem in judged if problem.severity == "error"), None),
    )


def _workspace(alias: str, config: AgentConfig, directory: Path, home: Home) -> tuple[Path, list[Fault]]:
    if not config.workspace.path:
        return home.default_workspace(alias), []
    try:
        named = Path(config.workspace.path).expanduser()
    except RuntimeError:
        fault = Fault(("workspace", "path"), "there is no such user's home directory")
        return home.default_workspace(alias), [fault]
    workspace = Path(os.path.abspath(directory / named))  # noqa: PTH100 - resolve() would follow links
    return workspace, list(faults_of_workspace(alias, config, workspace, home))
