"""Which file an export, an import or a snapshot goes to or comes from, and what is in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from services.memory import Snapshot
from tui.figures import counted
from tui.host import Host, host
from tui.screens.dialog import Confirm
from tui.screens.memory.changes.doing import Outcome
from tui.screens.memory.files.dialogs import AskFile, FileAnswer
from tui.screens.memory.hiding import key_name, shown_name
from tui.screens.memory.places import AgentRows, ScopeKeys
from tui.screens.memory.sources import pattern_of

if TYPE_CHECKING:
    from services.memory import Scope
    from tui.screens.frame import FrameScreen
    from tui.screens.memory.changes.changing import Changing
    from tui.screens.memory.files.files import Transfer

_LISTED = 50


class AskingFiles:
    """Asks for a file, then has it written or read.

    Args:
        screen: Asks the questions.
        changing: Knows what is concerned, and does the work.
    """

    def __init__(self, screen: FrameScreen, changing: Changing) -> None:
        self._screen = screen
        self._changing = changing
        self._place, _ = changing.at()

    @property
    def _host(self) -> Host:
        return host(self._screen)

    def export(self, text: str) -> None:
        """Export the scope, what its filter shows, the agent's rows, or every scope.

        Args:
            text: What the rows are filtered by.
        """
        place = self._place
        options = [("all", "every scope")]
        name = "memory"
        if isinstance(place, ScopeKeys):
            shown = [("shown", "the keys shown")] if text else []
            options = [*shown, ("here", place.title[:30]), *options]
            name = place.title
        elif isinstance(place, AgentRows):
            options = [("rows", f"the rows of {shown_name(place.alias)}"), *options]
            name = f"{place.alias}-rows"

        async def work(transfer: Transfer, answer: FileAnswer) -> Outcome:
            if answer.what == "rows" and isinstance(place, AgentRows):
                return await transfer.export_rows(answer.path, place.alias, replace=answer.replace)
            scopes = [place.scope] if isinstance(place, ScopeKeys) and answer.what != "all" else []
            pattern = pattern_of(text) if answer.what == "shown" else ""
            return await transfer.export_keys(answer.path, scopes, pattern, replace=answer.replace)

        dialog = AskFile("Export as JSON Lines", default_path(name, "jsonl"), options, writing=True, yes="Export")
        self._screen.app.push_screen(dialog, lambda answer: self._changing.begin_transfer(work, answer))

    def take_in(self) -> None:
        """Import keys into their own scopes or the one that is shown, or rows of the agent."""
        place = self._place
        options = [("own", "the scopes the file names")]
        if isinstance(place, ScopeKeys):
            options.append(("here", place.title[:40]))
        elif isinstance(place, AgentRows):
            options = [("rows", f"rows, for {shown_name(place.alias)}"), *options]

        async def work(transfer: Transfer, answer: FileAnswer) -> Outcome:
            if answer.what == "rows" and isinstance(place, AgentRows):
                return await transfer.import_rows(answer.path, place.alias)
            into = place.scope if isinstance(place, ScopeKeys) and answer.what == "here" else None
            return await transfer.import_keys(answer.path, into)

        dialog = AskFile(
            "Import JSON Lines over what is there",
            default_path("memory", "jsonl"),
            options,
            writing=False,
            yes="Import",
        )
        self._screen.app.push_screen(dialog, lambda answer: self._changing.begin_transfer(work, answer))

    def snapshot(self) -> None:
        """Write everything in the scope to a file."""
        scope = self._scope()

        async def work(transfer: Transfer, answer: FileAnswer) -> Outcome:
            return await transfer.snapshot(answer.path, scope, replace=answer.replace)

        path = default_path(f"{shown_name(str(scope))}-snapshot", "json")
        dialog = AskFile(f"Snapshot of {shown_name(str(scope))}", path, (), writing=True, yes="Write it")
        self._screen.app.push_screen(dialog, lambda answer: self._changing.begin_transfer(work, answer))

    def restore(self) -> None:
        """Ask for a snapshot, show what it would replace, then restore it."""
        scope = self._scope()
        path = default_path(f"{shown_name(str(scope))}-snapshot", "json")

        def chosen(answer: FileAnswer | None) -> None:
            if answer is not None:
                self._host.begin(self._screen, "preview", self._ask_restore, scope, answer)

        dialog = AskFile(f"Restore {shown_name(str(scope))} from a snapshot", path, (), writing=False, yes="Look at it")
        self._screen.app.push_screen(dialog, chosen)

    async def _ask_restore(self, scope: Scope, answer: FileAnswer) -> None:
        from tui.screens.memory.files.files import Transfer

        pinfold = self._host.pinfold
        snapshot = await Transfer(pinfold, lambda _: None).read_snapshot(answer.path)
        there = set(await pinfold.memory.namespace(scope).keys())

        async def work(transfer: Transfer, answer: FileAnswer) -> Outcome:
            return await transfer.restore(answer.path, scope)

        def agreed(yes: bool | None) -> None:
            if yes:
                self._changing.begin_transfer(work, answer)

        self._screen.app.push_screen(_question(scope, snapshot, there), agreed)

    def _scope(self) -> Scope:
        assert isinstance(self._place, ScopeKeys)
        return self._place.scope


def _question(scope: Scope, snapshot: Snapshot, there: set[str]) -> Confirm:
    """What restoring would do."""
    held = {entry.key for entry in snapshot.entries}
    parts = (("comes back", held - there), ("is written over", held & there), ("goes", there - held))
    lines = [f"{counted(len(keys), 'key')} {word}" for word, keys in parts if keys]
    for word, keys in parts:
        lines += [f"  {word}: {key_name(key, reveal=False)}" for key in sorted(keys)[:_LISTED]]
    source = f"{snapshot.scope}:{snapshot.id}"
    taken = "" if str(scope) == source else f" It was taken of {shown_name(source)}."
    return Confirm(
        f"Replace all of {shown_name(str(scope))}?",
        lines,
        f"It can be taken back until Pinfold ends.{taken}",
        "Restore",
    )


def default_path(name: str, ending: str) -> Path:
    """A file in the operator's home directory, called after what it holds."""
    kept = "".join(character if character.isalnum() else "-" for character in name[:60]).strip("-") or "memory"
    return Path.home() / f"{kept}.{ending}"
