"""The agents of a home: listed, looked up, created, switched on and off, and watched."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from services.activity import ActivityLog, AgentsChanged, Events
from services.agents.agent import Agent
from services.agents.aliases import alias_fault, nearest
from services.agents.looking import Look, look, look_at_text
from services.agents.model import PinfoldConfig
from services.agents.places import Places
from services.agents.positions import key_finder, line_finder
from services.agents.problems import KeyPath, Problem
from services.agents.reading import LIMIT
from services.agents.watching import reasons_to_look
from services.errors import AgentNotFound, ConfigError, DatabaseError
from services.home import BlockingCalls, Home, read_file

if TYPE_CHECKING:
    from services.agents.drafts import Disagreement, Draft
    from services.agents.editing import Change

_SETTLING_SECONDS = 0.25

_log = logging.getLogger(__name__)


class Agents:
    """Reads `pinfold.toml` and every `agent.toml` of a home, and writes the latter.

    Args:
        home: Where they lie; need not exist.
        events: Told of every change, whoever made it.
        calls: Reads and parses off the event loop.
        activity: Records what is created, enabled and disabled; None records nothing.
        places: Says which back-end each agent's memory is in, which its file then cannot change; None knows of none.
    """

    def __init__(
        self,
        home: Home,
        events: Events,
        calls: BlockingCalls,
        activity: ActivityLog | None = None,
        places: Places | None = None,
    ) -> None:
        self._home = home
        self._events = events
        self._calls = calls
        self._activity = activity
        self._places = places
        self._seen = Look()
        self._looking = asyncio.Lock()

    async def load(self) -> None:
        """Read all files, or again those that changed; wrong files become problems, not errors."""
        await self._look(patient=False)

    def all(self) -> tuple[Agent, ...]:
        """Every agent, by alias, usable or not."""
        return tuple(self._seen.agents.values())

    @property
    def by_alias(self) -> Mapping[str, Agent]:
        """Every agent by its alias."""
        return self._seen.agents

    def get(self, alias: str) -> Agent:
        """Find one agent.

        Raises:
            AgentNotFound: There is none; names the nearest alias.
        """
        try:
            return self._seen.agents[alias]
        except KeyError:
            near = nearest(alias, self._seen.agents)
            fix = f'Did you mean "{near}"?' if near else "List them with `pinfold agents list`."
            raise AgentNotFound(f'there is no agent "{alias}"', fix=fix) from None

    @property
    def shared(self) -> PinfoldConfig:
        """What `pinfold.toml` says, or said when it was last good; all defaults without one."""
        return self._seen.shared

    @property
    def shared_problems(self) -> tuple[Problem, ...]:
        """What is wrong with `pinfold.toml` as it is now, or with the directory of agents."""
        return self._seen.shared_problems

    def lines(self, alias: str) -> Callable[[KeyPath], int]:
        """Make a look-up of lines in an `agent.toml` as it is now; it answers 0 when the file is not usable."""
        file = self._seen.files.get(alias)
        return line_finder(file.data if file and file.good and file.data else b"")

    def shared_lines(self) -> Callable[[KeyPath], int]:
        """Make a look-up of lines in `pinfold.toml` as it is now; it answers 0 when the file is not usable."""
        file = self._seen.shared_file
        return line_finder(file.data if file and file.good and file.data else b"")

    def shared_keys(self) -> Callable[[KeyPath], bool]:
        """Make a look-up of whether a key is written in `pinfold.toml`; it answers true when the file is not usable."""
        file = self._seen.shared_file
        return key_finder(file.data) if file and file.good and file.data else lambda _: True

    def as_if(self, alias: str, data: bytes) -> Agent:
        """What an agent would be if its file held `data`; nothing is written.

        Args:
            alias: The agent; need not exist.
            data: The bytes its `agent.toml` would have.
        """
        return look_at_text(self._home, self._seen, alias, data)

    async def source(self, alias: str) -> str:
        """Read the text of an `agent.toml` as it is now, to be shown; "" when it is not there.

        Raises:
            AgentNotFound: There is no such agent.
            PinfoldError: It cannot be read.
        """
        file = self.get(alias).file
        try:
            text = await self._calls.run(read_file, file, LIMIT)
        except FileNotFoundError:
            return ""
        return text.data.decode("utf-8", errors="replace").removeprefix("\ufeff")

    async def create(
        self,
        alias: str,
        *,
        description: str = "",
        risk_profile: str = "",
        enabled: bool = True,
        runner: str = "",
        engine: str = "",
        image: str = "",
        lifecycle: str = "",
        command: tuple[str, ...] = (),
    ) -> Agent:
        """Make a new agent; an empty argument leaves its key out of the file.

        Args:
            alias: Its name.
            description: What it is for.
            risk_profile: Empty is `hardened` when there is one, else the only one there is.
            enabled: Whether sessions may be started.
            runner: The program that runs in its sandbox.
            engine: What runs the sandbox.
            image: The container image.
            lifecycle: When the sandbox is stopped and removed.
            command: argv for the runner `command`.

        Raises:
            ConfigError: The alias is not valid or taken, or a value is wrong.
            PinfoldError: It cannot be written.
        """
        from services.agents.schema import write_schemas
        from services.agents.writing import chosen_profile, write_new_agent  # only reading belongs to start-up

        if fault := alias_fault(alias):
            raise ConfigError(f'"{alias}" cannot be an alias: {fault}')
        await self.load()
        profile = chosen_profile(risk_profile, self.shared.risk_profiles, self._home.config_file)
        agent = {"enabled": enabled, "description": description, "risk_profile": profile}
        sandbox = {
            "runner": runner,
            "engine": engine,
            "image": image,
            "lifecycle": lifecycle,
            "command": list(command),
        }
        table: dict[str, Any] = {"agent": _given(agent), "sandbox": _given(sandbox)}
        await self._calls.run(write_schemas, self._home)
        await self._calls.run(write_new_agent, self._home, alias, _given(table))
        await self._look(patient=True)
        await self._record("agent.create", alias)
        return self.get(alias)

    async def set_enabled(self, alias: str, enabled: bool) -> Agent:
        """Let sessions be started, or no more; running ones go on. Comments and order in the file stay.

        Raises:
            AgentNotFound: There is no such agent.
            ConfigError: Its file is not usable as it is, so nothing is written.
            FileConflict: It changed on disk in the same moment.
            LockHeld: Another Pinfold is changing it.
            PinfoldError: It cannot be written.
        """
        from services.agents.editing import Change
        from services.agents.writing import set_agent_key

        if fault := alias_fault(self.get(alias).alias):
            raise ConfigError(f'"{alias}" cannot be an alias: {fault}', fix="Rename its directory.")
        await self._calls.run(set_agent_key, self._home, alias, Change(("agent", "enabled"), enabled))
        await self._look(patient=True)
        await self._record("agent.enable" if enabled else "agent.disable", alias)
        return self.get(alias)

    async def draft(self, alias: str) -> Draft:
        """Begin to change an agent's file, with what is on disk now.

        Raises:
            AgentNotFound: There is no such agent.
            ConfigError: Its file is not usable as it is; names file and line.
        """
        from services.agents.drafts import draft_of

        return await self._calls.run(draft_of, self.get(alias).alias, self.get(alias).file, self.as_if)

    async def edit(self, draft: Draft, *changes: Change) -> Draft:
        """Change a draft; nothing is written.

        Raises:
            ConfigError: The text cannot be changed in this way.
        """
        from services.agents.drafts import edited

        return await self._calls.run(edited, draft, changes, self.as_if)

    async def assign(self, draft: Draft, assignments: Sequence[str], unset: Sequence[str] = ()) -> Draft:
        """Change a draft as people type it: `KEY=VALUE`, or `KEY+=ENTRY` and `KEY-=ENTRY` for lists.

        Args:
            draft: The draft.
            assignments: Made in order; keys have dots, and text needs no quotes.
            unset: Keys to remove.

        Raises:
            ConfigError: A key is unknown, a value is of the wrong kind, or the text cannot be changed in this way.
        """
        from services.agents.assigning import assigned

        changes = await self._calls.run(assigned, self.get(draft.alias), draft.table, assignments, unset)
        return await self.edit(draft, *changes)

    async def rebase(self, draft: Draft, keep: Collection[tuple[str, ...]] | None = None) -> Draft:
        """Make a draft's changes to what is on disk now.

        Args:
            draft: The draft.
            keep: The paths of the changes to make again; None is all of them.

        Raises:
            ConfigError: The file on disk is not usable, or cannot be changed in this way.
        """
        from services.agents.drafts import rebased

        return await self._calls.run(rebased, draft, keep, self.as_if)

    async def disagreements(self, draft: Draft) -> tuple[Disagreement, ...]:
        """List every key that a draft or the disk changed since the draft was begun.

        Raises:
            ConfigError: The file on disk is not usable.
        """
        from services.agents.drafts import disagreements

        return await self._calls.run(disagreements, draft)

    async def save(self, draft: Draft) -> Draft:
        """Write a draft; return a new one of what is then on disk.

        Raises:
            ConfigError: The agent would have an error; names the first.
            FileConflict: The file changed on disk since the draft was begun.
            LockHeld: Another Pinfold is changing it.
            PinfoldError: It cannot be written.
        """
        return await self._write("agent.edit", draft.alias, draft.base, draft.data)

    async def undo(self, saved: Draft, before: bytes) -> Draft:
        """Write again what a file held before a draft was saved; return a draft of what is then on disk.

        Args:
            saved: What `save` returned; the file must still be so.
            before: The base of the draft that was saved.

        Raises:
            ConfigError: The agent would have an error.
            FileConflict: The file changed on disk since.
            LockHeld: Another Pinfold is changing it.
            PinfoldError: It cannot be written.
        """
        return await self._write("agent.undo", saved.alias, saved.base, before)

    async def _write(self, verb: str, alias: str, base: bytes, data: bytes) -> Draft:
        from services.agents.drafts import changed_paths
        from services.agents.writing import replace_agent_file

        if data == base:
            return await self.draft(alias)
        await self._look(patient=True)
        would_be = await self._calls.run(self.as_if, alias, data)
        for problem in would_be.problems:
            if problem.severity == "error":
                raise problem.as_error()
        await self._calls.run(replace_agent_file, self._home, alias, base, data)
        await self._look(patient=True)
        await self._record(verb, alias, await self._calls.run(changed_paths, base, data, would_be.file))
        return await self.draft(alias)

    async def watch(self) -> None:
        """Follow the files until cancelled; a change is known within a second and published as `AgentsChanged`.

        A file that breaks or goes is looked at twice, a quarter of a second apart, before it counts: editors leave
        files missing, empty or half written for a moment.
        """
        async with aclosing(reasons_to_look(self._home, self._calls)) as reasons:
            async for _ in reasons:
                if await self._look(patient=True):
                    await asyncio.sleep(_SETTLING_SECONDS)
                    await self._look(patient=False)

    async def _look(self, *, patient: bool) -> bool:
        """Look at the disk and publish what changed; return whether something should be looked at again."""
        async with self._looking:
            places = await self._known_places()
            seen, changed = await self._calls.run(_look_and_compare, self._home, self._seen, patient, places)
            self._seen = seen
        for event in changed:
            self._events.publish(event)
        return seen.doubtful

    async def _known_places(self) -> Mapping[str, str]:
        if self._places is None:
            return {}
        try:
            return await self._places.all()
        except DatabaseError as error:  # the files can be read all the same
            _log.warning("cannot tell where memories are: %s", error)
            return self._seen.places

    async def _record(self, verb: str, alias: str, detail: str = "") -> None:
        if self._activity is not None:
            await self._activity.record(verb, agent=alias, detail=detail)


def _given(table: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value not in ("", [], {})}


def _look_and_compare(
    home: Home, before: Look, patient: bool, places: Mapping[str, str]
) -> tuple[Look, tuple[AgentsChanged, ...]]:
    seen = look(home, before, patient=patient, places=places)
    return seen, tuple(_changes(before, seen))


def _changes(before: Look, after: Look) -> Iterator[AgentsChanged]:
    if (before.shared, before.shared_problems) != (after.shared, after.shared_problems):
        yield AgentsChanged()
        return
    if before.agents is after.agents:
        return
    for alias in before.agents.keys() | after.agents.keys():
        if before.agents.get(alias) != after.agents.get(alias):
            yield AgentsChanged(alias)
