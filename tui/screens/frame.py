"""What all four screens have around them: the bar above, the keys below, the activity drawer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget

from tui.actions import ACTIONS, BY_ID, Scope, key_name
from tui.glyphs import glyphs
from tui.host import Host, host
from tui.widgets.key_bar import Key, KeyBar
from tui.widgets.top_bar import BarFacts, EngineMark, TopBar

if TYPE_CHECKING:
    from tui.widgets.activity_drawer import ActivityDrawer

_ENTRIES = 300
_ALWAYS = frozenset({"app.commands", "app.help"})


class FrameScreen(Screen[None]):
    """One of the four screens.

    A screen out of sight does nothing: it is told of changes when it comes back.

    Attributes:
        MODE: The name of its mode.
        SCOPE: Its actions.
        HELP: What the screen is for, a sentence or two for the help.
    """

    MODE: ClassVar[str] = ""
    SCOPE: ClassVar[Scope] = Scope.EVERYWHERE
    HELP: ClassVar[str] = ""
    HORIZONTAL_BREAKPOINTS = [
        (0, "-narrow"),
        (100, "-medium"),
        (140, "-wide"),
        (190, "-very-wide"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-high")]

    _fresh = True
    _narrowed = False
    _focused_before: Widget | None = None

    @property
    def host(self) -> Host:
        """The app."""
        return host(self)

    def compose(self) -> ComposeResult:
        """Put the body between the bars."""
        yield TopBar(BarFacts(self.MODE, awaiting=self.host.store.awaiting))
        yield from self.body()
        yield KeyBar()

    def body(self) -> Iterable[Widget]:
        """The widgets of the screen itself."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Listen to what the bars show."""
        store = self.host.store
        for signal in (store.engines_changed, store.sessions_changed, store.awaiting_changed):
            signal.subscribe(self, self._update_bar)
        store.approvals_changed.subscribe(self, self._update_waiting)
        store.activity_changed.subscribe(self, self._read_activity)
        self.bindings_updated_signal.subscribe(self, self._update_keys)

    @on(events.ScreenResume)
    def _keep_styles(self, event: events.ScreenResume) -> None:
        """Style nothing anew, which would take longer than all else: styles follow their causes also out of sight."""
        event.refresh_styles = self._fresh
        self._fresh = False

    def on_screen_resume(self) -> None:
        """Catch up with what changed while the screen was out of sight."""
        self._update_bar(None)
        self._update_keys(self)
        self._read_activity(None)

    def _update_bar(self, _: None) -> None:
        if not self.is_current:
            return
        store = self.host.store
        self.query_one(TopBar).show(
            BarFacts(
                current=self.MODE,
                engines=tuple(EngineMark(engine.name, engine.usable) for engine in store.engines),
                running=store.running,
                waiting=len(store.approvals),
                awaiting=store.awaiting,
            )
        )

    def _update_waiting(self, _: None) -> None:
        self._update_bar(None)
        self.refresh_bindings()

    def _update_keys(self, _: object) -> None:
        if self.is_current:
            self.query_one(KeyBar).show(keys_that_work(self))

    # ── the activity drawer ───────────────────────────────────────────────────────────────────────────────────

    @property
    def _drawer(self) -> ActivityDrawer | None:
        found = self.query("ActivityDrawer")
        return cast("ActivityDrawer", found.first()) if found else None

    async def toggle_activity(self) -> None:
        """Open the drawer, or close it."""
        drawer = self._drawer
        if drawer is not None:
            self._close_drawer(drawer)
            return
        from tui.widgets.activity_drawer import ActivityDrawer

        self._narrowed = False
        self._focused_before = self.focused
        drawer = ActivityDrawer(self.host.now)
        await self.mount(drawer, before=self.query_one(KeyBar))
        drawer.table.focus()
        self._read_activity(None)

    def on_activity_drawer_narrow_asked(self) -> None:
        """Show only what concerns the screen's subject, or everything again."""
        self._narrowed = not self._narrowed
        self._read_activity(None)

    def _read_activity(self, _: None) -> None:
        if self.is_current and self._drawer is not None:
            self.host.begin(self, "activity", self._load_activity)

    async def _load_activity(self) -> None:
        agent, session, name = self.subject() if self._narrowed else ("", "", "")
        entries = await self.host.pinfold.activity.recent(_ENTRIES, agent=agent, session=session)
        if (drawer := self._drawer) is not None:
            drawer.show(reversed(entries), name)

    def subject(self) -> tuple[str, str, str]:
        """What the screen is about now: an agent's alias or "", a session's id or "", and its name for people."""
        return "", "", ""

    def commands(self) -> Iterable[tuple[str, str, Callable[[], object]]]:
        """What the palette offers beside the actions: a clean name, what it does, and how it is done."""
        return ()

    def leave(self) -> None:
        """Go one step back inside the screen."""

    def action_leave(self) -> None:
        """Close the drawer, else go one step back inside the screen."""
        drawer = self._drawer
        if drawer is None:
            self.leave()
        elif not drawer.drop_filter():
            self._close_drawer(drawer)

    def _close_drawer(self, drawer: ActivityDrawer) -> None:
        if drawer.has_focus_within:
            self.set_focus(self._focused_before)
        drawer.remove()

    # ── keys ──────────────────────────────────────────────────────────────────────────────────────────────────

    def scopes(self) -> list[Scope]:
        """Whose actions work here, those of the screen first, those that work everywhere last."""
        reachable = [
            BY_ID[active.binding.id].scope for active in self.active_bindings.values() if active.binding.id in BY_ID
        ]
        return sorted(dict.fromkeys(reachable), key=lambda scope: (scope is Scope.EVERYWHERE, scope is Scope.LIST))

    @on(KeyBar.Pressed)
    async def press(self, message: KeyBar.Pressed) -> None:
        """Do what a key in the bar does."""
        for binding in self.active_bindings.values():
            if binding.binding.id == message.action and binding.enabled:
                await self.app.run_action(binding.binding.action, binding.node)
                return


def keys_that_work(screen: Screen[Any]) -> list[Key]:
    """The keys for the bar of a screen as it stands, in the order of the actions' ranks."""
    by_action: dict[str, str] = {}
    for key, active in screen.active_bindings.items():
        action_id = active.binding.id
        if action_id in BY_ID and active.enabled and action_id not in by_action:
            by_action[action_id] = key
    ranked = sorted((action for action in ACTIONS if action.rank and action.id in by_action), key=lambda a: a.rank)
    plain = glyphs().ascii
    return [
        Key(action.id, key_name(by_action[action.id], ascii_only=plain), action.label, action.id in _ALWAYS)
        for action in ranked
    ]
