"""What an engine does to its log: long lines in parts, with and without their end, and repeats at a rotation."""

from __future__ import annotations

import pytest

from services.output import Cursor, Demultiplexer

PART = 16 * 1024
FULL = b"x" * PART


def frame(nanosecond: int, data: bytes, stream: int = 1) -> bytes:
    payload = b"2026-01-01T00:00:00.%09dZ " % nanosecond + data
    return bytes([stream, 0, 0, 0]) + len(payload).to_bytes(4) + payload


def taken(demultiplexer: Demultiplexer, *frames: bytes) -> bytes:
    chunks = demultiplexer.feed(b"".join(frames)) + demultiplexer.flush(ended=True)
    return b"".join(chunk.data for chunk in chunks)


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        pytest.param([(1, FULL), (1, b"end\n"), (2, b"next\n")], FULL + b"end\nnext\n", id="json-file"),
        pytest.param([(1, FULL), (1, b"end"), (2, b"next\n")], FULL + b"end\nnext\n", id="local keeps the end back"),
        pytest.param([(1, FULL), (1, b""), (2, b"next\n")], FULL + b"\nnext\n", id="local, a whole number of parts"),
        pytest.param([(1, FULL), (1, b"e"), (2, FULL), (2, b"f")], FULL + b"e\n" + FULL + b"f\n", id="two"),
        pytest.param([(1, FULL), (2, b"next\n")], FULL + b"\nnext\n", id="the last part was lost"),
        pytest.param([(1, FULL)], FULL, id="not ended yet"),
        pytest.param([(1, b"bare")], b"bare", id="a short line without an end"),
    ],
)
def test_a_long_line_ends_where_it_ended(frames: list[tuple[int, bytes]], expected: bytes) -> None:
    assert taken(Demultiplexer(), *(frame(at, data) for at, data in frames)) == expected


def test_a_line_ends_also_when_its_parts_were_shown_before_their_end_came() -> None:
    demultiplexer = Demultiplexer()
    assert taken(demultiplexer, frame(1, FULL)) == FULL
    assert taken(demultiplexer, frame(1, b"end")) == b"end\n"
    assert taken(demultiplexer, frame(2, b"next\n")) == b"next\n"


@pytest.mark.parametrize("seen", range(5))
def test_a_long_line_is_taken_up_at_any_part(seen: int) -> None:
    frames = [frame(1, FULL), frame(1, FULL), frame(1, b"end"), frame(2, b"next\n"), frame(2, FULL)]
    first = Demultiplexer()
    before = taken(first, *frames[:seen])
    second = Demultiplexer(first.cursor if seen else Cursor())
    assert before + taken(second, *frames) == FULL * 2 + b"end\nnext\n" + FULL


def test_every_rotation_may_repeat_its_last_line() -> None:
    lines = [frame(at, b"line %d\n" % at) for at in range(1, 7)]
    one, two, three, four, five, six = lines
    assert taken(Demultiplexer(), one, two, two, three, four, four, five, six, six) == b"".join(
        b"line %d\n" % at for at in range(1, 7)
    )
