"""Lines, times, long lines and remarks as a reader gives them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.errors import SpoolError
from services.output import Chunk, Cursor, Line, LineCleaner, Position, SpoolReader, SpoolWriter, Stream
from tests.services.output.spool_model import lines_of, raw_of

MEGABYTE = 1024 * 1024
OUT, ERR, NOTE = Stream.STDOUT, Stream.STDERR, Stream.NOTE
SECOND = 10**9


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[SpoolWriter]:
    with SpoolWriter.open(tmp_path, limit=100 * MEGABYTE, keep_unindexed=True, now=lambda: 77 * SECOND) as writer:
        yield writer


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[SpoolReader]:
    with SpoolReader.open(tmp_path) as reader:
        yield reader


def put(writer: SpoolWriter, *data: bytes, stream: Stream = OUT, at: int = 0) -> None:
    writer.append([Chunk(stream, each, at) for each in data])


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        pytest.param([b""], [], id="nothing"),
        pytest.param([b"\n" * 10], [b""] * 10, id="ten blank lines"),
        pytest.param([b"a\nno end"], [b"a", b"no end"], id="no line end at the end"),
        pytest.param([b"\0\n\0\0"], [b"\0", b"\0\0"], id="NUL"),
        pytest.param([b"caf\xc3", b"\xa9\n"], ["café".encode()], id="a character in two chunks"),
        pytest.param([b"a\r\nb\rc\n"], [b"a\r", b"b\rc"], id="returns are kept"),
        pytest.param([b"x" * 200_000 + b"\nnext\n"], [b"x" * 200_000, b"next"], id="200 kB"),
        pytest.param([b"\0" * 5_000_000, b"\nnext\n"], [b"\0" * 5_000_000, b"next"], id="5 MB of zeros"),
        pytest.param([b"y" * 65_536 + b"\n" + b"z" * 65_535 + b"\n"], [b"y" * 65_536, b"z" * 65_535], id="a block"),
        pytest.param([b"n\n" * 50_000], [b"n"] * 50_000, id="many short lines"),
    ],
)
def test_lines(writer: SpoolWriter, reader: SpoolReader, data: list[bytes], lines: list[bytes]) -> None:
    put(writer, *data)
    writer.flush()
    assert reader.refresh() == bool(lines)
    assert reader.end == len(lines)
    assert lines_of(reader) == [(OUT, line) for line in lines]
    assert raw_of(reader, OUT) == b"".join(data)


def test_a_spool_that_is_not_there_has_no_lines_until_it_is(tmp_path: Path) -> None:
    directory = tmp_path / "later" / "output"
    with SpoolReader.open(directory) as reader:
        assert (reader.first, reader.end, reader.size, reader.complete) == (0, 0, 0, False)
        assert (reader.lines(0, 10), reader.rest(0, 0, 10), list(reader.raw()), reader.line_at(0)) == ([], b"", [], 0)
        assert not reader.refresh()
        with SpoolWriter.open(directory, limit=MEGABYTE, keep_unindexed=True) as writer:
            put(writer, b"here\n")
            assert reader.refresh()
            assert lines_of(reader) == [(OUT, b"here")]


def test_a_window_is_cut_to_what_there_is(writer: SpoolWriter, reader: SpoolReader) -> None:
    put(writer, b"0\n1\n2\n3\n4\n")
    reader.refresh()
    for start, count, expected in ((0, 2, [0, 1]), (3, 10, [3, 4]), (-5, 6, [0]), (5, 1, []), (2, 0, []), (2, -1, [])):
        assert [line.number for line in reader.lines(start, count)] == expected


def test_a_long_line_is_cut_and_its_rest_reachable(writer: SpoolWriter, reader: SpoolReader) -> None:
    line = bytes(range(256)).replace(b"\n", b"") * 1000
    put(writer, b"before\n" + line + b"\nafter\n", stream=ERR, at=5)
    reader.refresh()
    assert reader.lines(1, 1, cut=100) == [Line(1, ERR, 5, line[:100], len(line))]
    assert reader.lines(1, 1, cut=100_000) == [Line(1, ERR, 5, line[:100_000], len(line))]
    assert reader.rest(1, 100, 10) == line[100:110]
    assert reader.rest(1, 200_000, 10**9) == line[200_000:]
    assert reader.rest(1, len(line), 10) == b""
    assert reader.rest(99, 0, 10) == b""


def test_a_long_line_that_rewrites_itself_is_read_from_its_end(writer: SpoolWriter, reader: SpoolReader) -> None:
    progress = b"".join(b"\r%5d of 9999 |%s|" % (number, b"#" * 60) for number in range(10_000))
    put(
        writer, progress + b"\r\x1b[K\n" + b"plain" * 5000 + b"\n" + b"a\rb\n" + b"one return\r" + b"x" * 20_000 + b"\n"
    )
    reader.refresh()
    lines = reader.lines(0, 4, cut=16_000)
    states = [reader.last_state(line) for line in lines]
    assert LineCleaner().text(states[0].data) == f" 9999 of 9999 |{'#' * 60}|"
    assert len(states[0].data) == states[0].length <= 4000
    assert states[1:] == lines[1:]


def test_streams_do_not_break_each_others_lines(writer: SpoolWriter, reader: SpoolReader) -> None:
    put(writer, b"out is ")
    put(writer, b"err is whole\n", stream=ERR)
    put(writer, b"whole\n")
    reader.refresh()
    assert lines_of(reader) == [(ERR, b"err is whole"), (OUT, b"out is whole")]


def test_a_line_shown_before_its_end_goes_on_unless_the_other_stream_came_between(
    writer: SpoolWriter, reader: SpoolReader
) -> None:
    put(writer, b"Download")
    writer.flush()
    reader.refresh()
    assert lines_of(reader) == [(OUT, b"Download")]
    put(writer, b"ing")
    writer.flush()
    put(writer, b"oh\n", stream=ERR)
    put(writer, b" done\n")
    reader.refresh()
    assert lines_of(reader) == [(OUT, b"Downloading"), (ERR, b"oh"), (OUT, b" done")]
    assert raw_of(reader, OUT) == b"Downloading done\n"
    assert raw_of(reader, OUT, ERR) == b"Downloadingoh\n done\n"


def test_with_a_cursor_nothing_is_held_back(writer: SpoolWriter, reader: SpoolReader) -> None:
    writer.append([Chunk(OUT, b"no end", 0)], Cursor(Position(1, 1)))
    reader.refresh()
    assert lines_of(reader) == [(OUT, b"no end")]


def test_what_has_ended_is_told(writer: SpoolWriter, reader: SpoolReader) -> None:
    for data, end, ended in ((b"a\n", 1, 1), (b"b", 2, 1), (b"\n", 2, 2)):
        put(writer, data)
        writer.flush()
        reader.refresh()
        assert (reader.end, reader.ended) == (end, ended)


def test_a_line_too_long_to_hold_back_is_written(writer: SpoolWriter, reader: SpoolReader) -> None:
    for _ in range(66):
        put(writer, b"x" * 1000)
    reader.refresh()
    assert reader.lines(0, 1)[0].length == 66_000


def test_remarks_are_lines_of_their_own_and_no_output(writer: SpoolWriter, reader: SpoolReader) -> None:
    put(writer, b"a\n")
    writer.note("the engine's log\nhas a gap")
    put(writer, b"b\n")
    reader.refresh()
    assert lines_of(reader) == [(OUT, b"a"), (NOTE, b"the engine's log has a gap"), (OUT, b"b")]
    assert reader.lines(1, 1)[0].at == 77 * SECOND
    assert b"".join(reader.raw()) == b"a\nb\n"
    assert raw_of(reader, *Stream) == b"a\nthe engine's log has a gap\nb\n"


def test_raw_bytes_of_some_lines(writer: SpoolWriter, reader: SpoolReader) -> None:
    for number in range(10):
        put(writer, b"%d\n" % number, stream=ERR if number % 3 == 0 else OUT)
    reader.refresh()
    assert b"".join(reader.raw(2, 5)) == b"2\n3\n4\n"
    assert b"".join(reader.raw(2, 5, {OUT})) == b"2\n4\n"
    assert b"".join(reader.raw(8)) == b"8\n9\n"
    assert b"".join(reader.raw(5, 2)) == b""
    assert b"".join(reader.raw(-5, 99, {ERR})) == b"0\n3\n6\n9\n"


def test_times(writer: SpoolWriter, reader: SpoolReader) -> None:
    for number in range(100):
        put(writer, b"%d\n" % number, at=(1 + number) * SECOND)
    reader.refresh()
    assert [line.at for line in reader.lines(0, 100)] == [(1 + number) * SECOND for number in range(100)]
    for at, line in (
        (0, 0),
        (SECOND, 0),
        (SECOND + 1, 1),
        (50 * SECOND, 49),
        (100 * SECOND, 99),
        (100 * SECOND + 1, 100),
    ):
        assert reader.line_at(at) == line


def test_a_dribble_costs_few_records_and_tells_times_to_a_quarter_of_a_second(
    writer: SpoolWriter, reader: SpoolReader, tmp_path: Path
) -> None:
    for number in range(1000):
        put(writer, b"%d\n" % number, at=number * SECOND // 100)
    (index,) = tmp_path.glob("*.index")
    assert index.stat().st_size == 80 * 1000 // 25
    reader.refresh()
    assert all(0 <= number * SECOND // 100 - line.at < SECOND // 4 for number, line in enumerate(reader.lines(0, 1000)))


def test_alternating_streams_keep_their_order_and_cost_no_record_a_line(
    writer: SpoolWriter, reader: SpoolReader, tmp_path: Path
) -> None:
    writer.append([Chunk(OUT if number % 2 else ERR, b"%d\n" % number, 0) for number in range(1000)])
    (index,) = tmp_path.glob("*.index")
    assert index.stat().st_size == 80
    reader.refresh()
    assert lines_of(reader) == [(OUT if number % 2 else ERR, b"%d" % number) for number in range(1000)]


def test_numbers_and_counts_go_on_when_the_oldest_are_dropped(tmp_path: Path) -> None:
    directory = tmp_path / "limited"
    limit = 300_000
    with SpoolReader.open(directory) as reader:
        for _ in range(2):
            with SpoolWriter.open(directory, limit=limit, keep_unindexed=True) as writer:
                for _ in range(100):
                    start = writer.lines_written
                    put(writer, b"".join(b"%099d\n" % (start + line) for line in range(100)))
                    reader.refresh()
                    assert reader.end == start + 100
                    assert all(int(line.data) == line.number for line in reader.lines(reader.first, 5))
                    assert sum(path.stat().st_size for path in directory.iterdir()) <= limit
            assert (reader.dropped_lines, reader.dropped_bytes) == (writer.lines_dropped, writer.bytes_dropped)
        assert reader.first == reader.dropped_lines > 15_000
        assert reader.dropped_bytes == reader.first * 100
        assert reader.lines(0, 10) == []
        assert len(b"".join(reader.raw())) == (reader.end - reader.first) * 100
        assert reader.end == 20_000


def test_complete_is_told_and_taken_back_when_more_comes(writer: SpoolWriter, reader: SpoolReader) -> None:
    put(writer, b"all")
    writer.finish()
    assert reader.refresh()
    assert reader.complete
    assert lines_of(reader) == [(OUT, b"all")]
    put(writer, b" but not\n")
    assert reader.refresh()
    assert not reader.complete


def test_a_closed_spool_takes_no_more(writer: SpoolWriter) -> None:
    writer.close()
    writer.close()
    with pytest.raises(SpoolError, match="its spool is closed"):
        put(writer, b"late\n")
