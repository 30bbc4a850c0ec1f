"""The command palette: every action that works here, and every agent, session and theme by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider

from tui.actions import BY_ID, key_name
from tui.host import host
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
                yield DiscoveryHit(command.name, command.run, help=command.help)

    async def search(self, query: str) -> Hits:
        """Offer what matches."""
        matcher = self.matcher(query)
        for command in self._commands():
            score = matcher.match(command.name)
            if score > 0:
                yield Hit(score, matcher.highlight(command.name), command.run, help=command.help)

    def _commands(self) -> Iterator[Command]:
        yield from self._actions()
        yield from self._agents()
        yield from self._sessions()
        yield from self._themes()

    def _actions(self) -> Iterator[Command]:
        seen: set[str] = set()
        for key, active in self.screen.active_bindings.items():
            action = BY_ID.get(active.binding.id or "")
            if action is None or action.id in seen or not active.enabled or action.id == "app.commands":
                continue
            seen.add(action.id)
            noun = action.id.partition(".")[0]
            run = partial(self.app.run_action, active.binding.action, active.node)
            yield Command(f"{noun}: {action.label}", f"{action.help}  [{key_name(key)}]", run, first=True)

    def _agents(self) -> Iterator[Command]:
        for row in host(self.screen).store.agents[:_MOST]:
            show = partial(self.app.run_action, f"show_agent({row.alias!r})", self.app)
            yield Command(f"agent: {row.alias}", row.description or "Show this agent", show)

    def _sessions(self) -> Iterator[Command]:
        for row in host(self.screen).store.session_rows[:_MOST]:
            show = partial(self.app.run_action, f"show_session({row.id!r})", self.app)
            yield Command(f"session: {row.agent} {row.id}", f"{state_word(row)} {row.detail}".strip(), show)

    def _themes(self) -> Iterator[Command]:
        for name in self.app.available_themes:
            if name != self.app.theme:
                yield Command(f"theme: {name}", "Use this theme until Pinfold ends", partial(self._use_theme, name))

    def _use_theme(self, name: str) -> None:
        self.app.theme = name
