"""What the screens do about the interpreter so that keys are answered while threads are busy."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tui.run import Lasting


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    """Let the next tests have their garbage collected."""
    yield
    gc.unfreeze()


def collect(lasting: Lasting, generation: int = 2) -> int:
    """Tell of a collection, and return how many objects are looked at no more."""
    lasting("start", {"generation": generation})
    lasting("stop", {"generation": generation})
    return gc.get_freeze_count()


@pytest.mark.parametrize(
    ("seconds", "generation", "frozen"),
    [
        pytest.param(0.05, 2, True, id="a full one that took long"),
        pytest.param(0.001, 2, False, id="a full one that took no time"),
        pytest.param(0.05, 1, False, id="one of young objects only"),
    ],
)
def test_what_outlived_a_long_full_collection_is_looked_at_no_more(seconds: float, generation: int, frozen: bool):
    moments = iter((1.0, 1.0 + seconds))
    assert (collect(Lasting(lambda: next(moments)), generation) > 0) is frozen


def test_that_ends_after_some_times_so_that_not_all_garbage_stays():
    now = [0.0]

    def clock() -> float:
        now[0] += 1
        return now[0]

    lasting = Lasting(clock)
    for _ in range(100):
        collect(lasting)
    gc.unfreeze()
    assert collect(lasting) == 0
