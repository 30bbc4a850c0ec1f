"""The screens: opens the services behind the first frame, holds the four screens, says what went wrong."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec

from rich.text import Text
from textual.app import App
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.filter import LineFilter
from textual.screen import Screen
from textual.worker import Worker

from services.errors import PinfoldError
from themes import style_sheets
from tui.actions import Scope
from tui.announcing import Announcing
from tui.ascii_filter import AsciiFilter
from tui.bridge import Bridge
from tui.figures import counted
from tui.glyphs import glyphs
from tui.host import EXCLUSIVE
from tui.interface import InterfaceSettings, first_theme, register_builtin_themes
from tui.keymap import Keymap, bindings, check_keymap
from tui.screens import modes
from tui.screens.frame import FrameScreen
from tui.store import Store
from tui.text import safe
from tui.theming import TERMINAL_THEME, defaults_for
from tui.underway import Underway

if TYPE_CHECKING:
    from textual.command import Provider

    from services.home import Home
    from services.pinfold import Pinfold

P = ParamSpec("P")

log = logging.getLogger("pinfold.screens")

_SWITCHING_SECONDS = 0.02
_CLOSING_SECONDS = 2.0
_PAINTING_SECONDS = 0.02
"""Time for the first frame to leave; importing the services would hold it back."""


def _palette() -> type[Provider]:
    from tui.palette import Everything

    return Everything


class PinfoldApp(App[None]):
    """The app on one home.

    Args:
        home: Where everything lies.
        now: The clock, nanoseconds since 1970.
        services: Open the services; a test that fills the store itself leaves them closed.
    """

    TITLE = "pinfold"
    CSS_PATH = style_sheets()  # type: ignore[assignment]  # Textual takes paths
    MODES = {"memory": modes.memory, "sandboxes": modes.sandboxes, "archives": modes.archives}
    DEFAULT_MODE = "agents"
    COMMANDS = {_palette}
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(Scope.EVERYWHERE),
        Binding("ctrl+c", "help_quit", show=False, system=True),
    ]

    def __init__(self, home: Home, *, now: Callable[[], int] = time.time_ns, services: bool = True) -> None:
        plain = bool(os.environ.get("NO_COLOR"))
        super().__init__(ansi_color=True if plain else None)
        self.home = home
        self.now = now
        self.store = Store(self)
        self.underway = Underway(self)
        self.keymap: Keymap = check_keymap({})
        self.leaving: list[Callable[[], Sequence[str]]] = [self.underway.unfinished]
        self._open_services = services
        self._pinfold: Pinfold | None = None
        self._serving: asyncio.Task[None] | None = None
        self.failure: Exception | None = None
        self._interface = InterfaceSettings(self, home.themes_dir, plain=plain)
        register_builtin_themes(self)
        self._interface.wear_first(TERMINAL_THEME if plain else first_theme(self, home.config_file))

    def get_default_screen(self) -> Screen[Any]:
        """The first screen; taken from `MODES` it would have all style sheets parsed again before the first frame."""
        return modes.agents()

    # ── opening and closing ───────────────────────────────────────────────────────────────────────────────────

    def on_mount(self) -> None:
        """Open the services once the first frame is out."""
        self.add_mode(self.DEFAULT_MODE, modes.agents)
        self.store.interface_changed.subscribe(self, self._apply_interface)
        self.store.approvals_changed.subscribe(self, Announcing(self).look)
        if not self.is_headless:
            for number in (signal.SIGTERM, signal.SIGHUP):
                asyncio.get_running_loop().add_signal_handler(number, self.exit, None, 128 + number)
        if self._open_services:
            self.call_after_refresh(self.set_timer, _PAINTING_SECONDS, self._open)

    def _open(self) -> None:
        self._serving = asyncio.create_task(self._serve())

    async def _serve(self) -> None:
        try:
            await Bridge(self.home, self.store).run(self._opened)
        except Exception as error:  # told on the terminal once the screens are gone
            self.failure = error
            self.exit(return_code=1)

    def _opened(self, pinfold: Pinfold) -> None:
        self._pinfold = pinfold
        if pinfold.database.damage is not None:
            self.report(pinfold.database.damage)
        self.begin(self, "themes", self._interface.follow_own, self._complain)

    def _apply_interface(self, _: None) -> None:
        if self.store.interface is not None:
            self.keymap, problems = self._interface.apply(self.store.interface)
            if problems:
                self._complain(problems)

    def _complain(self, problems: Sequence[str]) -> None:
        text = "\n".join(safe(problem) for problem in problems)
        self.notify(text, title="Some interface settings cannot be used", severity="warning", timeout=12, markup=False)

    async def on_unmount(self) -> None:
        """Let the services close, but not for long; sessions go on."""
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.wait({self._serving}, timeout=_CLOSING_SECONDS)

    @property
    def pinfold(self) -> Pinfold:
        """The services.

        Raises:
            PinfoldError: They are not open yet.
        """
        if self._pinfold is None:
            raise PinfoldError("not ready yet", why=f"still waiting for {self.store.awaiting}")
        return self._pinfold

    # ── tasks and errors ──────────────────────────────────────────────────────────────────────────────────────

    def begin(
        self,
        node: DOMNode,
        group: str,
        task: Callable[P, Coroutine[Any, Any, object]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Worker[None]:
        """Run a task beside the screens until `node` goes; its errors are reported and never end the app."""
        guarded = partial(self._guarded, partial(task, *args, **kwargs))
        return node.run_worker(guarded, group=group, exclusive=group in EXCLUSIVE, exit_on_error=False)

    async def _guarded(self, task: Callable[[], Coroutine[Any, Any, object]]) -> None:
        try:
            await task()
        except Exception as error:
            self.report(error)

    def report(self, error: BaseException) -> None:
        """Say in a toast what failed, why and what to do; the traceback of an unexpected error goes to the log."""
        if isinstance(error, PinfoldError):
            text = " ".join(part for part in (_sentence(error.why), error.fix) if part)
            self.notify(safe(text), title=safe(error.what), severity="error", timeout=10, markup=False)
            return
        log.error("unexpected error", exc_info=error)
        text = f"{type(error).__name__}; the details are in state/pinfold.log"
        title = "Something in Pinfold itself went wrong"
        self.notify(text, title=title, severity="error", timeout=10, markup=False)

    def told(self, text: str) -> None:
        """Say in passing what was done."""
        self.notify(safe(text), timeout=4, markup=False)

    def _fatal_error(self) -> None:
        """End without the traceback Textual would print, which shows variables; the log has it, without them."""
        log.critical("the screens had to end", exc_info=self._exception)
        self.panic(Text("pinfold: the screens had to end because of a fault; the details are in state/pinfold.log"))

    # ── looks ─────────────────────────────────────────────────────────────────────────────────────────────────

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What every painted line passes last; a terminal that reads no UTF-8 gets plain ASCII."""
        filters = super().get_line_filters()
        return [*filters, AsciiFilter()] if glyphs().ascii else filters

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Values for Pinfold's own variables where a theme lacks them."""
        return dict(defaults_for(self.current_theme))

    def delay_update(self, delay: float = _SWITCHING_SECONDS) -> None:
        """Hold frames back while a screen takes the place of another, for less long than Textual does."""
        super().delay_update(delay)

    # ── actions that work everywhere ──────────────────────────────────────────────────────────────────────────

    def action_screen(self, mode: str) -> None:
        """Show one of the four screens."""
        self.switch_mode(mode)

    async def action_quit(self) -> None:
        """Leave, after asking when something would be lost."""
        lost = [line for ask in self.leaving for line in ask()]
        if not lost:
            self.exit()
            return
        from tui.screens.dialog import Confirm

        question = Confirm("Leave now?", lost, "What is not saved is lost, and what is under way stops.", "Leave")
        self.push_screen(question, lambda yes: self.exit() if yes else None)

    def action_help(self) -> None:
        """Show the keys that work on this screen."""
        screen = self.screen
        if isinstance(screen, FrameScreen):
            from tui.screens.help import HelpScreen

            self.push_screen(HelpScreen(screen.HELP, screen.scopes(), self.keymap))

    def action_leave(self) -> None:
        """Close what is open, or go one step back."""
        if isinstance(self.screen, FrameScreen):
            self.screen.action_leave()

    async def action_activity(self) -> None:
        """Open or close the activity drawer."""
        if isinstance(self.screen, FrameScreen):
            await self.screen.toggle_activity()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what makes sense now."""
        return bool(self.store.approvals) if action == "approvals" else super().check_action(action, parameters)

    def action_approvals(self, number: int = 0) -> None:
        """Show the calls that wait for an answer; by number, or the one that is nearest."""
        modes.show_approvals(self, number)

    # ── from one screen to another ────────────────────────────────────────────────────────────────────────────

    def show_agent(self, alias: str) -> None:
        """Show the screen of agents with the cursor on one."""
        self.begin(self, "show", modes.show_agent, self, alias)

    def show_session(self, session: str) -> None:
        """Show the screen of sandboxes with the cursor on one session."""
        self.begin(self, "show", modes.show_sandboxes, self, session=session)

    def start_session(self, alias: str) -> None:
        """Show the screen of sandboxes and ask what to start of an agent."""
        self.begin(self, "show", modes.show_sandboxes, self, alias=alias)

    def show_archive(self, archive: str) -> None:
        """Show the screen of archives with the cursor on one, or on an operation."""
        self.begin(self, "show", modes.show_archive, self, archive)

    def action_engines(self) -> None:
        """Ask every engine whether it answers."""
        self.begin(self, "engines", self._check_engines)

    async def _check_engines(self) -> None:
        statuses = await self.pinfold.sandboxes.check_engines()
        lost = [f"{status.name}: {status.problem}" for status in statuses if not status.usable]
        self.told("; ".join(lost) or f"{counted(len(statuses), 'engine')} answered")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
