"""Actions an hour: reserved, kept or given back, and shared with the parent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.errors import SessionRefused
from services.policy.budget import WINDOW, Budget


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def spend(budget: Budget, times: int = 1) -> None:
    for _ in range(times):
        with budget.action():
            pass


def test_the_first_action_passes_and_the_next_is_refused_until_the_hour_slides() -> None:
    clock = Clock()
    budget = Budget(1, clock)
    spend(budget)
    with pytest.raises(SessionRefused, match="1 actions in the last hour"):
        spend(budget)
    clock.seconds = WINDOW - 0.001
    assert budget.left == 0
    clock.seconds = WINDOW
    spend(budget)


def test_zero_blocks_every_action() -> None:
    with pytest.raises(SessionRefused):
        spend(Budget(0, Clock()))


def test_a_failed_action_gives_its_slot_back() -> None:
    budget = Budget(1, Clock())
    with pytest.raises(ZeroDivisionError), budget.action():
        raise ZeroDivisionError
    assert budget.left == 1


def test_actions_at_once_never_overbook() -> None:
    budget = Budget(2, Clock())
    with budget.action(), budget.action(), pytest.raises(SessionRefused):
        spend(budget)


def test_a_child_draws_on_its_parent() -> None:
    parent = Budget(3, Clock())
    child = parent.child(2)
    spend(child, 2)
    assert parent.left == 1
    with pytest.raises(SessionRefused):
        spend(child)
    spend(parent)
    assert parent.child(5).left == 0


@given(
    limits=st.lists(st.integers(0, 4), min_size=1, max_size=3),
    steps=st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.integers(0, 1800)), max_size=40),
)
def test_no_hour_ever_holds_more_actions_than_the_limit(limits: list[int], steps: list[tuple[int, bool, int]]) -> None:
    clock = Clock()
    budgets = [Budget(limits[0], clock)]
    for limit in limits[1:]:
        budgets.append(budgets[-1].child(limit))
    done: list[tuple[int, float]] = []
    for which, succeeds, wait in steps:
        clock.seconds += wait
        place = which % len(budgets)
        try:
            with budgets[place].action():
                if not succeeds:
                    raise ZeroDivisionError
        except (SessionRefused, ZeroDivisionError):
            continue
        done.append((place, clock.seconds))
        for level, limit in enumerate(limits):
            recent = [at for by, at in done if by >= level and at > clock.seconds - WINDOW]
            assert len(recent) <= limit
