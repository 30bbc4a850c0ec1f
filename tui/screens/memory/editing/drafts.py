"""A value being edited: what was seen, what is typed, and how it is written without losing anybody's change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from services.errors import InputRefused, NothingThere
from services.memory import MISSING, Block, from_json
from tui.figures import size
from tui.memory_log import log
from tui.screens.memory.changes.doing import Undo, change_keys, names_of
from tui.screens.memory.editing.writing import (
    EDITABLE,
    Form,
    Problem,
    pretty,
    read_typed_json,
    read_typed_text,
    typed_json,
    typed_text,
)
from tui.screens.memory.items import Item
from tui.screens.memory.operations.agents import redrafted, undo_rows
from tui.screens.memory.operations.blocks import tenant_of, undo_block
from tui.screens.memory.places import AgentRows, CoreBlocksOf, Place, ScopeKeys

if TYPE_CHECKING:
    from services.memory import Json
    from services.pinfold import Pinfold


@dataclass(frozen=True)
class Draft:
    """What is being edited.

    Attributes:
        place: Where it is.
        id: Names it there.
        name: What it is called, clean.
        form: How it is typed.
        opened: What was there when editing began: a value, an agent's row, or a text.
        seen: What is there as far as the operator knows; MISSING where nothing is.
        limit: The most characters it holds; 0 is told by whoever stores it.
    """

    place: Place
    id: str
    name: str
    form: Form
    opened: Any
    seen: Any
    limit: int = 0

    @property
    def switchable(self) -> bool:
        """Whether it can be typed as JSON and, when it is a text, as text too."""
        return isinstance(self.place, ScopeKeys)

    @property
    def value(self) -> Json:
        """What of it is edited."""
        if self.seen is MISSING:
            return ""
        return self.seen.content if isinstance(self.place, AgentRows) else self.seen

    @property
    def typed(self) -> str:
        """How it begins in the editor."""
        return typed_text(self.value) if self.form == "text" else typed_json(_json(self.value))

    def read(self, typed: str) -> Json | Problem:
        """Read what is typed."""
        if self.form == "json":
            return read_typed_json(typed)
        text = read_typed_text(typed)
        if isinstance(text, Problem):
            return text
        if self.limit and len(text) > self.limit:
            return Problem(f"{len(text):,} characters, {len(text) - self.limit:,} more than fit")
        if isinstance(self.place, AgentRows) and not text:
            return Problem("the content is empty")
        return text

    def measure(self, value: Json) -> str:
        """How long a value is, in words."""
        if self.limit:
            return f"{len(value):,} of {self.limit:,} characters"
        return size(len(value.encode(errors="replace") if self.form == "text" else _json(value))) + " bytes"


def shown(value: Any) -> str:  # noqa: ANN401
    """A value in lines, for comparing."""
    if value is MISSING:
        return ""
    if hasattr(value, "content"):
        value = value.content
    return value if isinstance(value, str) else pretty(_json(value))


def editable(place: Place | None, item: Item | None) -> bool:
    """Whether a row can be edited on this screen."""
    return item is not None and isinstance(place, ScopeKeys | AgentRows | CoreBlocksOf)


async def open_draft(pinfold: Pinfold, item: Item) -> Draft:
    """Read what is to be edited.

    Raises:
        NothingThere: It is gone.
        InputRefused: It is too large to be edited here.
    """
    found = await read_now(pinfold, item.place, item.id)
    if found is MISSING:
        raise NothingThere(f"{item.name} is not there any more")
    form: Form = "text" if not isinstance(item.place, ScopeKeys) or isinstance(found, str) else "json"
    limit = Block.parse(item.id).limit if isinstance(item.place, CoreBlocksOf) else 0
    return Draft(item.place, item.id, item.name, form, found, found, limit)


async def read_now(pinfold: Pinfold, place: Place, key: str) -> Any:  # noqa: ANN401
    """Read what is there now; MISSING where nothing is.

    Raises:
        InputRefused: It is too large to be edited here.
    """
    if isinstance(place, ScopeKeys):
        excerpt = await pinfold.memory.namespace(place.scope).excerpt(key, EDITABLE)
        if excerpt is None:
            return MISSING
        if not excerpt.whole:
            raise InputRefused(
                f"{names_of([key])} is too large to be edited here",
                why=f"it has {size(excerpt.entry.size)}, at most {size(EDITABLE)} are edited",
                fix="Replace items of a list one by one, or set it with `pinfold memory set`.",
            )
        return from_json(excerpt.text)
    if isinstance(place, AgentRows):
        return await pinfold.agent_memories.of(place.alias).get(key, place.alias) or MISSING
    blocks = pinfold.core_memory.blocks(await tenant_of(pinfold, place))
    return (await blocks.read(Block.parse(key))).content


def same(one: Any, other: Any) -> bool:  # noqa: ANN401
    """Whether two values that were read are the same; 1, 1.0 and true are not."""
    if one is MISSING or other is MISSING or hasattr(one, "content"):
        return bool(one == other)
    return _json(one) == _json(other)


async def write(pinfold: Pinfold, draft: Draft, value: Json) -> Undo | None:
    """Write a value over what was seen, and tell how to take it back.

    Raises:
        ChangedMeanwhile: Something else is there by now; nothing is written.
    """
    place, key = draft.place, draft.id
    if isinstance(place, ScopeKeys):
        _, undo = await change_keys(
            pinfold, place.scope, [key], "set", lambda keys: keys.rewrite(key, value, draft.seen)
        )
        return undo
    if isinstance(place, AgentRows):
        before = None if draft.seen is MISSING else draft.seen
        edited = redrafted(before or draft.opened, content=value, seen=before)
        after = await pinfold.agent_memories.of(place.alias).store(edited)
        return undo_rows(place.alias, f"store {names_of([key])}", [(key, before)], [after])
    blocks = pinfold.core_memory.blocks(await tenant_of(pinfold, place))
    block = await blocks.read(Block.parse(key))
    text = await blocks.write(block.block, value, draft.seen)
    await log(pinfold, "write", key, blocks.tenant.agent)
    return undo_block(blocks, msgspec.structs.replace(block, content=draft.seen), text)


def over(draft: Draft, seen: Any) -> Draft:  # noqa: ANN401
    """The same draft, begun anew over what is there by now."""
    return replace(draft, seen=seen)


def _json(value: Json) -> str:
    return msgspec.json.encode(value, order="deterministic").decode()
