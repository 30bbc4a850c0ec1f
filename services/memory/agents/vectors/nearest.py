"""The rows that are most alike to a query; imported only where numpy is installed.

Whose rows count, and every other condition, is decided before anything is cut off.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from services.memory.agents import searching
from services.memory.agents.model import Query, Recalled, Row
from services.memory.agents.rows import COLUMNS, FROM, row_of
from services.memory.agents.vectors.shelf import Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

_AT_ONCE = 512


def nearest(
    connection: sqlite3.Connection, scores: Sequence[Scores], agents: Sequence[str], query: Query
) -> list[Recalled]:
    """Choose the rows with a likeness above 0, the best first; superseded and changed ones are passed over.

    Args:
        connection: Where the rows are.
        scores: Of the vectors of these agents.
        agents: Whose rows, by id.
        query: What else they have to meet, and how many.
    """
    memories = np.concatenate([each.memories for each in scores])
    versions = np.concatenate([each.versions for each in scores])
    likeness = np.concatenate([each.likeness for each in scores])
    fits = likeness > 0  # and no NaN
    allowed = _allowed(connection, agents, query)
    if allowed is not None:
        fits &= np.isin(memories, allowed)
    memories, versions, likeness = memories[fits], versions[fits], likeness[fits]
    found: list[Recalled] = []
    for chosen in _best_first(likeness, query.limit):
        live = _live(connection, memories[chosen], agents, query)
        places = [(int(versions[place]), float(likeness[place])) for place in chosen.tolist()]
        found.extend(Recalled(live[version], min(score, 1.0)) for version, score in places if version in live)
        if len(found) >= query.limit:
            break
    found.sort(key=lambda recalled: (-recalled.score, recalled.row.id))
    return found[: query.limit]


def _best_first(likeness: NDArray[np.float32], limit: int) -> Iterator[NDArray[np.intp]]:
    """Yield places, the best first: as many as will mostly do, then the others."""
    first = 2 * limit
    if first < len(likeness):
        best = np.sort(np.argpartition(-likeness, first)[:first])
        yield best[np.argsort(-likeness[best], kind="stable")]
    else:
        first = 0
    order = np.argsort(-likeness, kind="stable")
    for start in range(first, len(order), _AT_ONCE):
        yield order[start : start + _AT_ONCE]


def _allowed(connection: sqlite3.Connection, agents: Sequence[str], query: Query) -> NDArray[np.int64] | None:
    """The numbers of the rows that meet the query's conditions; None when it has none."""
    conditions, values = searching.filters(query)
    if not conditions:
        return None
    sql = f"SELECT m.number FROM memories AS m WHERE m.agent IN ({_marks(agents)}) AND {' AND '.join(conditions)}"
    return np.array([number for (number,) in connection.execute(sql, (*agents, *values))], np.int64)


def _live(
    connection: sqlite3.Connection, memories: NDArray[np.int64], agents: Sequence[str], query: Query
) -> dict[int, Row]:
    """Read those of some rows that may be recalled, by the numbers of the vectors they have now."""
    numbers = sorted(set(memories.tolist()))
    withheld = "" if query.withheld else "AND NOT m.withheld"
    sql = (
        f"SELECT {COLUMNS}, v.number FROM memory_vectors AS v, {FROM}"
        f" WHERE m.number = v.memory AND v.memory IN ({_marks(numbers)}) AND m.agent IN ({_marks(agents)})"
        f" AND m.superseded_by = '' {withheld}"
    )
    return {values[-1]: row_of(values) for values in connection.execute(sql, (*numbers, *agents))}


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
