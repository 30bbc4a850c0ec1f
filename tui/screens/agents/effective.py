"""The page of what holds: the computed policy, what a sandbox would get, and a box to try it."""

from __future__ import annotations

import asyncio
import textwrap
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from services.errors import PinfoldError
from services.policy import Confinement, Decision, Policy, Rule, confinement, held_to
from tui.explaining import QUESTIONS, question_to, rules_said, verdict_said
from tui.figures import from_home, middle
from tui.glyphs import glyphs
from tui.host import host
from tui.screens.agents.drafts import Drafts
from tui.screens.agents.facts import Fact, fact_columns, facts_of, place_of
from tui.screens.agents.sheet import Sheet
from tui.text import safe
from tui.typed import read_back
from tui.widgets.empty_state import EmptyState
from tui.widgets.table import Cell, Span, Table, cell
from tui.widgets.try_box import TryBox

if TYPE_CHECKING:
    from services.pinfold import Pinfold

_SETTLING_SECONDS = 0.08
_MOST_RULES = 12
_LONGEST = 2000
_EXAMPLES = ("~/.ssh/id_ed25519", "out/report.md", "git push --force", "api.example.com", "shell", "LANG")


class EffectivePage(Vertical):
    """Shows the policy of an agent as its draft has it.

    Args:
        drafts: All drafts.
    """

    def __init__(self, drafts: Drafts) -> None:
        super().__init__(id="effective")
        self._drafts = drafts
        self._alias = ""
        self._sheet: Sheet | None = None
        self._box = TryBox(tuple(zip(QUESTIONS, _EXAMPLES, strict=True)))
        self._facts: Table[Fact] = Table(fact_columns(), lambda fact: fact.key, id="facts")
        self._nothing = EmptyState()

    def compose(self) -> ComposeResult:
        """Lay out box and rules."""
        yield self._box
        yield self._facts
        yield self._nothing

    def show(self, alias: str) -> None:
        """Show an agent; "" shows none."""
        sheet = self._drafts.of(alias).sheet if alias else None
        if (alias, sheet) == (self._alias, self._sheet):
            return
        self._alias, self._sheet = alias, sheet
        policy = sheet.policy if sheet is not None else None
        if policy is None:
            self._facts.show(())
            trouble = sheet.trouble if sheet is not None else ""
            self._nothing.show("No policy to show", (safe(trouble),) if trouble else ())
        elif sheet is not None:
            host(self).begin(self, "effective", self._load, sheet, policy)
            self._box.ask_again()
        self._settle(policy is not None)

    def _settle(self, known: bool) -> None:
        self._facts.display = self._box.display = known
        self._nothing.display = not known

    def begin_trying(self) -> None:
        """Let the operator type into the box."""
        self._box.begin()

    async def _load(self, sheet: Sheet, policy: Policy) -> None:
        pinfold = host(self).pinfold
        facts = await pinfold.calls.run(_facts, pinfold, sheet, policy)
        if sheet is self._sheet:
            self._facts.show(facts)

    @on(TryBox.Asked)
    def _try(self, message: TryBox.Asked) -> None:
        message.stop()
        host(self).begin(self, "answer", self._answer, message.question, message.typed)

    async def _answer(self, question: str, typed: str) -> None:
        """Answer; a newer question ends this one."""
        if not typed:
            return
        await asyncio.sleep(_SETTLING_SECONDS)
        policy = self._sheet.policy if self._sheet is not None else None
        if policy is None:
            return
        try:
            asked = read_back(typed)
        except ValueError as error:
            self._box.show_answer([cell(str(error), "bad")])
            return
        decision = await host(self).pinfold.calls.run(question_to(policy, question), asked)
        width = self._box.answer_width
        lines = await host(self).pinfold.calls.run(answer_lines, self._alias, decision, width)
        self._box.show_answer(lines)


def answer_lines(alias: str, decision: Decision, width: int) -> list[Cell]:
    """Write a decision: the verdict, the rule that made it, the rules that lost; finds lines, so it may block.

    Args:
        alias: The agent.
        decision: The answer.
        width: Columns of the terminal there are.
    """
    said, tone = verdict_said(alias, decision)
    lines = [
        cell(line, tone) for line in textwrap.wrap(safe(from_home(said[:_LONGEST])), width, subsequent_indent="  ")
    ]
    rules = list(rules_said(decision))
    lines += [_rule_line(name, rule, width) for name, rule in rules[:_MOST_RULES]]
    if len(rules) > _MOST_RULES:
        lines.append(cell(f"  {'':<12}and {len(rules) - _MOST_RULES:,} more", "muted"))
    if remark := held_to(decision).remark:
        lines.append(cell(f"  {remark}", "muted"))
    return lines


def _rule_line(part: str, rule: Rule, width: int) -> Cell:
    """A rule after its place: where it is written matters more than the end of a long path."""
    place = f"{place_of(rule.origin):<18}"
    subject = f" {safe(from_home(rule.subject[:_LONGEST]))}" if rule.subject else ""
    effect = f": {safe(rule.effect)}"
    room = max(width - 14 - len(place) - len(effect), 12)
    what = middle(safe(rule.kind) + subject, room, glyphs().ellipsis)
    return (Span(f"  {part:<12}", "muted"), Span(place, "accent"), Span(f"{what}{effect}"))


def _facts(pinfold: Pinfold, sheet: Sheet, policy: Policy) -> tuple[Fact, ...]:
    return facts_of(policy, _confinement(pinfold, sheet))


def _confinement(pinfold: Pinfold, sheet: Sheet) -> Confinement | None:
    agent = sheet.agent
    if agent.settings is None:
        return None
    try:
        return confinement(agent, pinfold.agents.by_alias, agent.settings)
    except PinfoldError:
        return None
