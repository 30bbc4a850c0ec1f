"""The `pinfold` command as click sees it: its options, its verbs, and how it fails."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import click

from services import __version__
from tui.invocation import Invocation
from tui.verbs import VERBS

FAILED = 1
USAGE = 2
INTERRUPTED = 130


class Pinfold(click.Group):
    """The command; a verb's module is imported when the verb is called, and none of them for the help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the verbs."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb."""
        if cmd_name not in VERBS:
            return None
        module, _ = VERBS[cmd_name]
        command: click.Command = import_module(module).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, line) for name, (_, line) in VERBS.items()])


@click.group(
    cls=Pinfold,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    subcommand_metavar="[VERB [ARGS]...]",
)
@click.option("--home", metavar="DIR", help="The home to work on; else $PINFOLD_HOME, else ~/.pinfold.")
@click.option("--demo", is_flag=True, help="Open a throw-away home with example agents, removed when you quit.")
@click.option("--version", is_flag=True, help="Print the version.")
@click.pass_context
def pinfold(context: click.Context, home: str | None, demo: bool, version: bool) -> int:
    """A control room, in a terminal, for AI agents that work in sandboxes.

    Without a verb it opens the screens. Every verb takes --json and --home, and exits 0, 1 (refused or failed, the
    reason is on stderr) or 2 (wrong usage).
    """
    invocation = context.ensure_object(Invocation)
    invocation.option = home
    if version:
        click.echo(f"pinfold {__version__}")
    elif context.invoked_subcommand is None:
        return open_screens(invocation, demo=demo)
    elif demo:
        raise click.UsageError("--demo opens the screens and takes no verb; for a home to keep: pinfold init --demo")
    return 0


def open_screens(invocation: Invocation, *, demo: bool) -> int:
    """Run the screens until the operator quits, and return the status to exit with.

    Raises:
        click.UsageError: There is no terminal, or the options exclude each other.
        PinfoldError: The home cannot be used.
    """
    if demo and invocation.option:
        raise click.UsageError("--demo makes a home of its own; leave out --home")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("the screens need a terminal; `pinfold --help` lists the verbs for scripts")
    if demo:
        from tui.demo import run_demo

        return run_demo(invocation)
    home = invocation.choose_home()
    from tui.run import run

    return run(home)


def run_command(arguments: Sequence[str]) -> int:
    """Run the command and return its exit status; no error leaves as a traceback."""
    invocation = Invocation()
    try:
        status = pinfold.main(list(arguments), prog_name="pinfold", standalone_mode=False, obj=invocation)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except Exception as error:
        invocation.report(error)
        return FAILED
    return status if isinstance(status, int) else 0
