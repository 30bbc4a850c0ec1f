"""Before something of an archive is brought back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.widget import Widget

from tui.screens.operations.planning import PlanDialog
from tui.text import safe
from tui.widgets.choice import Choice
from tui.widgets.field import Field
from tui.widgets.table import Column, Table, cell
from tui.widgets.typing_line import TypingLine

if TYPE_CHECKING:
    from services.archives import Archive, Reference
    from services.operations import Operations, Part, Plan

_PARTS = (("agent", "the agent"), ("config", "agent.toml"), ("memory", "its memory"), ("files", "files"))
_ROWS = 5


class RestorePlan(PlanDialog):
    """Asks what is brought back, as whom, and which dropped references are put back; shows all that would do.

    Args:
        archive: Where it is kept.
        references: Those that were dropped.
        part: What is brought back at first.
        path: The file or folder that is brought back, as it is called in the archive.
    """

    def __init__(self, archive: Archive, references: Sequence[Reference], part: Part = "agent", path: str = "") -> None:
        super().__init__(f"Restore from {safe(archive.id)}", "Restore")
        self._archive = archive
        self._offered = tuple(references)
        self._part = Choice(_PARTS, part, id="part")
        self._alias = TypingLine(placeholder=safe(archive.alias), id="target")
        self._path = TypingLine(path, placeholder="workspace", id="path")
        self._there = Choice((("keep", "is in the way"), ("replace", "is replaced")), "keep", id="there")
        self._path_field = Field("Path", self._path)
        self._there_field = Field("Existing", self._there)
        self._references: Table[Reference] = Table(self._columns(), _key, id="references")

    def choices(self) -> Iterable[Widget]:
        """Part, alias, path, what becomes of what is there, references."""
        yield Field("What", self._part)
        yield Field("Under alias", self._alias)
        yield self._path_field
        yield self._there_field
        yield self._references

    def begin_at(self) -> Widget:
        """What comes back is the first question."""
        return self._part

    def on_mount(self) -> None:
        """Offer the references."""
        self._references.styles.height = min(len(self._offered), _ROWS) + 1
        self._references.show(self._offered)
        self._show_fields()

    @on(Choice.Changed)
    def _show_fields(self) -> None:
        part = self._part.value
        self._path_field.display = part == "files"
        self._there_field.display = part != "agent"
        self._references.display = part == "agent" and bool(self._offered)

    @on(Table.MarksChanged)
    def _choose(self) -> None:
        self._references.redraw()
        self.look_ahead()

    @on(Table.Opened)
    def _toggle(self) -> None:
        self._references.action_mark()

    async def make_plan(self, operations: Operations) -> Plan:
        """Plan the restore."""
        part: Part = self._part.value  # type: ignore[assignment]
        whole = part == "agent"
        return await operations.plan_restore(
            self._archive.id,
            alias=self._alias.value.strip(),
            part=part,
            path=self._path.text.strip() if part == "files" else "",
            overwrite=not whole and self._there.value == "replace",
            references=[_key(one) for one in self._references.marked] if whole else (),
        )

    def _columns(self) -> list[Column[Reference]]:
        def box(reference: Reference) -> str:
            return "[x]" if reference in self._references.marked else "[ ]"

        return [
            Column("box", "", lambda one, _: cell(box(one), "accent"), None, 3),
            Column("file", "PUT BACK IN", lambda one, _: cell(safe(one.file[:200])), None, 12, grow=1, most=24),
            Column("key", "KEY", lambda one, _: cell(safe(one.key[:200]), "strong"), None, 16, grow=3),
            Column("value", "VALUE", lambda one, _: cell(safe(one.value[:200]), "muted"), None, 10, grow=2, drop=1),
        ]


def _key(reference: Reference) -> str:
    """How a plan names a dropped reference."""
    return f"{reference.file}:{reference.key}"
