"""`pinfold serve-tools`: the tool server alone."""

from __future__ import annotations

from pathlib import Path

import click

from services.errors import PinfoldError
from tui.invocation import complain
from tui.verbs.call import Call, verb

_TOKEN_LIMIT = 1024


@click.command("serve-tools")
@verb
@click.option("--stdio", is_flag=True, help="Serve one client over standard input and output; needs --token-file.")
@click.option(
    "--token-file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Holds the token of the session whose tools are served over stdio.",
)
async def command(call: Call, stdio: bool, token_file: Path | None) -> None:
    """Serve agents' memory tools over MCP until interrupted.

    Pinfold starts a server by itself when a session wants tools, and it ends some time after the last of them; this one
    stays. It listens on unix sockets in the home's `state/tools`, where sandboxes find it.
    """
    if stdio != (token_file is not None):
        raise click.UsageError("--stdio and --token-file go together")
    async with call.pinfold() as pinfold:
        if token_file is not None:
            await pinfold.serve_tools_over_stdio(_token_in(token_file))
            return
        complain(f"serving the tools of {pinfold.home.root}")
        await pinfold.serve_tools()


def _token_in(file: Path) -> str:
    try:
        with file.open(encoding="ascii") as opened:
            text = opened.read(_TOKEN_LIMIT).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it holds no token"
        raise PinfoldError(f"cannot read the token in {file}", why=reason) from None
    if not text:
        raise PinfoldError(f"cannot read the token in {file}", why="it is empty")
    return text
