"""Searches and filters find exactly the lines that a plain loop finds, while the session grows."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.errors import PinfoldError
from services.output import (
    Chunk,
    Filter,
    FilteredLines,
    Level,
    MatchProgress,
    Query,
    Search,
    SpoolReader,
    SpoolWriter,
    Stream,
    level_of,
)
from services.output.search.matchers import RegexMatcher

MEGABYTE = 1024 * 1024
WORDS = (b"alpha", b"Beta", b"ERROR x", b"0 errors", b"warn: y", "größe".encode(), b"\x1b[31mal\x1b[0mpha", b"a" * 300)

lines = st.lists(st.sampled_from(WORDS), min_size=0, max_size=3).map(b" ".join)
outputs = st.lists(st.tuples(st.sampled_from([Stream.STDOUT, Stream.STDERR]), lines), max_size=60)
queries = st.sampled_from(
    [
        Query("alpha"),
        Query("ALPHA", ignore_case=True),
        Query("Beta alpha"),
        Query("größe"),
        Query("GRÖSSE", regex=True, ignore_case=True),
        Query("^alpha|x$", regex=True),
        Query(r"a\s+B", regex=True),
        Query("a" * 290),
    ]
)
filters = st.builds(
    Filter,
    streams=st.sampled_from([frozenset(Stream), frozenset({Stream.STDOUT}), frozenset({Stream.STDERR})]),
    query=st.none() | queries,
    level=st.none() | st.sampled_from([Level.WARNING, Level.ERROR]),
)


def visible(data: bytes) -> bytes:
    return re.sub(rb"\x1b\[[0-9]*m", b"", data)


def matches(wanted: Query | Filter, stream: Stream, data: bytes) -> bool:
    if isinstance(wanted, Filter):
        level = level_of(data)
        return (
            stream in wanted.streams
            and (wanted.query is None or matches(wanted.query, stream, data))
            and (wanted.level is None or (level is not None and level >= wanted.level))
        )
    text = visible(data).decode()
    if wanted.regex:
        return re.search(wanted.pattern, text, re.IGNORECASE if wanted.ignore_case else 0) is not None
    return wanted.pattern.lower() in text.lower() if wanted.ignore_case else wanted.pattern in text


async def until(progress: AsyncIterator[MatchProgress], reached: Callable[[MatchProgress], bool]) -> MatchProgress:
    async with asyncio.timeout(20):
        async for each in progress:
            if reached(each):
                return each
    raise AssertionError("the search ended before it got there")


def write(writer: SpoolWriter, output: list[tuple[Stream, bytes]]) -> None:
    writer.append([Chunk(stream, data + b"\n", number * 10**8) for number, (stream, data) in enumerate(output)])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=outputs, after=outputs, wanted=queries | filters, cut=st.integers(0, 400))
async def test_finds_what_a_plain_loop_finds(
    tmp_path_factory: pytest.TempPathFactory,
    before: list[tuple[Stream, bytes]],
    after: list[tuple[Stream, bytes]],
    wanted: Query | Filter,
    cut: int,
) -> None:
    directory = tmp_path_factory.mktemp("spool")
    with SpoolWriter.open(directory, limit=MEGABYTE, keep_unindexed=False) as writer:
        write(writer, before)
        with SpoolReader.open(directory) as reader, Search(reader, wanted) as search:
            async with contextlib.aclosing(search.run()) as progress:
                await until(progress, lambda at: at.complete)
                write(writer, after)
                part = b"an open ERROR x alpha"
                writer.append([Chunk(Stream.STDOUT, part[:cut], 0)])
                writer.flush()
                write(writer, [(Stream.STDOUT, part[cut:])])
                writer.finish()
                with contextlib.suppress(AssertionError):
                    await until(progress, lambda at: False)
            reader.refresh()
            found = [line.number for line in reader.lines(0, 1000) if matches(wanted, line.stream, line.data)]
            assert search.count == len(found)
            assert search.complete
            for line in (-1, 0, *found[:3], reader.end // 2, reader.end):
                assert await search.next(line) == next((number for number in found if number > line), None)
                below = [number for number in found if number < line]
                assert await search.next(line, forward=False) == (below[-1] if below else None)
            assert [await search.ordinal(line) for line in found] == [*range(1, len(found) + 1)]
            with Search(reader, wanted) as uncounted:
                for line in (-1, reader.end // 2, reader.end):
                    assert await uncounted.next(line) == next((number for number in found if number > line), None)
                    below = [number for number in found if number < line]
                    assert await uncounted.next(line, forward=False) == (below[-1] if below else None)


@settings(max_examples=40, deadline=None)
@given(output=outputs, wanted=filters)
async def test_rows_are_the_lines_that_pass(
    tmp_path_factory: pytest.TempPathFactory, output: list[tuple[Stream, bytes]], wanted: Filter
) -> None:
    directory = tmp_path_factory.mktemp("spool")
    with SpoolWriter.open(directory, limit=MEGABYTE, keep_unindexed=False) as writer:
        write(writer, output)
        writer.note("a remark")
    with SpoolReader.open(directory) as reader, FilteredLines(reader, wanted) as filtered:
        async with contextlib.aclosing(filtered.run()) as progress:
            await until(progress, lambda at: at.complete)
        found = [line.number for line in reader.lines(0, 1000) if matches(wanted, line.stream, line.data)]
        assert filtered.rows == len(found)
        assert filtered.line_numbers(0, 1000) == found
        for row, line in enumerate(found):
            assert (filtered.line_number(row), filtered.row_at(line)) == (line, row)
        with pytest.raises(IndexError):
            filtered.line_number(len(found))


async def test_text_is_found_across_the_blocks_of_a_very_long_line(tmp_path: Path) -> None:
    at = 64 * 1024 - 3
    with SpoolWriter.open(tmp_path, limit=100 * MEGABYTE, keep_unindexed=False) as writer:
        for number in range(6):
            writer.append(
                [Chunk(Stream.STDOUT, b"." * (at + 64 * 1024 * number) + b"needle" + b"." * MEGABYTE + b"\n", 0)]
            )
        writer.append([Chunk(Stream.STDOUT, b"." * (5 * MEGABYTE) + b"needle", 0)])
        writer.flush()
    with SpoolReader.open(tmp_path) as reader, Search(reader, Query("needle")) as search:
        async with contextlib.aclosing(search.run()) as progress:
            assert (await until(progress, lambda at: at.complete)).count == 7
        assert [await search.next(line) for line in range(-1, 7)] == [0, 1, 2, 3, 4, 5, 6, None]


async def test_matches_go_when_their_lines_are_dropped(tmp_path: Path) -> None:
    with (
        SpoolWriter.open(tmp_path, limit=MEGABYTE, keep_unindexed=False) as writer,
        SpoolReader.open(tmp_path) as reader,
        FilteredLines(reader, Filter(query=Query("7"))) as filtered,
    ):
        async with contextlib.aclosing(filtered.run()) as progress:
            for start in range(0, 40_000, 4_000):
                writer.append([Chunk(Stream.STDOUT, b"".join(b"%050d\n" % n for n in range(start, start + 4000)), 0)])
                await until(progress, lambda at: at.complete and at.end == writer.lines_written)
        reader.refresh()
        assert reader.first > 0
        expected = [number for number in range(reader.first, reader.end) if "7" in str(number)]
        assert filtered.line_numbers(0, 10**6) == expected


async def test_a_pattern_that_takes_for_ever_ends_the_search_and_never_the_screens(tmp_path: Path) -> None:
    with SpoolWriter.open(tmp_path, limit=MEGABYTE, keep_unindexed=False) as writer:
        writer.append([Chunk(Stream.STDOUT, b"fine\n" + b"a" * 60 + b"!\n", 0)])
    with SpoolReader.open(tmp_path) as reader, Search(reader, Query("(a+)+$", regex=True)) as search:
        longest, last = 0.0, time.monotonic()

        async def beat() -> None:
            nonlocal longest, last
            while True:
                await asyncio.sleep(0.005)
                longest, last = max(longest, time.monotonic() - last), time.monotonic()

        beating = asyncio.create_task(beat())
        with pytest.raises(PinfoldError, match="the pattern takes too long somewhere in lines 1 to"):
            async with contextlib.aclosing(search.run()) as progress:
                await until(progress, lambda at: at.complete)
        beating.cancel()
        assert longest < 5.0


async def test_closing_ends_a_search_that_hangs_in_its_pattern(tmp_path: Path) -> None:
    with SpoolWriter.open(tmp_path, limit=MEGABYTE, keep_unindexed=False) as writer:
        writer.append([Chunk(Stream.STDOUT, b"a" * 60 + b"!\n", 0)])
    with SpoolReader.open(tmp_path) as reader:
        search = Search(reader, Query("(a+)+$", regex=True))
        looking = asyncio.create_task(search.next(-1))
        async with asyncio.timeout(10):
            while not isinstance(matcher := search._jumper, RegexMatcher) or matcher._process._process is None:
                await asyncio.sleep(0.01)
            process = matcher._process._process
            search.close()
            assert await looking is None
            process.wait()


@pytest.mark.parametrize(
    ("pattern", "regex", "why"),
    [
        ("", False, "nothing to search for"),
        ("a\nb", False, "line end"),
        ("(", True, "not a regular expression: missing ), unterminated subpattern at character 1"),
        ("a" * 1001, False, "longer than 1000"),
        ("(?<=a+)b", True, "look-behind requires fixed-width pattern"),
        ("x{99999999999999999999}", True, "too"),
    ],
    ids=["empty", "two lines", "open bracket", "too long", "look-behind", "huge count"],
)
def test_a_bad_pattern_is_refused_with_the_reason(pattern: str, regex: bool, why: str) -> None:
    with pytest.raises(PinfoldError, match=re.escape(why)):
        Query(pattern, regex=regex)
