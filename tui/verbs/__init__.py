"""The verbs of the command, one module a group; each is imported when it is called."""

from __future__ import annotations

VERBS: dict[str, tuple[str, str]] = {
    "init": ("tui.verbs.init", "Make a home."),
    "doctor": ("tui.verbs.doctor", "Check engines, home, versions and terminal."),
    "agents": ("tui.verbs.agents", "List, show, check, create, enable, disable and change agents."),
    "policy": ("tui.verbs.policy", "Show what an agent may do, and why."),
    "run": ("tui.verbs.run", "Run an agent in a sandbox and print its output."),
    "sessions": ("tui.verbs.sessions", "List sessions, read their output, stop and remove them."),
    "memory": ("tui.verbs.memory", "Read and change what users, teams, chats and contexts remember."),
    "approvals": ("tui.verbs.approvals", "List and answer the calls of tools that wait for an operator."),
    "rename": ("tui.verbs.operations.rename", "Give an agent another alias, with all that is its own."),
    "delete": ("tui.verbs.operations.delete", "Delete an agent, and keep all that is its own in an archive."),
    "archives": ("tui.verbs.operations.archives", "List, verify, compare, restore and purge what was kept."),
    "operations": ("tui.verbs.operations.operations", "List renames, deletes and restores, and retry them."),
    "activity": ("tui.verbs.activity", "Print what operators, agents and Pinfold did."),
    "serve-tools": ("tui.verbs.serve_tools", "Serve agents' memory tools over MCP."),
    "schema": ("tui.verbs.schema", "Print the JSON Schemas of agent.toml and pinfold.toml."),
}
"""Each verb with the module that holds it as `command`, and its line in the help."""

__all__ = ["VERBS"]
