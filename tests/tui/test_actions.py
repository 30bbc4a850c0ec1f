"""Every action stands once in the registry, and everything else follows from it."""

from __future__ import annotations

import inspect
import re
from typing import cast

import pytest
from textual.app import App
from textual.dom import DOMNode

from tui.actions import ACTIONS, NESTINGS, Scope, in_scope, key_name, key_table
from tui.app import PinfoldApp
from tui.screens.agents import AgentsScreen
from tui.screens.approvals import ApprovalsDialog
from tui.screens.archives import ArchivesScreen
from tui.screens.memory import MemoryScreen
from tui.screens.sandboxes import SandboxesScreen
from tui.widgets.activity_drawer import ActivityDrawer
from tui.widgets.form import Form
from tui.widgets.log_pane import LogPane
from tui.widgets.table import Table

NODES: dict[Scope, type[DOMNode]] = {
    Scope.EVERYWHERE: PinfoldApp,
    Scope.LIST: Table,
    Scope.FORM: Form,
    Scope.AGENTS: AgentsScreen,
    Scope.MEMORY: MemoryScreen,
    Scope.SANDBOXES: SandboxesScreen,
    Scope.ARCHIVES: ArchivesScreen,
    Scope.LOG: LogPane,
    Scope.ACTIVITY: ActivityDrawer,
    Scope.APPROVALS: ApprovalsDialog,
}


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.id)
def test_every_action_is_carried_out_by_the_node_of_its_scope(action) -> None:
    name = re.sub(r"\(.*", "", action.call)
    method = getattr(NODES[action.scope], f"action_{name}", None)
    assert callable(method), f"{NODES[action.scope].__name__} has no action_{name}"


@pytest.mark.parametrize("scope", NODES, ids=lambda scope: scope.name.lower())
def test_every_action_of_a_scope_is_bound_under_its_id(scope) -> None:
    bound = {binding.id for _, binding in NODES[scope]._merge_bindings() if binding.id}
    assert {action.id for action in in_scope(scope)} <= bound


def test_ids_are_unique_and_say_noun_and_verb() -> None:
    ids = [action.id for action in ACTIONS]
    assert len(ids) == len(set(ids))
    assert [action_id for action_id in ids if not re.fullmatch(r"[a-z]+\.[a-z_]+", action_id)] == []


def test_no_two_actions_that_work_at_once_share_a_key() -> None:
    for nesting in NESTINGS:
        keys = [key for action in ACTIONS if action.scope in nesting for key in action.keys]
        assert sorted(keys) == sorted(set(keys))


def test_every_action_says_what_it_does_in_one_clause() -> None:
    assert [action.id for action in ACTIONS if not action.help[0].isupper() or action.help.endswith(".")] == []


@pytest.mark.parametrize(
    ("key", "shown", "plain"),
    [
        ("question_mark", "?", "?"),
        ("ctrl+p", "^p", "^p"),
        ("K", "K", "K"),
        ("enter", "⏎", "enter"),
        ("shift+tab", "shift+tab", "shift+tab"),
        ("down", "↓", "down"),
    ],
    ids=lambda value: value,
)
def test_keys_are_written_as_people_read_them(key, shown, plain) -> None:
    assert key_name(key) == shown
    assert key_name(key, ascii_only=True) == plain


def test_the_key_table_holds_every_action_once() -> None:
    table = key_table()
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) == len(ACTIONS)
    assert table.endswith("|\n")


def test_no_binding_of_ours_is_written_outside_the_registry_with_an_id() -> None:
    """Bindings beside the registry (arrows in a form) have no id, so nobody can mistake them for actions."""
    for node in {*NODES.values(), App}:
        source = inspect.getsource(cast("type", node))
        assert re.findall(r"Binding\([^)]*\bid=", source) == []
