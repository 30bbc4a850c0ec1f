"""No stored secret reaches the screen, a toast or a dialog before anybody asks for it, by whatever way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from textual.screen import ModalScreen

from services.memory import Block, Draft, Scope, StepType
from tests.tui.conftest import shown
from tests.tui.screens.memory.conftest import USER, Desk
from tui.screens.dialog import Confirm
from tui.screens.memory.editing.saving import ResolveConflict, SaveChange
from tui.screens.memory.operations.choosing import OperationForm
from tui.screens.memory.places import AgentRows, ArchiveOf, CoreBlocksOf, OpenContexts, ScopeKeys, StepsOf

BODY = "k7Qx" * 9
TOKEN = f"ghp_{BODY}"
LONG = f"eyJ{BODY}{'Zm9vYmFy0' * 40}.eyJ{'Zm9vYmFy0' * 40}{BODY}.{BODY}"
"""Longer than what a table shows of a value, so that only its beginning is ever read there."""

SECRETS = pytest.mark.parametrize("secret", [TOKEN, LONG], ids=["short", "long"])


def leaks(desk: Desk) -> list[str]:
    """What of the secrets can be read now, or was told."""
    seen = "\n".join((shown(desk.app), *desk.told))
    return [part for part in (BODY[:8], BODY[1:9], BODY[2:10], BODY[3:11], "Zm9vYmFy") if part in seen]


@pytest.fixture
async def places(desk: Desk, secret: str) -> dict[str, Any]:
    """Places of each kind with the secret in all that is drawn of them."""
    await desk.keys().set_many({"plain": f"token: {secret}", secret: 1, "list": [secret], "object": {"token": secret}})
    await desk.keys(f"chat:{secret}").set("a", 1)
    await desk.memory().store(Draft(key=f"row {secret}", content=f"it is {secret}", session=secret))
    core = desk.pinfold.core_memory
    tenant = await core.tenants.of_agent("reviewer")
    await core.blocks(tenant).rethink(Block.HUMAN, f"it is {secret}", f"because of {secret}")
    await core.archive(tenant).insert(f"it is {secret}")
    contexts = desk.pinfold.memory.contexts
    context = await contexts.open(chat=secret)
    await desk.keys(f"context:{context.id}").set("a", secret)
    await contexts.begin(context.id, StepType.LLM, {"prompt": f"use {secret}"})
    await desk.screen._reading.read_tree()
    return {
        "keys": ScopeKeys(USER),
        "scope": ScopeKeys(Scope.parse(f"chat:{secret}")),
        "rows": AgentRows("reviewer"),
        "blocks": CoreBlocksOf(tenant, "reviewer"),
        "archive": ArchiveOf(tenant, "reviewer"),
        "contexts": OpenContexts(),
        "steps": StepsOf(context.id),
    }


@SECRETS
async def test_tree_table_and_viewer_hide_it(desk: Desk, places: dict[str, Any]) -> None:
    for kind, place in places.items():
        await desk.show(place)
        for _ in range(desk.table.total):
            await desk.until(lambda: desk.viewer.item is not None and desk.viewer.item.key == desk.table.row.key)
            assert leaks(desk) == [], kind
            desk.table.action_down()


@SECRETS
async def test_a_search_hides_what_it_finds(desk: Desk, places: dict[str, Any]) -> None:
    desk.screen._reading.search = "it"
    desk.screen._search("it")
    await desk.until(lambda: desk.table.total >= 2)
    assert leaks(desk) == []


@dataclass(frozen=True)
class Reading:
    """An operation that shows what it reads, and the kind of place and the row it is done to."""

    operation: str
    place: tuple[str, str]
    typed: tuple[tuple[str, str], ...] = ()


READINGS = [
    Reading("get-many", ("keys", "plain"), (("keys", '["plain", "object"]'),)),
    Reading("array-get", ("keys", "list"), (("key", "list"),)),
    Reading("array-page", ("keys", "list"), (("key", "list"),)),
    Reading("history", ("blocks", "human")),
    Reading("archive-search", ("archive", ""), (("words", "it"),)),
    Reading("step-keys", ("steps", "")),
    Reading("pop", ("keys", "list"), (("key", "list"),)),
]


@pytest.mark.parametrize("secret", [TOKEN])
async def test_what_an_operation_reads_is_hidden(desk: Desk, places: dict[str, Any]) -> None:
    for reading in READINGS:
        kind, item = reading.place
        await desk.show(places[kind], item)
        await desk.operate(reading.operation, **dict(reading.typed))
        form: Any = desk.app.screen
        assert isinstance(form, OperationForm)
        await desk.until(lambda form=form: form._lines.display and form._lines._lines)
        await desk.until_shown("••••[")
        assert leaks(desk) == [], reading.operation
        form.action_leave()
        await desk.until_closed()


async def told(desk: Desk, *keys: str) -> None:
    before = len(desk.told)
    await desk.press(*keys)
    await desk.until(lambda: len(desk.told) > before)


@pytest.mark.parametrize(
    ("scope", "key", "asking"), [("user:42", TOKEN, "DtomM"), (f"chat:{TOKEN}", "a", "EwWmC")], ids=["key", "scope"]
)
async def test_a_name_that_is_a_secret_is_hidden_in_dialogs(desk: Desk, scope: str, key: str, asking: str) -> None:
    await desk.keys(scope).set(key, 1)
    await desk.show(Scope.parse(scope), key)
    for pressed in asking:
        await desk.press(pressed)
        await desk.until(lambda: isinstance(desk.app.screen, ModalScreen) and desk.app.screen.query("#box"))
        await desk.pilot.pause()
        assert leaks(desk) == [], pressed
        desk.app.pop_screen()
        await desk.until_closed()


async def test_a_key_that_is_a_secret_is_hidden_in_what_is_told_of_it(desk: Desk) -> None:
    await desk.keys().set(TOKEN, 1)
    await desk.show(USER, TOKEN)
    await told(desk, "plus")
    await told(desk, "u")
    await told(desk, "plus")
    await desk.keys().set(TOKEN, 9)
    await desk.press("u")
    await desk.until(lambda: isinstance(desk.app.screen, Confirm))
    assert leaks(desk) == []
    await desk.press("escape")
    await desk.until_closed()
    await desk.operate("push", values="[1]")
    await desk.until(lambda: "is not a list" in shown(desk.app))
    assert leaks(desk) == []


async def test_a_form_still_means_the_key_that_it_hides(desk: Desk) -> None:
    await desk.keys().set(TOKEN, 1)
    await desk.show(USER, TOKEN)
    await desk.operate("expire", ttl="60")
    await desk.until_closed()
    entry = await desk.keys().entry(TOKEN)
    assert entry is not None
    assert entry.expires_at is not None
    assert leaks(desk) == []


@pytest.mark.parametrize("row", [True, False], ids=["row", "key"])
async def test_editing_asks_first_wherever_the_secret_is(desk: Desk, row: bool) -> None:
    text = f"{'word ' * 500}{TOKEN}"
    await (desk.memory().store(Draft(key="a", content=text)) if row else desk.keys().set("a", text))
    await desk.show(AgentRows("reviewer") if row else USER)
    await desk.press("e")
    await desk.until(lambda: isinstance(desk.app.screen, Confirm))
    await desk.until_shown("the scan found: api key")
    assert desk.viewer.draft is None
    assert leaks(desk) == []


async def test_the_differences_before_saving_and_of_a_conflict_are_hidden(desk: Desk) -> None:
    await desk.keys().set("a", {"token": TOKEN, "n": 1})
    await desk.show(USER)
    await desk.press("e")
    await desk.until(lambda: isinstance(desk.app.screen, Confirm))
    await desk.press("right", "enter")
    await desk.until(lambda: desk.viewer.draft is not None and desk.viewer._editor.has_focus)
    desk.viewer._editor.show_instead(f'{{"token": "{TOKEN}", "n": 2}}', "json")
    desk.viewer.display = False  # what is typed is shown, and was asked for
    await desk.press("ctrl+s")
    await desk.until(lambda: isinstance(desk.app.screen, SaveChange))
    assert leaks(desk) == []
    await desk.keys().set("a", {"token": TOKEN, "n": 3})
    await desk.press("enter")
    await desk.until(lambda: isinstance(desk.app.screen, ResolveConflict))
    assert leaks(desk) == []
    desk.viewer.display = True


async def test_it_is_shown_when_asked_for_and_hidden_again_on_another_screen(desk: Desk) -> None:
    await desk.keys().set("a", TOKEN)
    await desk.show(USER)
    await desk.press("v")
    await desk.until(lambda: TOKEN in shown(desk.app))
    await desk.press("1")
    await desk.press("2")
    await desk.until(lambda: TOKEN not in shown(desk.app) and "••••" in shown(desk.app))
