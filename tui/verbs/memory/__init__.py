"""`pinfold memory`: what is remembered of users, teams, chats and contexts, and by agents."""

from __future__ import annotations

import click

from tui.verbs.memory import agent_memory, copies, embedding, keys, lists, recalling, steps

__all__ = ["command"]


@click.group("memory")
def command() -> None:
    """Read and change what is remembered under SCOPE:ID, such as user:42; scopes: user, team, chat, context.

    A VALUE is JSON; what does not look like JSON is a text, and - reads it from standard input. A time is seconds, or
    text such as 30m, or never; without one a new key of a chat lives 24 hours, of a context 30 minutes, else for ever.
    """


for part in (keys.VERBS, lists.VERBS, copies.VERBS, steps.VERBS, recalling.VERBS, embedding.VERBS, agent_memory.VERBS):
    for verb in part:
        command.add_command(verb)
