"""The page of permissions: the form, what the field under the cursor is for, and how the changes stand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from services.agents import Agent, Change, Value
from services.policy import Change as Difference
from tui.host import Host, host, key_of
from tui.screens.agents.choosing import Candidate, ChooseValue, candidates
from tui.screens.agents.drafts import Drafts
from tui.screens.agents.entries import field_of, held_at, path_of, slot_of, with_access, with_entry, without_entry
from tui.screens.agents.fields import Field
from tui.screens.agents.standing import Standing, Typing
from tui.screens.agents.status import status_parts
from tui.typed import read_back
from tui.widgets.form import Form, FormRow, Note
from tui.widgets.status_rule import StatusRule

_SETTLING_SECONDS = 0.12

Make = Callable[[Agent], Sequence[Change]]


class PermissionEditor(Vertical):
    """Edits the draft of one agent.

    Args:
        drafts: All drafts.
    """

    def __init__(self, drafts: Drafts) -> None:
        super().__init__(id="permissions")
        self._drafts = drafts
        self._alias = ""
        self._form = Form(id="form")
        self._hint = Static(id="hint", markup=False)
        self._status = StatusRule(id="status")

    def compose(self) -> ComposeResult:
        """Lay out form, hint and status."""
        yield self._form
        yield self._hint
        yield self._status

    @property
    def form(self) -> Form:
        """The form."""
        return self._form

    @property
    def _host(self) -> Host:
        return host(self)

    @property
    def _standing(self) -> Standing:
        return self._drafts.of(self._alias)

    @property
    def _agent(self) -> Agent | None:
        return self._changeable(self._alias)

    def _changeable(self, alias: str) -> Agent | None:
        """An agent as it would be, while it can be changed."""
        standing = self._drafts.of(alias)
        return standing.sheet.agent if standing.sheet is not None and standing.editable else None

    # ── showing ───────────────────────────────────────────────────────────────────────────────────────────────

    def show(self, alias: str) -> None:
        """Show an agent as its draft has it; "" shows none."""
        if alias != self._alias:
            self._form.stop_asking()
            self._alias = alias
        standing = self._standing
        self._form.read_only = not standing.editable
        self._form.show(standing.sheet.rows if standing.sheet else ())
        if standing.typing is not None and not self._form.asking and standing.sheet is not None:
            self._resume(standing.typing)
        self._status.show(status_parts(standing, partial(key_of, self)))
        self._say_hint()

    def _resume(self, typing: Typing) -> None:
        """Put back what was half typed when the operator looked elsewhere."""
        field = field_of(typing.key)
        slots = [row.slot_of(typing.entry, typing.slot) for row in self._form.rows if row.key == typing.key]
        if field is not None and slots and self._form.go_to(typing.key, slots[0]):
            self._form.ask("", placeholder=_placeholder(field), typed=typing.typed)

    def _say_hint(self) -> None:
        row = self._form.row
        typing = "enter takes it, esc leaves it as it was" if self._form.asking else ""
        self._hint.update(Content(typing or (row.help if row is not None else "")))

    @on(Form.Moved)
    def _move(self) -> None:
        self._say_hint()

    # ── changing ──────────────────────────────────────────────────────────────────────────────────────────────

    def _change(self, alias: str, make: Make) -> None:
        self._host.begin(self, "edit", self._drafts.change, alias, make)

    @on(Form.ChangeAsked)
    def _ask(self, message: Form.ChangeAsked) -> None:
        agent, row, slot = self._agent, message.row, message.slot
        path = self._path_of(row)
        if agent is None or path is None:
            return
        field = field_of(row.key)
        if field is None:
            self._change(self._alias, lambda _: [with_access(path[-1], slot)])
        elif row.kind == "choice":
            self._choose(field, agent)
        else:
            inherits = row.kind == "text" and not row.own
            text = "" if inherits else held_at(agent, field, slot) or ""
            self._form.ask(text, placeholder=_placeholder(field))

    def _path_of(self, row: FormRow) -> tuple[str, ...] | None:
        agent = self._agent
        if agent is None or agent.config is None:
            return None
        return path_of(row.key, (*self._host.pinfold.agents.by_alias, *agent.config.workspace.access))

    def _choose(self, field: Field, agent: Agent) -> None:
        alias = self._alias

        async def preview(value: Value | None) -> Sequence[Difference]:
            return await self._drafts.preview(alias, Change(field.path, value))

        def take(choice: Candidate | None) -> None:
            if choice is not None and not choice.now:
                self._change(alias, lambda _: [Change(field.path, choice.value)])

        choices = candidates(field, agent, self._host.pinfold.agents.shared)
        if choices:
            self.app.push_screen(ChooseValue(field.label, choices, preview), take)

    @on(Form.RemoveAsked)
    def _remove(self, message: Form.RemoveAsked) -> None:
        field = field_of(message.row.key)
        if field is not None:
            slot = message.slot
            entry = held_at(self._agent, field, slot) if self._agent is not None else None
            self._change(self._alias, lambda agent: without_entry(agent, field, slot, entry))

    @on(Form.ResetAsked)
    def _reset(self, message: Form.ResetAsked) -> None:
        if (path := self._path_of(message.row)) is not None:
            self._change(self._alias, lambda _: [Change(path, None)])

    # ── typing ────────────────────────────────────────────────────────────────────────────────────────────────

    @on(Form.Typed)
    def _type(self, message: Form.Typed) -> None:
        row, slot = message.row, message.slot
        self._drafts.keep_typing(self._alias, Typing(row.key, slot, message.typed, row.entry_at(slot)))
        self._host.begin(self, "trial", self._try, self._alias, message)

    @on(Form.Given)
    def _give(self, message: Form.Given) -> None:
        self._host.begin(self, "edit", self._take, self._alias, message)

    @on(Form.Dropped)
    def _drop(self) -> None:
        self._drafts.keep_typing(self._alias, None)
        self._form.stop_asking()

    async def _try(self, alias: str, message: Form.Typed) -> None:
        await asyncio.sleep(_SETTLING_SECONDS)
        await self._judge(alias, message)

    async def take_typing(self) -> bool:
        """Take what is half typed; False when it cannot be taken."""
        asked = self._form.asked
        return asked is None or await self._take(self._alias, asked)

    def go_to_trouble(self) -> None:
        """Put the cursor on the first field that cannot be saved."""
        row = next((row for row in self._form.rows if any(note.error for note in row.notes)), None)
        if row is not None:
            self._form.go_to(row.key)
            self._form.focus()

    async def _take(self, alias: str, message: Form.Typed) -> bool:
        make = await self._judge(alias, message)
        if make is None:
            return False
        self._drafts.keep_typing(alias, None)
        if alias == self._alias:
            self._form.stop_asking()
        await self._drafts.change(alias, make)
        return True

    async def _judge(self, alias: str, message: Form.Typed) -> Make | None:
        """Say at the field what is wrong with what was typed; what makes the change, None while it must not be made."""
        field, agent = field_of(message.row.key), self._changeable(alias)
        if field is None or agent is None:
            return None
        try:
            text = read_back(message.typed)
            change = with_entry(agent, field, message.slot, text)
        except ValueError as error:
            self._say_trouble(alias, (Note(str(error), entry=message.slot),))
            return None
        notes, forbidden = await self._drafts.trial(alias, change) if text else ((), False)
        self._say_trouble(alias, [note for note in notes if note.entry in (-1, message.slot)])
        entry = held_at(agent, field, message.slot)
        return (
            None if forbidden else lambda now: [with_entry(now, field, slot_of(now, field, message.slot, entry), text)]
        )

    def _say_trouble(self, alias: str, notes: Sequence[Note]) -> None:
        if alias == self._alias:
            self._form.show_trouble(notes)


def _placeholder(field: Field) -> str:
    return f"such as {field.example}" if field.example else ""
