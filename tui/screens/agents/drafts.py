"""What is being changed, agent by agent: drafts that outlive a look at another agent or another screen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from services.agents import Agent, Change, Disagreement, Draft, dotted, same
from services.errors import ConfigError, FileConflict, PinfoldError
from services.policy import Change as Difference
from services.policy import changes
from tui.screens.agents.fields import Path
from tui.screens.agents.form_rows import notes_by_field
from tui.screens.agents.sheet import sheet_of
from tui.screens.agents.standing import Standing, Typing, Undo
from tui.widgets.form import Note

if TYPE_CHECKING:
    from services.pinfold import Pinfold

_MOST_NEWS = 3


@dataclass
class Drafts:
    """The drafts of all agents.

    Args:
        pinfold: The services, once they are open.
        changed: Told of the alias whose standing is another now.
        told: Told in words what was taken over from the disk under a draft.
    """

    pinfold: Callable[[], Pinfold]
    changed: Callable[[str], None]
    told: Callable[[str], None]
    _standings: dict[str, Standing] = field(default_factory=dict)
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)

    def of(self, alias: str) -> Standing:
        """How editing an agent stands."""
        return self._standings.get(alias, Standing())

    @property
    def open(self) -> tuple[str, ...]:
        """The agents with something not saved."""
        return tuple(alias for alias, standing in self._standings.items() if standing.open)

    # ── reading ───────────────────────────────────────────────────────────────────────────────────────────────

    async def look(self, alias: str) -> None:
        """Look at the disk again: begin a draft, or take over what somebody changed under one."""
        async with self._lock(alias):
            await self._take_in(alias)

    async def _take_in(self, alias: str, *known: Path) -> None:
        """Look, and tell what was taken over; the keys `known` are no news."""
        before = self.of(alias).draft
        standing, taken = await self._looked(alias)
        await self._put(alias, standing)
        taken = tuple(key for key in taken if key not in known)
        if taken and before is not None and standing.draft is not None:
            self.told(await self.pinfold().calls.run(news, self.pinfold(), before, standing.draft, taken))

    async def _looked(self, alias: str) -> tuple[Standing, tuple[Path, ...]]:
        """How editing stands with what is on disk now, and which keys were taken over from there."""
        agents, standing = self.pinfold().agents, self.of(alias)
        draft = standing.draft
        taken: tuple[Path, ...] = ()
        try:
            if draft is None or not standing.open:
                draft = await agents.draft(alias)
            else:
                rebased = await self._rebased(draft)
                if rebased is None:
                    return replace(standing, refusal=None, diverged=True), ()
                draft, taken = rebased
            undo = standing.undo if standing.undo and standing.undo.saved.base == draft.base else None
            return replace(standing, draft=draft, refusal=None, undo=undo, diverged=False), taken
        except ConfigError as error:
            return replace(standing, draft=draft if standing.count else None, refusal=error), ()

    async def _rebased(self, draft: Draft) -> tuple[Draft, tuple[Path, ...]] | None:
        """A draft on top of what is on disk now, and the keys changed there; None when both changed the same key."""
        agents = self.pinfold().agents
        if any(one.conflicts for one in await agents.disagreements(draft)):
            return None
        rebased = await agents.rebase(draft)
        found = await agents.disagreements(draft)  # once more: the file may have changed in between
        if any(one.conflicts for one in found) or (draft.base and not rebased.base):
            return None
        return rebased, tuple(one.path for one in found if not same(one.theirs, one.base))

    async def disagreements(self, alias: str) -> tuple[Disagreement, ...]:
        """Every key that the draft or the disk changed."""
        draft = self.of(alias).draft
        return () if draft is None else await self.pinfold().agents.disagreements(draft)

    # ── changing ──────────────────────────────────────────────────────────────────────────────────────────────

    async def change(self, alias: str, make: Callable[[Agent], Sequence[Change]]) -> None:
        """Change a draft.

        Args:
            alias: The agent.
            make: Makes the changes of the agent as it would be before them.

        Raises:
            ConfigError: The text cannot be changed in this way.
        """
        async with self._lock(alias):
            standing = self.of(alias)
            if standing.draft is None or standing.refusal is not None:
                return
            draft = await self.pinfold().agents.edit(standing.draft, *make(standing.draft.agent))
            await self._put(alias, replace(standing, draft=draft), typing_ends=True)

    async def trial(self, alias: str, change: Change) -> tuple[tuple[Note, ...], bool]:
        """What a change would have wrong at its field, and whether that forbids it; nothing is changed."""
        draft = self.of(alias).draft
        if draft is None:
            return (), False
        key = dotted(change.path)
        try:
            tried = await self.pinfold().agents.edit(draft, change)
        except ConfigError as error:
            return (Note(str(error)),), True
        config = tried.agent.config or draft.agent.config
        assert config is not None
        notes = notes_by_field(tried.agent.problems, (), config).get(key, ())
        before = draft.agent.problems
        worse = [problem for problem in tried.agent.problems if problem.severity == "error" and problem not in before]
        if worse and not any(note.error for note in notes):
            notes = (*notes, Note(str(worse[0])))
        return notes, bool(worse)

    def keep_typing(self, alias: str, typing: Typing | None) -> None:
        """Keep what is half typed, or nothing any more."""
        standing = self.of(alias)
        if standing.typing != typing:
            self._standings[alias] = replace(standing, typing=typing)
            if (standing.typing is None) != (typing is None):
                self.changed(alias)

    async def preview(self, alias: str, change: Change) -> tuple[Difference, ...]:
        """What one more change would mean, in words; nothing is changed.

        Raises:
            PinfoldError: The policy cannot be told.
        """
        standing, pinfold = self.of(alias), self.pinfold()
        if standing.draft is None:
            return ()
        tried = await pinfold.agents.edit(standing.draft, change)
        before = standing.sheet.policy if standing.sheet else None

        def compare() -> tuple[Difference, ...]:
            after = pinfold.policies.as_if(alias, tried.data)
            return changes(before or pinfold.policies.of(alias), after)

        return await pinfold.calls.run(compare)

    async def set_enabled(self, alias: str, enabled: bool) -> Agent:
        """Let the agent be started, or not, at once; what is not saved stays, and the operator's own change is no news.

        Raises:
            PinfoldError: The file cannot be changed.
        """
        async with self._lock(alias):
            agent = await self.pinfold().agents.set_enabled(alias, enabled)
            await self._take_in(alias, ("agent", "enabled"))
            return agent

    # ── settling ──────────────────────────────────────────────────────────────────────────────────────────────

    async def save(self, alias: str) -> None:
        """Write a draft.

        Raises:
            ConfigError: The agent would have an error.
            FileConflict: Somebody else changed the file; the draft stays, on top of that or marked.
            PinfoldError: It cannot be written.
        """
        async with self._lock(alias):
            standing = self.of(alias)
            if standing.draft is None:
                return
            try:
                written, saved = await self._written(alias, standing.draft)
            except FileConflict:
                await self._take_in(alias)
                raise
            await self._put(alias, Standing(draft=saved, undo=Undo(saved, written.base)))

    async def _written(self, alias: str, draft: Draft) -> tuple[Draft, Draft]:
        """Write a draft; once more on top of what somebody wrote meanwhile, if that changed no value."""
        agents = self.pinfold().agents
        try:
            return draft, await agents.save(draft)
        except FileConflict:
            looked, taken = await self._looked(alias)
            if taken or looked.diverged or looked.refusal is not None or looked.draft is None:
                raise
            return looked.draft, await agents.save(looked.draft)

    async def undo(self, alias: str) -> None:
        """Take the last save back; what was changed since stays in the draft.

        Raises:
            FileConflict: Somebody else changed the file since; the save cannot be taken back any more.
            PinfoldError: It cannot be written.
        """
        async with self._lock(alias):
            standing = self.of(alias)
            if standing.undo is None:
                return
            try:
                draft = await self.pinfold().agents.undo(standing.undo.saved, standing.undo.before)
            except FileConflict:
                await self._put(alias, replace(standing, undo=None))
                raise
            if standing.draft is not None and standing.draft.changed:
                draft = await self.pinfold().agents.rebase(standing.draft)
            await self._put(alias, replace(standing, draft=draft, undo=None))

    async def discard(self, alias: str) -> None:
        """Forget what is not saved."""
        async with self._lock(alias):
            self._standings[alias] = Standing(undo=self.of(alias).undo)
            standing, _ = await self._looked(alias)
            await self._put(alias, standing, typing_ends=True)

    async def rebase(self, alias: str, keep: Collection[Path] | None = None) -> None:
        """Begin anew with what is on disk, and make changes again.

        Args:
            alias: The agent.
            keep: The paths of the changes to make again; None is all of them.

        Raises:
            ConfigError: The file is not usable.
        """
        async with self._lock(alias):
            standing = self.of(alias)
            if standing.draft is not None:
                draft = await self.pinfold().agents.rebase(standing.draft, keep)
                await self._put(alias, replace(standing, draft=draft, refusal=None, diverged=False))

    # ── showing ───────────────────────────────────────────────────────────────────────────────────────────────

    async def _put(self, alias: str, standing: Standing, *, typing_ends: bool = False) -> None:
        pinfold = self.pinfold()
        agent = standing.draft.agent if standing.draft is not None else pinfold.agents.by_alias.get(alias)
        sheet = None
        if agent is not None and agent.config is not None:
            sheet = await pinfold.calls.run(sheet_of, pinfold, agent, standing.draft)
        typing = None if typing_ends else self.of(alias).typing  # it may have gone on meanwhile
        self._standings[alias] = replace(standing, sheet=sheet, typing=typing)
        self.changed(alias)

    def _lock(self, alias: str) -> asyncio.Lock:
        return self._locks.setdefault(alias, asyncio.Lock())


def news(pinfold: Pinfold, before: Draft, after: Draft, keys: Sequence[Path]) -> str:
    """Say what a file says now that it did not when a draft was begun; blocks for some milliseconds.

    Args:
        pinfold: The services.
        before: The draft as it was begun.
        after: The same on top of what is on disk now.
        keys: Those changed on disk.
    """
    alias, policies = before.alias, pinfold.policies
    try:
        found = changes(policies.as_if(alias, before.base), policies.as_if(alias, after.base))
    except PinfoldError:
        found = ()
    words = [difference.text for difference in found] or [dotted(key) for key in keys]
    more = f", and {len(words) - _MOST_NEWS} more" if len(words) > _MOST_NEWS else ""
    return f"{alias} changed on disk: {', '.join(words[:_MOST_NEWS])}{more}"
