"""`pinfold agents`: the agents as configured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tui.figures import duration, size
from tui.glyphs import glyphs
from tui.verbs.after_dashes import CommandAfterDashes, command_after_dashes
from tui.verbs.agent_changes import command as set_agent
from tui.verbs.call import Call, verb
from tui.verbs.documents import AgentDetails, AgentDocument, ProblemDocument, SettingDocument
from tui.verbs.table import Cell, Column

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from services.agents import Agent, Problem
    from services.pinfold import Pinfold

FAILED = 1
_COLUMNS = (
    Column("ALIAS", cut="middle"),
    Column("STATE"),
    Column("RUNNER", spare=1),
    Column("ENGINE", spare=2),
    Column("PROFILE", cut="end", spare=3),
    Column("LIFECYCLE", spare=4),
    Column("DESCRIPTION", cut="end", spare=5),
)


@click.group("agents")
def command() -> None:
    """List, show, check, create, enable, disable and change agents."""


command.add_command(set_agent)


@command.command("list")
@verb
async def list_agents(call: Call) -> None:
    """List all agents."""
    async with call.pinfold(supervise=False) as pinfold:
        agents = pinfold.agents.all()
        if call.json:
            call.printer.document([AgentDocument.of(agent) for agent in agents])
        elif agents:
            call.printer.table(_COLUMNS, [_row(agent) for agent in agents])
        elif call.printer.terminal:
            call.printer.line("No agents yet. `pinfold agents create ALIAS` makes one.", "muted")


@command.command("show")
@verb
@click.argument("alias")
async def show_agent(call: Call, alias: str) -> None:
    """Show one agent: its problems, and every setting of its sandbox with the file that decided it."""
    async with call.pinfold(supervise=False) as pinfold:
        agent = pinfold.agents.get(alias)
    details = AgentDetails(AgentDocument.of(agent), _settings(agent))
    if call.json:
        call.printer.document(details)
        return
    printer = call.printer
    printer.line(agent.alias, "strong")
    described = details.agent
    facts = (
        ("state", _state(agent).text),
        ("description", described.description or ""),
        ("profile", described.risk_profile or ""),
        ("file", described.file),
        ("workspace", described.workspace),
    )
    for name, value in facts:
        if value:
            printer.line(f"  {name:<12}  {value}")
    _print_problems(call, agent.problems)
    if details.settings:
        printer.line()
        rows = [[Cell(s.name), Cell(_shown(s.name, s.value)), Cell(s.origin, "muted")] for s in details.settings]
        printer.table((Column("SETTING"), Column("VALUE", cut="end"), Column("FROM")), rows)


@command.command("check")
@verb
@click.argument("aliases", nargs=-1)
async def check_agents(call: Call, aliases: tuple[str, ...]) -> int:
    """Check the files of these agents, or of all and pinfold.toml; exits 1 when one has an error."""
    async with call.pinfold(supervise=False) as pinfold:
        agents = [pinfold.agents.get(alias) for alias in aliases] or pinfold.agents.all()
        shared = () if aliases else pinfold.agents.shared_problems
        problems = [*shared, *(problem for agent in agents for problem in _problems_of(pinfold, agent))]
    if call.json:
        call.printer.document([ProblemDocument.of(problem) for problem in problems])
    else:
        _print_problems(call, problems)
        if not problems and call.printer.terminal:
            call.printer.line("No problems.", "good")
    return FAILED if any(problem.severity == "error" for problem in problems) else 0


def _problems_of(pinfold: Pinfold, agent: Agent) -> Iterator[Problem]:
    """What is wrong with an agent's file, and which of its rules cannot do what they seem to say."""
    from services.agents import Problem

    yield from agent.problems
    for finding in pinfold.policies.findings(agent.alias):
        origin = finding.origin
        yield Problem(finding.message, origin.file or agent.file, origin.line, origin.key, "warning")


@command.command("create", cls=CommandAfterDashes)
@verb
@click.argument("alias")
@click.option("--description", default="", help="What it is for.")
@click.option("--profile", default="", help="Its risk profile, one of pinfold.toml's.")
@click.option("--runner", default="", help="The program inside its sandbox; else the default.")
@click.option("--engine", default="", help="docker or local; else the default.")
@click.option("--image", default="", help="The image its sandboxes are made from; else the default.")
@click.option("--lifecycle", default="", help="oneshot, session, longrunning or persistent; else the default.")
async def create_agent(
    call: Call, alias: str, description: str, profile: str, runner: str, engine: str, image: str, lifecycle: str
) -> None:
    """Make a new agent.

    What follows -- is the command its sandboxes run, for the runner `command`.
    """
    async with call.pinfold(supervise=False) as pinfold:
        agent = await pinfold.agents.create(
            alias,
            description=description,
            risk_profile=profile,
            runner=runner,
            engine=engine,
            image=image,
            lifecycle=lifecycle,
            command=command_after_dashes(),
        )
    if call.json:
        call.printer.document(AgentDocument.of(agent))
    else:
        call.printer.line(f"made {agent.file}")


@command.command("enable")
@verb
@click.argument("alias")
async def enable_agent(call: Call, alias: str) -> None:
    """Allow sessions of an agent to be started."""
    await _set_enabled(call, alias, enabled=True)


@command.command("disable")
@verb
@click.argument("alias")
async def disable_agent(call: Call, alias: str) -> None:
    """Forbid sessions of an agent to be started; those that run go on."""
    await _set_enabled(call, alias, enabled=False)


async def _set_enabled(call: Call, alias: str, *, enabled: bool) -> None:
    async with call.pinfold(supervise=False) as pinfold:
        agent = await pinfold.agents.set_enabled(alias, enabled)
    if call.json:
        call.printer.document(AgentDocument.of(agent))
    else:
        call.printer.line(f"{agent.alias} is {'enabled' if enabled else 'disabled'}")


def _row(agent: Agent) -> list[Cell]:
    settings = agent.settings
    section = agent.config.agent if agent.config else None
    return [
        Cell(agent.alias),
        _state(agent),
        Cell(settings.runner if settings else "-"),
        Cell((settings.engine or "any") if settings else "-"),
        Cell((section.risk_profile or "-") if section else "-"),
        Cell(settings.lifecycle if settings else "-"),
        Cell(section.description if section else "", "muted"),
    ]


def _state(agent: Agent) -> Cell:
    errors = [problem for problem in agent.problems if problem.severity == "error"]
    if errors:
        line = next((problem.line for problem in errors if problem.line), 0)
        return Cell(f"error at line {line}" if line else "error", "bad", glyphs().warning)
    if agent.config is None or not agent.config.agent.enabled:
        return Cell("disabled", "muted", glyphs().idle)
    return Cell("enabled", "good", glyphs().running)


def _settings(agent: Agent) -> tuple[SettingDocument, ...]:
    if agent.settings is None:
        return ()
    origins = agent.settings.origins
    return tuple(SettingDocument(name, getattr(agent.settings, name), origin) for name, origin in origins.items())


def _shown(name: str, value: object) -> str:
    """Write a setting as people do."""
    if value is None:
        return "unlimited" if name in ("memory", "cpus", "pids") else "never"
    if name in ("memory", "output_limit") and isinstance(value, int):
        return size(value)
    if name.endswith("_timeout") and isinstance(value, float | int):
        return duration(value)
    if isinstance(value, dict):
        return " ".join(f"{key}={part}" for key, part in value.items())
    if isinstance(value, tuple | list):
        return " ".join(" ".join(part.cmd) if hasattr(part, "cmd") else str(part) for part in value)
    return str(value)


def _print_problems(call: Call, problems: Sequence[Problem]) -> None:
    for problem in problems:
        call.printer.line(f"{problem.severity}: {problem}", "bad" if problem.severity == "error" else "warn")
