"""When a reader lets output gather, how many lines it expects, and which silence cannot be one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.output import Chunk, Stream
from services.sandbox.engines.docker.follow import _Jumps
from services.sandbox.engines.docker.pace import Pace, Rate

SECOND = 1_000_000_000
LINE = b"x" * 159 + b"\n"


def chunk(at: float, lines: int = 1) -> Chunk:
    return Chunk(Stream.STDOUT, LINE * lines, int(at * SECOND))


@pytest.mark.parametrize(
    ("lines", "elapsed", "late", "pause"),
    [
        pytest.param(75, 0.003, 0.0, 0.006, id="half of what should gather: twice the time it took"),
        pytest.param(150, 0.003, 0.0, 0.003, id="as much as should gather: the same time"),
        pytest.param(1, 0.5, 0.0, 0.0, id="a quiet sandbox: no pause, but it waits together with others"),
        pytest.param(270, 0.003, 0.0, 0.0, id="all the kernel holds: the engine waits already"),
        pytest.param(75, 0.003, 0.2, 0.0, id="a reader that is behind"),
    ],
)
def test_output_gathers_only_while_nobody_waits_for_it(lines: int, elapsed: float, late: float, pause: float) -> None:
    times: Iterator[int] = iter([0, int(elapsed * SECOND)])
    pace = Pace(Rate(), lambda: next(times))
    assert pace.pause_after(LINE * lines, int((elapsed - late) * SECOND)) == pytest.approx(pause)


def test_clocks_that_differ_are_no_lag_once_something_came_at_once() -> None:
    times: Iterator[int] = iter([0, SECOND, SECOND + 3_000_000])
    pace = Pace(Rate(), lambda: next(times))
    pace.waited()
    an_hour_ago = SECOND - 3600 * SECOND
    assert pace.pause_after(LINE, an_hour_ago) == 0.0
    assert pace.quiet
    assert pace.pause_after(LINE * 150, an_hour_ago + 3_000_000) == pytest.approx(0.003)


def test_a_small_piece_of_a_fast_sandbox_is_no_quiet() -> None:
    times: Iterator[int] = iter([0, SECOND // 2, SECOND])
    rate = Rate()
    pace = Pace(rate, lambda: next(times))
    rate.note([chunk(10.0, 1600)])
    assert pace.pause_after(LINE, SECOND // 2) == 0.1
    assert not pace.quiet
    rate.note([chunk(11.5, 1), chunk(12.6, 1)])
    assert pace.pause_after(LINE, SECOND) == 0.0
    assert pace.quiet


def test_the_rate_is_that_of_the_last_full_second_or_of_the_one_that_runs() -> None:
    rate = Rate()
    rate.note([chunk(10.0, 50), chunk(10.5, 50)])
    assert rate.lines_in(2.0) == 200
    rate.note([chunk(11.2, 10)])
    assert rate.lines_in(2.0) == 200
    rate.note([chunk(11.4, 400)])
    assert rate.lines_in(0.5) == 205
    rate.note([chunk(13.0, 1), chunk(15.0, 1)])
    assert rate.lines_in(3.0) == 3


@pytest.mark.parametrize(
    ("at", "waits_before", "times", "jump"),
    [
        pytest.param(1.0, (), (1.1, 1.2, 2.0), False, id="steady"),
        pytest.param(1.0, (), (1.1, 3.0), True, id="a jump between two pieces"),
        pytest.param(1.0, (), (3.0,), True, id="a jump since what was taken last"),
        pytest.param(0.0, (), (3.0,), False, id="nothing was taken yet"),
        pytest.param(1.0, (0,), (3.0,), False, id="the sandbox was silent"),
        pytest.param(1.0, (0,), (3.0, 5.0), True, id="silent, then a jump within what came"),
        pytest.param(1.0, (), (3.0 - 2.5, 1.4), False, id="one stream behind the other"),
    ],
)
def test_a_jump_is_one_the_sandbox_cannot_have_made_by_being_silent(
    at: float, waits_before: tuple[int, ...], times: tuple[float, ...], jump: bool
) -> None:
    jumps = _Jumps(int(at * SECOND), 1.0 * SECOND)
    for _ in waits_before:
        jumps.waited()
    assert jumps.are_in([chunk(time) for time in times]) is jump
