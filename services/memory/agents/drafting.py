"""The row a draft becomes."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from services.memory.agents.importance import estimated
from services.memory.agents.model import Draft, Owner, Row
from services.memory.scopes.model import changed_meanwhile
from services.memory.screening import Screened


def made_row(
    owner: Owner,
    draft: Draft,
    screened: Screened,
    there: Row | None,
    make_id: Callable[[], str],
    now: int,
    agent_id: str,
) -> Row:
    """Make the row to store of a draft and the row that is there.

    Args:
        owner: Whose row it is.
        draft: What was given.
        screened: What is left of its content, and what was found in it.
        there: The row with the same key.
        make_id: Makes the id of a new row.
        now: Nanoseconds since 1970.
        agent_id: The owner's id.

    Raises:
        ChangedMeanwhile: The row that is there is not the one that the draft was made from.
    """
    if draft.seen is not msgspec.UNSET and draft.seen != there:
        raise changed_meanwhile(draft.key)
    importance = estimated(draft.category, screened.content) if draft.importance is None else draft.importance
    return Row(
        id=there.id if there else make_id(),
        agent=owner.alias,
        agent_id=agent_id,
        key=draft.key,
        content=screened.content,
        category=draft.category,
        session=draft.session,
        importance=importance,
        pinned=(there is not None and there.pinned) if draft.pinned is None else draft.pinned,
        findings=screened.names,
        withheld=screened.withheld,
        created_at=there.created_at if there else now,
        updated_at=now,
    )
