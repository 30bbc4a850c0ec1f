"""Keys: Textual's bindings made from the actions, and the operator's own keys checked before they are used."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from textual.binding import Binding, BindingType

from tui.actions import ACTIONS, BY_ID, NESTINGS, Action, Scope, in_scope, key_name

RESERVED = frozenset({"ctrl+c", "ctrl+z", "escape", "enter", "tab", "shift+tab", "up", "down", "left", "right"})
"""Keys that keep their meaning whatever `[interface.keys]` says."""

_PRIORITY = frozenset({"app.commands"})
_NAMED = {
    "?": "question_mark",
    "/": "slash",
    "*": "asterisk",
    "&": "ampersand",
    "!": "exclamation_mark",
    "[": "left_square_bracket",
    "]": "right_square_bracket",
    "+": "plus",
    "-": "minus",
    ".": "full_stop",
    ":": "colon",
    ";": "semicolon",
    "<": "less_than_sign",
    ">": "greater_than_sign",
    "=": "equals_sign",
    "#": "number_sign",
    "@": "at",
    "%": "percent_sign",
    "|": "vertical_line",
    "~": "tilde",
    " ": "space",
    "esc": "escape",
    "del": "delete",
}


def bindings(scope: Scope) -> list[BindingType]:
    """The bindings of the node that carries out the actions of `scope`; its class has an `action_…` for each."""
    return [
        Binding(
            ",".join(action.keys),
            action.call,
            action.label,
            id=action.id,
            show=bool(action.rank),
            tooltip=action.help,
            priority=action.id in _PRIORITY,
        )
        for action in in_scope(scope)
    ]


@dataclass(frozen=True)
class Keymap:
    """The operator's keys, checked.

    Attributes:
        keys: By the action's id, in Textual's form; holds only what is sound.
        problems: What was left out and why, one sentence each.
    """

    keys: dict[str, str]
    problems: tuple[str, ...]

    def of(self, action: Action) -> tuple[str, ...]:
        """The keys of an action now."""
        chosen = self.keys.get(action.id)
        return tuple(chosen.split(",")) if chosen else action.keys


def check_keymap(wanted: Mapping[str, str]) -> Keymap:
    """Take over from `[interface.keys]` what is sound, and say what is not.

    Args:
        wanted: Keys by action id; several keys are separated by spaces or commas, as in `"x, ctrl+x"`.
    """
    problems: list[str] = []
    chosen: dict[str, tuple[str, ...]] = {}
    for action_id, text in wanted.items():
        action = BY_ID.get(action_id)
        if action is None:
            near = difflib.get_close_matches(action_id, BY_ID, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            problems.append(f"[interface.keys] names no action of Pinfold: {action_id}{hint}")
            continue
        keys = tuple(_textual_key(part) for part in text.replace(",", " ").split()) if text != "," else ("comma",)
        reserved = [key for key in keys if key in RESERVED and key not in action.keys]
        if not keys:
            problems.append(f"{action_id} has no key: leave the line out to keep {key_name(action.keys[0])}")
        elif reserved:
            problems.append(f"{action_id} cannot use {key_name(reserved[0])}: that key is reserved")
        else:
            chosen[action_id] = keys
    for clash, first, second, key in iter(lambda: _first_clash(chosen), None):
        problems.append(f"{clash} cannot use {key_name(key)}: {first if clash == second else second} has it already")
        del chosen[clash]
    return Keymap({action_id: ",".join(keys) for action_id, keys in chosen.items()}, tuple(problems))


def _textual_key(text: str) -> str:
    *modifiers, plain = text.split("+") if text != "+" else [text]
    return "+".join([*modifiers, _NAMED.get(plain, plain)])


def _first_clash(chosen: Mapping[str, tuple[str, ...]]) -> tuple[str, str, str, str] | None:
    """Find two actions that share a key where both work: the one to leave out, the two ids, the key."""
    for nesting in NESTINGS:
        owners: dict[str, str] = {}
        for action in ACTIONS:
            if action.scope not in nesting:
                continue
            for key in chosen.get(action.id, action.keys):
                owner = owners.setdefault(key, action.id)
                if owner != action.id:
                    return (action.id if action.id in chosen else owner), owner, action.id, key
    return None
