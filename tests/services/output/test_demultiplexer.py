"""Docker's log stream comes apart the same in any cuts, and goes on from any cursor without a gap or a repeat."""

from __future__ import annotations

import contextlib
import itertools
import struct
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.errors import SpoolError
from services.output import Chunk, Cursor, Demultiplexer, Position, Stream

PART = 16 * 1024
START = 1_767_225_600_000_000_000  # 2026-01-01T00:00:00Z
NO_SUCH_MONTH = b"\x01\0\0\0\0\0\0\x22" + b"2026-13-01T00:00:00.000000000Z hi\n"
STREAMS = (Stream.STDOUT, Stream.STDERR)


class Entry(NamedTuple):
    """One entry of the engine's log."""

    stream: Stream
    at: int
    data: bytes


def stamp(at: int) -> bytes:
    seconds, nanoseconds = divmod(at, 10**9)
    minutes, second = divmod(seconds, 60)
    return b"2026-01-01T00:%02d:%02d.%09dZ" % (minutes, second, nanoseconds)


def frame(entry: Entry) -> bytes:
    payload = stamp(entry.at) + b" " + entry.data
    return struct.pack(">BxxxI", entry.stream, len(payload)) + payload


def terminal_text(entries: list[Entry]) -> bytes:
    return b"".join(stamp(entry.at) + b" " + entry.data for entry in entries)


def bytes_of(entries: list[Entry], stream: Stream) -> bytes:
    return b"".join(entry.data for entry in entries if entry.stream is stream)


def taken(chunks: list[Chunk], stream: Stream) -> bytes:
    return b"".join(chunk.data for chunk in chunks if chunk.stream is stream)


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in itertools.pairwise(places)]


@st.composite
def logs(draw: st.DrawFn, streams: tuple[Stream, ...] = STREAMS) -> list[Entry]:
    entries, clock = [], dict.fromkeys(STREAMS, 1)
    for _ in range(draw(st.integers(0, 25))):
        stream = draw(st.sampled_from(streams))
        clock[stream] += draw(st.sampled_from([1, 1000, 10**6, 3 * 10**8, 2 * 10**9]))
        line = draw(st.sampled_from([b"", b"a", b"0123456789", b"\0", b"caf\xc3\xa9", b"\x01\0\0\0\0\0\0\x20"]))
        parts = draw(st.sampled_from([0, 0, 0, 0, 1, 3]))
        entries += [Entry(stream, clock[stream], b"x" * PART)] * parts
        entries.append(Entry(stream, clock[stream], line + b"\n"))
    return entries


cuts = st.lists(st.integers(0, 200_000), max_size=12)


@settings(deadline=None, max_examples=80)
@given(logs(), cuts)
def test_any_cuts_give_the_same_bytes_and_cursor(entries: list[Entry], cuts: list[int]) -> None:
    demultiplexer = Demultiplexer()
    chunks = [
        chunk for piece in pieces(b"".join(map(frame, entries)), cuts) for chunk in demultiplexer.feed(piece)
    ] + demultiplexer.flush(ended=True)
    for stream in STREAMS:
        assert taken(chunks, stream) == bytes_of(entries, stream)
    expected = []
    for stream in STREAMS:
        times = [entry.at for entry in entries if entry.stream is stream]
        expected.append(Position(START + times[-1], times.count(times[-1])) if times else Position())
    assert demultiplexer.cursor == Cursor(*expected)
    assert not demultiplexer.unfinished


@settings(deadline=None, max_examples=80)
@given(logs(), cuts, st.integers(0, 30), st.integers(0, 30), st.booleans())
def test_goes_on_from_any_cursor_without_a_gap_or_a_repeat(
    entries: list[Entry], cuts: list[int], seen: int, again: int, flushed: bool
) -> None:
    first = Demultiplexer()
    chunks = first.feed(b"".join(map(frame, entries[:seen])))
    if flushed:
        held, kept = first.held, first.flush()
        assert held == bool(kept)
        assert not first.held
        chunks += kept
    second = Demultiplexer(first.cursor)
    for piece in pieces(b"".join(map(frame, entries[max(0, seen - again) * (not flushed) :])), cuts):
        chunks += second.feed(piece)
    chunks += second.flush(ended=True)
    kept_back = max(0, seen - again) if not flushed else 0
    earliest = {stream: first_needed(entries[:seen], first.cursor, stream) for stream in STREAMS}
    for stream in STREAMS:
        if earliest[stream] >= kept_back:  # what is needed was sent again
            assert taken(chunks, stream) == bytes_of(entries, stream)


def first_needed(seen: list[Entry], cursor: Cursor, stream: Stream) -> int:
    """The first entry the cursor does not cover, or where its instant begins."""
    position = cursor.stdout if stream is Stream.STDOUT else cursor.stderr
    for number, entry in enumerate(seen):
        if entry.stream is stream and START + entry.at >= position.at:
            return number
    return len(seen)


@settings(deadline=None)
@given(logs(streams=(Stream.STDOUT,)), cuts, st.integers(0, 30))
def test_a_terminals_output_has_no_frames(entries: list[Entry], cuts: list[int], seen: int) -> None:
    while seen < len(entries) and seen and not entries[seen - 1].data.endswith(b"\n"):
        seen += 1
    first = Demultiplexer(terminal=True)
    chunks = first.feed(terminal_text(entries[:seen]))
    second = Demultiplexer(first.cursor, terminal=True)
    for piece in pieces(terminal_text(entries), cuts):
        chunks += second.feed(piece)
    assert taken(chunks, Stream.STDOUT) == bytes_of(entries, Stream.STDOUT)
    assert second.feed(stamp(59 * 10**9 * 60) + b" no end") == []
    assert taken(second.flush(), Stream.STDOUT) == b""
    assert taken(second.flush(ended=True), Stream.STDOUT) == b"no end"


def test_neighbours_within_a_tenth_of_a_second_are_one_chunk_with_the_first_ones_time() -> None:
    tenth = 10**8
    entries = [
        Entry(Stream.STDOUT, tenth, b"a\n"),
        Entry(Stream.STDOUT, tenth + tenth // 2, b"b\n"),
        Entry(Stream.STDERR, tenth + 1, b"c\n"),
        Entry(Stream.STDERR, 2 * tenth, b"d\n"),
        Entry(Stream.STDOUT, 2 * tenth, b"e\n"),
    ]
    assert Demultiplexer().feed(b"".join(map(frame, entries))) == [
        Chunk(Stream.STDOUT, b"a\nb\n", START + tenth),
        Chunk(Stream.STDERR, b"c\n", START + tenth + 1),
        Chunk(Stream.STDERR, b"d\n", START + 2 * tenth),
        Chunk(Stream.STDOUT, b"e\n", START + 2 * tenth),
    ]


def test_what_a_rotation_repeats_is_skipped_and_what_a_clock_set_back_brings_is_not() -> None:
    lines = [Entry(Stream.STDOUT, 10**9 + number, b"%d\n" % number) for number in range(100)]
    set_back = [Entry(Stream.STDOUT, 10**6 + number, b"back %d\n" % number) for number in range(3)]
    demultiplexer = Demultiplexer()
    sent = lines + lines[60:] + set_back + set_back[1:]
    chunks = [chunk for entry in sent for chunk in demultiplexer.feed(frame(entry))]
    assert taken(chunks, Stream.STDOUT) == bytes_of(lines + set_back, Stream.STDOUT)
    assert demultiplexer.repeated == 42


def test_a_held_part_does_not_wait_for_ever_while_the_other_stream_goes_on() -> None:
    demultiplexer = Demultiplexer()
    assert demultiplexer.feed(frame(Entry(Stream.STDOUT, 1, b"x" * PART))) == []
    assert demultiplexer.cursor == Cursor()
    chunks = demultiplexer.feed(frame(Entry(Stream.STDERR, 2 * 10**9, b"later\n")))
    assert taken(chunks, Stream.STDOUT) == b"x" * PART
    assert demultiplexer.cursor.stdout == Position(START + 1, 1)


@pytest.mark.parametrize(
    ("data", "terminal", "message"),
    [
        pytest.param(b"HTTP/1.1 500 Internal Server Error\r\n", False, "not framed", id="not a log"),
        pytest.param(b"\x01\0\0\0\xff\xff\xff\xff", False, "not framed", id="a frame of 4 GB"),
        pytest.param(b"\x07\0\0\0\0\0\0\x00", False, "not framed", id="no such stream"),
        pytest.param(b"\x01\0\0\0\0\0\0\x05hello", False, "not framed", id="no time at all"),
        pytest.param(NO_SUCH_MONTH, False, "not a time", id="no such time"),
        pytest.param(b"\x03\0\0\0\0\0\0\x0blog is gone", False, "log is gone", id="the engine's own error"),
        pytest.param(b"hello\r\n", True, "not framed", id="terminal without a time"),
        pytest.param(b"x" * 17_000_000, True, "longer than 16 MiB", id="terminal without a line end"),
    ],
)
def test_garbage_is_an_error_that_says_so(data: bytes, terminal: bool, message: str) -> None:
    with pytest.raises(SpoolError, match=message):
        Demultiplexer(terminal=terminal).feed(data)


@given(st.binary(max_size=300), st.booleans())
def test_no_bytes_do_worse_than_an_error(data: bytes, terminal: bool) -> None:
    demultiplexer = Demultiplexer(terminal=terminal)
    with contextlib.suppress(SpoolError):
        demultiplexer.feed(data)
        demultiplexer.feed(data)
        demultiplexer.flush(ended=True)
