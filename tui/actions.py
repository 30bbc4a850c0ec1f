"""Every action of the screens, once: it feeds bindings, footer, command palette, help and the README's key table.

Imports no Textual, so that the command line can print the table at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """Where an action works; the value is the heading it stands under."""

    EVERYWHERE = "everywhere"
    LIST = "in any list"
    FORM = "in a form"
    AGENTS = "screen 1, agents"
    MEMORY = "screen 2, memory"
    SANDBOXES = "screen 3, sandboxes"
    ARCHIVES = "screen 4, archives"
    LOG = "in a log pane"
    ACTIVITY = "in the activity drawer"
    APPROVALS = "while answering approvals"


_SCREENS = (Scope.AGENTS, Scope.MEMORY, Scope.SANDBOXES, Scope.ARCHIVES)

NESTINGS: tuple[frozenset[Scope], ...] = (
    frozenset({Scope.EVERYWHERE, Scope.SANDBOXES, Scope.LOG}),
    *(frozenset({Scope.EVERYWHERE, screen, Scope.LIST}) for screen in _SCREENS),
    frozenset({Scope.EVERYWHERE, Scope.AGENTS, Scope.FORM}),
    *(frozenset({Scope.EVERYWHERE, screen, Scope.ACTIVITY, Scope.LIST}) for screen in _SCREENS),
    frozenset({Scope.APPROVALS, Scope.LIST}),
)
"""Which scopes can be active at the same moment, so which actions may not share a key."""


@dataclass(frozen=True)
class Action:
    """Something an operator can do.

    Attributes:
        id: `<noun>.<verb>`, what `[interface.keys]` of pinfold.toml names. Fixed for good.
        label: One or two words for footer and palette.
        help: What it does, one sentence without a full stop.
        keys: Textual's names of the default keys; the first is the one shown.
        scope: Where it works.
        rank: Place in the footer, small ones first; 0 keeps it out of the footer.
        method: The node's `action_<method>`; "" is the verb of `id`.
    """

    id: str
    label: str
    help: str
    keys: tuple[str, ...]
    scope: Scope
    rank: int = 0
    method: str = ""

    @property
    def call(self) -> str:
        """The name of the action as Textual calls it."""
        return self.method or self.id.partition(".")[2]


ACTIONS: tuple[Action, ...] = (
    # everywhere
    Action("app.agents", "agents", "Show the agents", ("1",), Scope.EVERYWHERE, method="screen('agents')"),
    Action("app.memory", "memory", "Show what agents remember", ("2",), Scope.EVERYWHERE, method="screen('memory')"),
    Action(
        "app.sandboxes",
        "sandboxes",
        "Show sessions and their output",
        ("3",),
        Scope.EVERYWHERE,
        method="screen('sandboxes')",
    ),
    Action("app.archives", "archives", "Show archives", ("4",), Scope.EVERYWHERE, method="screen('archives')"),
    Action(
        "app.activity",
        "activity",
        "Open or close the activity drawer: who did what, when",
        ("a",),
        Scope.EVERYWHERE,
        80,
    ),
    Action(
        "app.approvals", "answer", "Answer what agents ask: calls that wait for your word", ("A",), Scope.EVERYWHERE, 1
    ),
    Action(
        "app.commands",
        "commands",
        "Find any action, agent, session or theme by name",
        ("ctrl+p",),
        Scope.EVERYWHERE,
        90,
        method="command_palette",
    ),
    Action("app.help", "help", "Show the keys that work here", ("question_mark",), Scope.EVERYWHERE, 91),
    Action(
        "app.back", "back", "Close what is open, or go one step back", ("escape",), Scope.EVERYWHERE, method="leave"
    ),
    Action("app.focus_next", "next pane", "Move to the next pane", ("tab",), Scope.EVERYWHERE),
    Action("app.focus_previous", "previous pane", "Move to the pane before", ("shift+tab",), Scope.EVERYWHERE),
    Action("app.engines", "check engines", "Ask every engine again whether it answers", ("r",), Scope.EVERYWHERE),
    Action(
        "app.quit", "quit", "Leave Pinfold; sessions go on without it", ("q", "ctrl+q"), Scope.EVERYWHERE, method="quit"
    ),
    # in any list
    Action("list.down", "down", "Go one row down", ("j", "down"), Scope.LIST),
    Action("list.up", "up", "Go one row up", ("k", "up"), Scope.LIST),
    Action("list.page_down", "page down", "Go one page down", ("pagedown", "ctrl+f"), Scope.LIST),
    Action("list.page_up", "page up", "Go one page up", ("pageup", "ctrl+b"), Scope.LIST),
    Action("list.top", "first", "Go to the first row", ("g", "home"), Scope.LIST),
    Action("list.bottom", "last", "Go to the last row", ("G", "end"), Scope.LIST),
    Action("list.open", "open", "Open the row", ("enter",), Scope.LIST, 20),
    Action("list.mark", "mark", "Mark the row for an action on many", ("space",), Scope.LIST, 60),
    Action("list.mark_all", "mark all", "Mark every row shown, or none", ("asterisk",), Scope.LIST),
    Action("list.filter", "filter", "Show only rows that contain a text", ("slash",), Scope.LIST, 50),
    Action("list.sort", "sort", "Sort by the next column", ("S",), Scope.LIST),
    Action("list.reverse", "reverse", "Reverse the order", ("R",), Scope.LIST),
    # in a form
    Action("field.down", "down", "Go to the next field", ("j", "down"), Scope.FORM),
    Action("field.up", "up", "Go to the field before", ("k", "up"), Scope.FORM),
    Action("field.right", "right", "Go to the next entry of the field", ("l", "right"), Scope.FORM),
    Action("field.left", "left", "Go to the entry before", ("h", "left"), Scope.FORM),
    Action("field.page_down", "page down", "Go some fields down", ("pagedown", "ctrl+f"), Scope.FORM),
    Action("field.page_up", "page up", "Go some fields up", ("pageup", "ctrl+b"), Scope.FORM),
    Action("field.top", "first", "Go to the first field", ("g", "home"), Scope.FORM),
    Action("field.bottom", "last", "Go to the last field", ("G", "end"), Scope.FORM),
    Action("field.change", "change", "Change the value or the entry", ("enter", "space"), Scope.FORM, 5),
    Action("field.add", "add", "Add an entry to the list", ("plus",), Scope.FORM, 6),
    Action("field.remove", "remove", "Take the entry out of the list", ("d", "delete"), Scope.FORM, 7),
    Action("field.reset", "inherit", "Take the profile's or the usual value again", ("backspace",), Scope.FORM, 8),
    # agents
    Action("agent.start", "start", "Start a session of this agent", ("s",), Scope.AGENTS, 10),
    Action("agent.create", "new agent", "Make a new agent", ("n",), Scope.AGENTS, 12),
    Action("agent.switch", "enable/disable", "Allow or forbid starting this agent", ("e",), Scope.AGENTS, 14),
    Action("agent.problem", "next problem", "Go to the next problem in the source", ("p",), Scope.AGENTS, 16),
    Action("agent.next_tab", "next tab", "Show the next tab of the agent", ("right_square_bracket",), Scope.AGENTS),
    Action("agent.previous_tab", "tab before", "Show the tab before", ("left_square_bracket",), Scope.AGENTS),
    Action("agent.save", "save", "Look at the changes of this agent, then write them", ("ctrl+s",), Scope.AGENTS, 2),
    Action("agent.compare", "compare", "Choose between your changes and the file's", ("c",), Scope.AGENTS, 3),
    Action("agent.undo", "undo save", "Write the file again as it was before it was saved", ("u",), Scope.AGENTS, 4),
    Action("agent.discard", "drop changes", "Forget the changes that are not saved", ("X",), Scope.AGENTS, 40),
    Action("agent.try", "try", "Try what the agent may do: a path, a command, a host", ("t",), Scope.AGENTS, 42),
    Action("agent.rename", "rename", "Rename the agent; shows first what that changes", ("m",), Scope.AGENTS, 44),
    Action("agent.delete", "delete", "Delete the agent, and keep all of it in an archive", ("D",), Scope.AGENTS, 46),
    Action("agent.restore", "undo delete", "Restore the agent that was deleted last", ("U",), Scope.AGENTS, 1),
    # memory
    Action("memory.new", "new", "Set a key, store a row, or put an entry into the archive", ("n",), Scope.MEMORY, 10),
    Action("memory.edit", "edit", "Edit the value, checked while it is typed", ("e",), Scope.MEMORY, 12),
    Action("memory.save", "save", "Look at the difference, then write it", ("ctrl+s",), Scope.MEMORY, 2),
    Action("memory.undo", "undo", "Take the last change back, with value and time left", ("u",), Scope.MEMORY, 13),
    Action(
        "memory.operate", "more", "Everything else that can be done: count, push, pop, fork", ("o",), Scope.MEMORY, 14
    ),
    Action("memory.expire", "time", "Change how long the key lives", ("t",), Scope.MEMORY, 16),
    Action("memory.increase", "count up", "Add to the counter", ("plus",), Scope.MEMORY),
    Action("memory.decrease", "count down", "Subtract from the counter", ("minus",), Scope.MEMORY),
    Action("memory.pin", "pin", "Keep the row from hygiene, or no longer", ("p",), Scope.MEMORY, 17),
    Action("memory.search", "search", "Search scopes, agents, core blocks and archives", ("s",), Scope.MEMORY, 18),
    Action("memory.delete", "delete", "Delete the row, or all marked", ("D", "delete"), Scope.MEMORY, 30),
    Action("memory.delete_matching", "delete matching", "Delete the keys of a pattern", ("M",), Scope.MEMORY),
    Action("memory.clear", "clear", "Delete every key of the scope", ("C",), Scope.MEMORY),
    Action("memory.move", "re-scope", "Move the key, or all marked, to another scope", ("m",), Scope.MEMORY, 32),
    Action("memory.reveal", "secrets", "Show secrets, or hide them", ("v",), Scope.MEMORY, 34),
    Action("memory.export", "export", "Write keys or rows to a file, as JSON Lines", ("E",), Scope.MEMORY),
    Action("memory.take_in", "import", "Read keys or rows from a file", ("I",), Scope.MEMORY),
    Action("memory.snapshot", "snapshot", "Write everything in the scope to a file", ("w",), Scope.MEMORY),
    Action("memory.restore", "restore", "Replace everything in the scope by a snapshot", ("W",), Scope.MEMORY),
    Action("memory.stop", "stop file", "Stop the export or import", ("K",), Scope.MEMORY, 3),
    # sandboxes
    Action(
        "session.start",
        "start",
        "Start a session: choose agent, engine, lifecycle, prompt",
        ("s",),
        Scope.SANDBOXES,
        10,
    ),
    Action(
        "session.stop",
        "stop",
        "Stop one or all marked: interrupt, terminate, kill",
        ("x",),
        Scope.SANDBOXES,
        30,
    ),
    Action("session.interrupt", "interrupt", "Send an interrupt, as ctrl+c would", ("I",), Scope.SANDBOXES),
    Action("session.kill", "kill", "Kill the session, or all marked, at once", ("K",), Scope.SANDBOXES, 32),
    Action(
        "session.remove",
        "remove",
        "Remove the session, or all marked, with its output",
        ("D", "delete"),
        Scope.SANDBOXES,
        34,
    ),
    Action("session.shell", "shell", "Open a shell inside the sandbox", ("exclamation_mark",), Scope.SANDBOXES, 36),
    Action("session.details", "details", "Show or hide steps, mounts and limits", ("v",), Scope.SANDBOXES, 38),
    Action("pane.split", "split", "Add a log pane, up to four", ("o",), Scope.SANDBOXES, 70),
    Action("pane.close", "close pane", "Close the log pane", ("O",), Scope.SANDBOXES),
    # archives
    Action("archive.verify", "verify", "Recompute every checksum of the archive", ("v",), Scope.ARCHIVES, 10),
    Action("archive.compare", "compare", "Set the archive against an agent or another one", ("c",), Scope.ARCHIVES, 12),
    Action("archive.restore", "restore", "Bring back the agent, or a part of it", ("u",), Scope.ARCHIVES, 14),
    Action("archive.retry", "retry", "Complete what failed or was interrupted", ("t",), Scope.ARCHIVES, 2),
    Action("archive.stop", "stop", "Stop the operation or the verification", ("x",), Scope.ARCHIVES, 3),
    Action("archive.narrow", "narrow", "Show only one kind, agent, state or age", ("n",), Scope.ARCHIVES, 30),
    Action("archive.purge", "purge", "Remove archives for good", ("D", "delete"), Scope.ARCHIVES, 40),
    Action("archive.expire", "retention", "List what is older or larger than asked", ("e",), Scope.ARCHIVES, 42),
    Action("archive.next_tab", "next tab", "Show the next tab", ("right_square_bracket",), Scope.ARCHIVES),
    Action("archive.previous_tab", "tab before", "Show the tab before", ("left_square_bracket",), Scope.ARCHIVES),
    # in a log pane
    Action("log.follow", "follow", "Follow the newest output, or stay", ("f",), Scope.LOG, 20),
    Action("log.pause", "pause", "Stop drawing new output, or go on", ("space",), Scope.LOG),
    Action("log.search", "search", "Find a text or regular expression", ("slash",), Scope.LOG, 22),
    Action("log.next", "next hit", "Go to the next hit", ("n",), Scope.LOG, 23),
    Action("log.previous", "hit before", "Go to the hit before", ("N",), Scope.LOG),
    Action(
        "log.filter", "filter", "Show only lines that match, by text, stream or level", ("ampersand",), Scope.LOG, 24
    ),
    Action("log.next_error", "next error", "Go to the next line that reports an error", ("e",), Scope.LOG, 26),
    Action("log.previous_error", "error before", "Go to the error before", ("E",), Scope.LOG),
    Action("log.wrap", "wrap", "Wrap long lines, or cut them", ("w",), Scope.LOG, 27),
    Action("log.times", "times", "Show or hide when each line came", ("t",), Scope.LOG, 28),
    Action("log.open", "whole line", "Show one line whole, however long", ("enter",), Scope.LOG),
    Action("log.select", "select", "Begin to select lines, or select none", ("V",), Scope.LOG),
    Action("log.copy", "copy", "Copy the selection, or the line", ("c",), Scope.LOG),
    Action("log.copy_visible", "copy screen", "Copy the lines in sight", ("C",), Scope.LOG, method="copy('visible')"),
    Action("log.copy_last", "copy newest", "Copy the newest 100 lines", ("Y",), Scope.LOG, method="copy('last')"),
    Action("log.save", "save", "Save the output to a file", ("ctrl+s",), Scope.LOG),
    # in the activity drawer
    Action(
        "activity.narrow",
        "this one only",
        "Show only what concerns the chosen session or agent",
        ("f",),
        Scope.ACTIVITY,
        20,
    ),
    # while answering approvals
    Action("approval.allow", "allow once", "Allow this call", ("y",), Scope.APPROVALS),
    Action(
        "approval.allow_session",
        "whole session",
        "Allow this call, and ask no more for its tool in this session",
        ("s",),
        Scope.APPROVALS,
    ),
    Action("approval.refuse", "refuse", "Refuse this call, and say why if you like", ("r",), Scope.APPROVALS),
    Action("approval.next", "next", "Go to the next call that waits", ("n",), Scope.APPROVALS),
)

BY_ID: dict[str, Action] = {action.id: action for action in ACTIONS}

_KEY_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "asterisk": "*",
    "plus": "+",
    "minus": "-",
    "backspace": "⌫",
    "ampersand": "&",
    "exclamation_mark": "!",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "enter": "⏎",
    "escape": "esc",
    "space": "space",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "delete": "del",
}


def in_scope(scope: Scope) -> tuple[Action, ...]:
    """The actions that belong to one scope, in the order they are listed."""
    return tuple(action for action in ACTIONS if action.scope is scope)


def key_name(key: str, *, ascii_only: bool = False) -> str:
    """Write a key as people read it: `slash` as `/`, `ctrl+p` as `^p`.

    Args:
        key: Textual's name of one key.
        ascii_only: Use words where there would be an arrow.
    """
    *modifiers, plain = key.split("+")
    name = _KEY_NAMES.get(plain, plain)
    if ascii_only and not name.isascii():
        name = plain
    prefix = "".join("^" if modifier == "ctrl" else f"{modifier}+" for modifier in modifiers)
    return prefix + name


def key_table() -> str:
    """All actions with their default keys as Markdown tables, a table for each scope; the README holds exactly this."""
    parts: list[str] = []
    for scope in Scope:
        rows = [f"| {_markdown_keys(action)} | {action.help} |" for action in in_scope(scope)]
        if rows:
            parts.append("\n".join([f"| {scope} | |", "| --- | --- |", *rows]))
    return "\n\n".join(parts) + "\n"


def _markdown_keys(action: Action) -> str:
    return " ".join(f"`{key_name(key)}`" for key in action.keys)
