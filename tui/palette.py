"""The command palette: every action that works here, and every agent, session and theme by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from textual.binding import ActiveBinding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

from tui.actions import ACTIONS, Action, Scope, key_name
from tui.host import host
from tui.screens.frame import FrameScreen
from tui.states import state_word

_MOST = 200


@dataclass(frozen=True)
class Command:
    """Something the palette offers.

    Attributes:
        name: `noun: what`, in clean text.
        first: Whether it is offered before anything is typed.
    """

    name: str
    help: str
    run: Callable[[], Any]
    first: bool = False


class Everything(Provider):
    """Finds commands by name."""

    async def discover(self) -> Hits:
        """Offer the actions that work here."""
        for command in self._commands():
            if command.first:
                yield DiscoveryHit(Content(command.name), command.run, text=command.name, help=escape(command.help))

    async def search(self, query: str) -> Hits:
        """Offer what matches."""
        matcher = self.matcher(query)
        for command in self._commands():
            score, places = matcher.fuzzy_search.match(query, command.name)
            if score > 0:
                shown = _highlighted(command.name, places)
                yield Hit(score, shown, command.run, text=command.name, help=escape(command.help))

    def _commands(self) -> Iterator[Command]:
        yield from self._actions()
        if isinstance(self.screen, FrameScreen):
            for name, help_text, run in self.screen.commands():
                yield Command(name, help_text, run)
        yield from self._agents()
        yield from self._sessions()
        yield from self._themes()

    def _actions(self) -> Iterator[Command]:
        working: dict[str, ActiveBinding] = {}
        for active in self.screen.active_bindings.values():
            if active.enabled and active.binding.id:
                working.setdefault(active.binding.id, active)
        keymap = host(self.screen).keymap
        for action in sorted(ACTIONS, key=_nearness):
            if action.id not in working or action.id == "app.commands":
                continue
            noun = action.id.partition(".")[0]
            active = working[action.id]
            run = partial(self.app.run_action, active.binding.action, active.node)
            keys = " ".join(key_name(key) for key in keymap.of(action))
            plain_move = action.scope is Scope.LIST and not action.rank
            yield Command(f"{noun}: {action.label}", f"{action.help}  ({keys})", run, first=not plain_move)

    def _agents(self) -> Iterator[Command]:
        for row in host(self.screen).store.agents[:_MOST]:
            show = partial(host(self.screen).show_agent, row.alias)
            yield Command(f"agent: {row.alias}", row.description or "Show this agent", show)

    def _sessions(self) -> Iterator[Command]:
        for row in host(self.screen).store.session_rows[:_MOST]:
            show = partial(host(self.screen).show_session, row.id)
            yield Command(f"session: {row.agent} {row.id}", f"{state_word(row)} {row.detail}".strip(), show)

    def _themes(self) -> Iterator[Command]:
        for name in self.app.available_themes:
            if name != self.app.theme:
                yield Command(f"theme: {name}", "Use this theme until Pinfold ends", partial(self._use_theme, name))

    def _use_theme(self, name: str) -> None:
        self.app.theme = name


def _nearness(action: Action) -> int:
    """What belongs to the pane and the screen in use comes before what works everywhere."""
    return {Scope.EVERYWHERE: 2, Scope.LIST: 1}.get(action.scope, 0)


def _highlighted(name: str, places: Iterable[int]) -> Content:
    """Show which letters were found; Textual's own way would read markup in the name."""
    content = Content(name)
    for place in places:
        content = content.stylize("bold $accent", place, place + 1)
    return content
