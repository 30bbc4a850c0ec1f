"""Verbs that take a program with its arguments behind `--`."""

from __future__ import annotations

import click

_KEY = "pinfold.command"


class CommandAfterDashes(click.Command):
    """Sets aside what follows `--`, so that its options are not taken for the verb's own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Set the command aside before the rest is read."""
        if "--" in args:
            position = args.index("--")
            ctx.meta[_KEY] = tuple(args[position + 1 :])
            args = args[:position]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Show it in the usage line."""
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND...]"]


def command_after_dashes() -> tuple[str, ...]:
    """What the verb that runs was given behind `--`."""
    command: tuple[str, ...] = click.get_current_context().meta.get(_KEY, ())
    return command
