"""All that is shown of one agent's permissions, computed at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.agents import Agent, Draft
from services.errors import PinfoldError
from services.policy import Change as Difference
from services.policy import Policy, changes, findings
from tui.screens.agents.form_rows import Subject, form_rows
from tui.widgets.form import FormRow

if TYPE_CHECKING:
    from services.pinfold import Pinfold


@dataclass(frozen=True)
class Sheet:
    """All that is shown of one agent's permissions.

    Attributes:
        agent: As it would be; of a broken file, as it was when last good.
        rows: The form's.
        differences: What the changes mean, in words, the widening ones first.
        policy: As it would be; None when it cannot be told.
        trouble: Why not.
    """

    agent: Agent
    rows: tuple[FormRow, ...]
    differences: tuple[Difference, ...] = ()
    policy: Policy | None = None
    trouble: str = ""

    @property
    def widens(self) -> bool:
        """Whether any change permits more than before."""
        return any(difference.widens for difference in self.differences)


def sheet_of(pinfold: Pinfold, agent: Agent, draft: Draft | None) -> Sheet:
    """Compute what is shown; blocks for some milliseconds.

    Args:
        pinfold: The services.
        agent: As it would be; has a configuration.
        draft: None when its file cannot be edited.
    """
    policy: Policy | None = None
    differences: tuple[Difference, ...] = ()
    trouble = ""
    try:
        if draft is None:
            policy = pinfold.policies.of(agent.alias)
        else:
            policy = pinfold.policies.as_if(agent.alias, draft.data)
            differences = changes(pinfold.policies.of(agent.alias), policy) if draft.changed else ()
    except PinfoldError as error:
        trouble = str(error)
    subject = Subject(
        agent=agent,
        data=draft.data if draft is not None else b"",
        changed={change.path for change in draft.changes} if draft is not None else (),
        siblings=[alias for alias in pinfold.agents.by_alias if alias != agent.alias],
        shared_lines=pinfold.agents.shared_lines(),
        shared_keys=pinfold.agents.shared_keys(),
        findings=findings(policy) if policy is not None else (),
    )
    return Sheet(agent, form_rows(subject), differences, policy, trouble)
