"""The form that starts a session: it shows what the sandbox would get, and refuses before anything is made."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input, Select, Static

from services.errors import PinfoldError
from services.sandbox import StartRequest
from tui.figures import middle
from tui.glyphs import glyphs
from tui.host import Host, host
from tui.screens.looking_ahead import LooksAhead
from tui.screens.sandboxes.details import describe_sandbox
from tui.store import SessionRow
from tui.text import safe
from tui.widgets.choice import Choice
from tui.widgets.field import Field

if TYPE_CHECKING:
    from services.agents import SandboxSettings

_SETTLING_SECONDS = 0.15
_PLACEHOLDER = 50
_LIFECYCLES = ("oneshot", "session", "longrunning", "persistent")


class StartForm(LooksAhead[StartRequest]):
    """Answers with what to start.

    Args:
        alias: The agent chosen at first; "" lets the operator choose.
    """

    def __init__(self, alias: str = "") -> None:
        super().__init__(id="start")
        self._alias = alias

    @property
    def _host(self) -> Host:
        return host(self)

    def compose(self) -> ComposeResult:
        """Lay out the fields, what they lead to, and the buttons."""
        agents = [row for row in self._host.store.agents if row.startable]
        options = [(Content(row.alias), row.alias) for row in agents]
        chosen = self._alias if any(row.alias == self._alias for row in agents) else Select.NULL
        engines = [("", "its own"), *((engine.name, engine.name) for engine in self._host.store.engines)]
        with Vertical(id="box"):
            yield Static("Start a session", id="heading", markup=False)
            yield Field("Agent", Select(options, value=chosen, prompt="choose", id="agent-choice", compact=True))
            yield Field("Engine", Choice(engines, "", id="engine"))
            yield Field("Lifecycle", Choice([("", "its own"), *((x, x) for x in _LIFECYCLES)], "", id="lifecycle"))
            yield Field("Image", Input(id="image", compact=True))
            yield Field("Command", Input(id="command", compact=True))
            yield Field("Prompt", Input(id="prompt", placeholder="what to do; may be empty", compact=True))
            with VerticalScroll(id="outcome", can_focus=False):
                yield Static(id="preview", markup=False)
            with Horizontal(id="buttons"):
                yield Button("Cancel", id="cancel", compact=True)
                yield Button("Start", id="yes", compact=True, disabled=True)

    def on_mount(self) -> None:
        """Begin where something is missing."""
        self.query_one("#prompt" if self._agent else "#agent-choice").focus()
        self._say_defaults()
        self._look_ahead()

    @property
    def _agent(self) -> str:
        value = self.query_one("#agent-choice", Select).value
        return value if isinstance(value, str) else ""

    @on(Select.Changed, "#agent-choice")
    def _other_agent(self) -> None:
        self._say_defaults()
        self._look_ahead()

    @on(Input.Changed)
    @on(Choice.Changed)
    def _look_ahead(self) -> None:
        self.begin_to_look()
        self._host.begin(self, "preview", self._preview)

    def _say_defaults(self) -> None:
        """Show in the empty fields what the agent's own choice is."""
        settings = self._settings()
        for field, value in (
            ("image", settings.image if settings else ""),
            ("command", shlex.join(settings.command) if settings else ""),
        ):
            origin = settings.origins.get(field, "") if settings else ""
            own = f"{middle(safe(value), _PLACEHOLDER)}   {origin}" if value else ""
            self.query_one(f"#{field}", Input).placeholder = own

    def _settings(self) -> SandboxSettings | None:
        agent = self._host.store.configured(self._agent)
        return agent.settings if agent is not None else None

    def request(self) -> StartRequest:
        """What the fields ask for.

        Raises:
            PinfoldError: No agent is chosen, or the command's quotes do not match.
        """
        if not self._agent:
            raise PinfoldError("choose an agent")
        try:
            command = tuple(shlex.split(self.query_one("#command", Input).value))
        except ValueError as error:
            raise PinfoldError("the command cannot be split into words", why=str(error)) from error
        return StartRequest(
            agent=self._agent,
            prompt=self.query_one("#prompt", Input).value,
            engine=self.query_one("#engine", Choice).value,
            image=self.query_one("#image", Input).value.strip(),
            lifecycle=self.query_one("#lifecycle", Choice).value,
            command=command,
        )

    async def _preview(self) -> None:
        await asyncio.sleep(_SETTLING_SECONDS)
        said = self.query_one("#preview", Static)
        try:
            session = await self._host.pinfold.sandboxes.preview(self.request())
        except PinfoldError as error:
            said.update(Content("\n").join(_refusal(error)))
            self.looked(allowed=False)
            return
        row = SessionRow.of(session)
        said.update(Content("\n").join(describe_sandbox(row, max(said.size.width, 40))))
        self.looked(allowed=True)

    def enter(self) -> None:
        """Start."""
        if not self.query_one("#yes", Button).disabled:
            self.dismiss(self.request())

    @on(Button.Pressed)
    def _press(self, message: Button.Pressed) -> None:
        if message.button.id == "yes":
            self.enter()
        else:
            self.dismiss(None)


def _refusal(error: PinfoldError) -> Iterator[Content]:
    yield Content.assemble((f"{glyphs().warning} {safe(error.what)}", "bold $bad"))
    for reason in error.why.split("; "):
        if reason:
            yield Content(f"  {safe(reason)}")
    if error.fix:
        yield Content.assemble((f"  {safe(error.fix)}", "$muted"))
