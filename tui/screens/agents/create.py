"""Making a new agent."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, Select, Static

from services.errors import PinfoldError
from tui.host import host
from tui.screens.dialog import Dialog
from tui.text import safe
from tui.widgets.field import Field


class CreateAgent(Dialog[str]):
    """Asks for alias, profile and description; answers with the alias of the agent made."""

    def compose(self) -> ComposeResult:
        """Lay out the fields."""
        profiles = sorted(host(self).pinfold.agents.shared.risk_profiles)
        with Vertical(id="box"):
            yield Static("New agent", id="heading", markup=False)
            yield Field("Alias", Input(id="alias", placeholder="lower case letters, digits, _", compact=True))
            yield Field(
                "Profile",
                Select(
                    [(Content(safe(name)), name) for name in profiles], id="profile", prompt="none yet", compact=True
                ),
            )
            yield Field("About", Input(id="description", placeholder="what it is for", compact=True))
            yield Static(id="problem", classes="problem", markup=False)
            with Horizontal(id="buttons"):
                yield Button("Cancel", id="cancel", compact=True)
                yield Button("Make it", id="yes", compact=True)

    def on_mount(self) -> None:
        """Begin with the alias."""
        self.query_one("#alias").focus()

    @on(Input.Changed)
    def _forget_problem(self) -> None:
        self.query_one("#problem", Static).update("")

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self._make()

    @on(Button.Pressed)
    def _pressed(self, message: Button.Pressed) -> None:
        if message.button.id == "yes":
            self._make()
        else:
            self.dismiss(None)

    def _make(self) -> None:
        host(self).begin(self, "create", self._create)

    async def _create(self) -> None:
        profile = self.query_one("#profile", Select).value
        try:
            agent = await host(self).pinfold.agents.create(
                self.query_one("#alias", Input).value.strip(),
                description=self.query_one("#description", Input).value.strip(),
                risk_profile=profile if isinstance(profile, str) else "",
                runner="command",
            )
        except PinfoldError as error:
            self.query_one("#problem", Static).update(Content(safe(str(error))))
            return
        self.dismiss(agent.alias)
