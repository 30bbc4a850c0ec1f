"""`pinfold policy`: what an agent may do, why, and what a change would mean."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from services.errors import PinfoldError
from services.home import read_file
from tui.explaining import question_to, rules_said, verdict_said
from tui.verbs.call import Call, verb
from tui.verbs.table import Cell, Column

if TYPE_CHECKING:
    from services.policy import Change, Decision, Rule, Violation

REFUSED = 1
_RULES = (
    Column("WHAT"),
    Column("SUBJECT", cut="middle"),
    Column("EFFECT"),
    Column("FROM"),
    Column("ENFORCED", spare=1),
)


class RuleDocument(msgspec.Struct, frozen=True):
    """A rule; `file` is null for what is built in, `line` counts from 1 and is 0 when unknown.

    `enforced` says whether a session is held to it today, `held` how far: yes, own tools (of Pinfold's), not yet.
    """

    kind: str
    subject: str
    effect: str
    file: str | None
    line: int
    key: str
    profile: str
    preset: str
    enforced: bool
    held: str

    @classmethod
    def of(cls, rule: Rule) -> RuleDocument:
        """Describe a rule."""
        from services.policy import Held, held

        origin, holding = rule.origin, held(rule)
        return cls(
            kind=rule.kind,
            subject=rule.subject,
            effect=rule.effect,
            file=None if origin.file is None else str(origin.file),
            line=origin.line,
            key=origin.key,
            profile=origin.profile,
            preset=origin.preset,
            enforced=holding is Held.EVERYWHERE,
            held=holding.value,
        )


class DecisionDocument(msgspec.Struct, frozen=True):
    """The answer to one question; `verdict` is allow, ask or deny."""

    question: str
    verdict: str
    reason: str
    rule: RuleDocument
    considered: tuple[RuleDocument, ...]

    @classmethod
    def of(cls, decision: Decision) -> DecisionDocument:
        """Describe a decision."""
        considered = tuple(RuleDocument.of(rule) for rule in decision.considered)
        rule = RuleDocument.of(decision.rule)
        return cls(decision.question, decision.verdict.value, decision.reason, rule, considered)


class ChangeDocument(msgspec.Struct, frozen=True):
    """One difference, in words."""

    text: str
    widens: bool


class ViolationDocument(msgspec.Struct, frozen=True):
    """One way in which a child would get more than its parent."""

    reason: str
    subject: str
    child: str
    parent: str


class PolicyDocument(msgspec.Struct, frozen=True):
    """An agent's policy: its level and network, every rule with its origin, and every limit likewise."""

    agent: str
    profile: str
    level: str
    network: str
    rules: tuple[RuleDocument, ...]
    limits: tuple[RuleDocument, ...]


@click.group("policy")
def command() -> None:
    """Show what an agent may do, explain a decision, compare, and judge a spawn."""


@command.command("show")
@verb
@click.argument("alias")
async def show_policy(call: Call, alias: str) -> None:
    """Show every rule and limit that holds for an agent, where it is written, and whether it is enforced."""
    from services.policy import Held

    async with call.pinfold(supervise=False) as pinfold:
        policy = pinfold.policies.of(alias)
    rules, limits = list(policy.rules()), list(policy.limits())
    if call.json:
        documents, limit_documents = (tuple(RuleDocument.of(rule) for rule in some) for some in (rules, limits))
        network = policy.domains.network
        call.printer.document(PolicyDocument(alias, policy.profile, policy.level, network, documents, limit_documents))
        return
    call.printer.table(_RULES, [_row(rule) for rule in (*rules, *limits)])
    if call.printer.terminal:
        for holding in (Held.SERVED_TOOLS, Held.NOT_YET):
            call.printer.line(f"{holding}: {holding.remark}", "muted")


@command.command("explain")
@verb
@click.argument("alias")
@click.option("--read", metavar="PATH", help="May it read this path?")
@click.option("--write", metavar="PATH", help="May it write this path?")
@click.option("--command", metavar="LINE", help="May it run this shell line?")
@click.option("--domain", metavar="HOST", help="May it reach this host or URL?")
@click.option("--tool", metavar="NAME", help="May it call this tool?")
@click.option("--variable", metavar="NAME", help="May it see this environment variable?")
async def explain(call: Call, alias: str, **questions: str | None) -> int:
    """Answer one question about an agent, with the rule that decides; exits 1 when the answer is deny."""
    asked = [(name, value) for name, value in questions.items() if value is not None]
    if len(asked) != 1:
        raise click.UsageError("Ask one question: --read, --write, --command, --domain, --tool or --variable.")
    name, value = asked[0]
    async with call.pinfold(supervise=False) as pinfold:
        decision = question_to(pinfold.policies.of(alias), name)(value)
    if call.json:
        call.printer.document(DecisionDocument.of(decision))
    else:
        _print_decision(call, alias, decision)
    return REFUSED if decision.verdict.value == "deny" else 0


@command.command("diff")
@verb
@click.argument("alias")
@click.argument("file", type=click.Path(path_type=Path))
async def diff(call: Call, alias: str, file: Path) -> None:
    """Say what would change for an agent if its agent.toml were FILE; nothing is written."""
    data = _bytes_of(file)
    async with call.pinfold(supervise=False) as pinfold:
        found = pinfold.policies.changes(alias, data, file)
    if call.json:
        call.printer.document([ChangeDocument(change.text, change.widens) for change in found])
        return
    for change in found:
        call.printer.line(_said(change), "warn" if change.widens else "")
    if not found and call.printer.terminal:
        call.printer.line("Nothing changes.", "muted")


@command.command("spawn")
@verb
@click.argument("parent")
@click.argument("child")
async def spawn(call: Call, parent: str, child: str) -> int:
    """Judge whether PARENT may spawn CHILD; exits 1 with every reason when it may not."""
    async with call.pinfold(supervise=False) as pinfold:
        found = pinfold.policies.spawn(parent, child)
    if call.json:
        call.printer.document([_document(violation) for violation in found])
    elif found:
        for violation in found:
            call.printer.line(str(violation), "bad")
    else:
        call.printer.line(f"{parent} may spawn {child}", "good")
    return REFUSED if found else 0


def _bytes_of(file: Path) -> bytes:
    try:
        return read_file(file).data
    except FileNotFoundError:
        raise PinfoldError(f"cannot read {file}", why="there is no such file") from None


def _row(rule: Rule) -> list[Cell]:
    from services.policy import Held, held

    holding = held(rule)
    word = Cell(holding.value, "" if holding is Held.EVERYWHERE else "muted")
    return [Cell(rule.kind), Cell(rule.subject), Cell(rule.effect), Cell(str(rule.origin)), word]


def _print_decision(call: Call, alias: str, decision: Decision) -> None:
    from services.policy import held_to

    said, tone = verdict_said(alias, decision)
    call.printer.line(said, tone)
    for name, rule in rules_said(decision):
        call.printer.line(f"  {name:<10}  {rule}", "muted")
    if remark := held_to(decision).remark:
        call.printer.line(f"  {remark}", "muted")


def _said(change: Change) -> str:
    return f"{'widens' if change.widens else 'other'}: {change.text}"


def _document(violation: Violation) -> ViolationDocument:
    return ViolationDocument(violation.axis.value, violation.subject, violation.child, violation.parent)
