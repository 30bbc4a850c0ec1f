"""The agents of a home: listed, looked up, created, switched on and off, and watched."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from services.agents.agent import Agent
from services.agents.aliases import alias_fault
from services.agents.known_agents import KnownAgents
from services.errors import ConfigError

if TYPE_CHECKING:
    from services.agents.drafts import Disagreement, Draft
    from services.agents.editing import Change


class Agents(KnownAgents):
    """Makes agents, and writes their files."""

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

    async def _record(self, verb: str, alias: str, detail: str = "") -> None:
        if self._activity is not None:
            await self._activity.record(verb, agent=alias, detail=detail)


def _given(table: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value not in ("", [], {})}
