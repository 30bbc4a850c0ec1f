"""`pinfold schema`: the JSON Schemas of the TOML files, for editors."""

from __future__ import annotations

import click

from tui.verbs.call import Call, verb


@click.command("schema")
@verb
@click.argument("which", required=False, type=click.Choice(["agent", "pinfold"]))
def command(call: Call, which: str | None) -> None:
    """Print the JSON Schema of agent.toml or pinfold.toml; of both, by name, when none is chosen."""
    from services.agents import agent_schema, config_schema

    if which == "agent":
        call.printer.document(agent_schema())
    elif which == "pinfold":
        call.printer.document(config_schema())
    else:
        call.printer.document({"agent": agent_schema(), "pinfold": config_schema()})
