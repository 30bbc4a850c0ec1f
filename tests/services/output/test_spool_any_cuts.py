"""Whatever is written, in whatever cuts: lines and raw bytes are those of a simple model."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from services.output import Chunk, Cursor, Position, SpoolReader, SpoolWriter, Stream
from tests.services.output.spool_model import SpoolModel, lines_of, raw_of

MEGABYTE = 1024 * 1024

pieces = st.one_of(
    st.sampled_from([b"", b"\n", b"\n" * 10, b"a", b"caf\xc3", b"\xa9", b"\0", b"no end", b"x\ry\r\n", b"\xff\xfe\n"]),
    st.binary(max_size=40),
    st.builds(
        lambda size, end: b"long" * size + end,
        st.sampled_from([1000, 5000, 16_384, 50_000]),
        st.sampled_from([b"", b"\n"]),
    ),
)
chunks = st.builds(Chunk, st.sampled_from([Stream.STDOUT, Stream.STDERR]), pieces, st.integers(0, 2 * 10**9))
acts = st.lists(st.one_of(chunks, st.lists(chunks, max_size=5), st.sampled_from(["flush", "reopen", "note"])))


def act_on(writer: SpoolWriter, model: SpoolModel, act: object, number: int) -> None:
    match act:
        case Chunk():
            writer.append([act])
            model.append(act)
        case list():
            writer.append(act, Cursor(Position(number, 1)))
            for chunk in act:
                model.append(chunk)
            model.flush()
        case "flush":
            writer.flush()
            model.flush()
        case "note":
            writer.note("a  remark\n")
            model.write(Stream.NOTE, b"a remark\n")


@settings(max_examples=120, deadline=None)
@given(acts)
def test_lines_and_raw_bytes_equal_the_model(acts: list[object]) -> None:
    model = SpoolModel()
    with TemporaryDirectory() as place:
        directory = Path(place) / "output"
        writer = SpoolWriter.open(directory, limit=100 * MEGABYTE, keep_unindexed=False)
        durable = writer.cursor
        with SpoolReader.open(directory) as following:
            for number, act in enumerate(acts):
                if act == "reopen":
                    size = writer.size
                    writer.close()
                    durable = writer.cursor if writer.size > size else durable
                    model.flush()
                    writer = SpoolWriter.open(directory, limit=100 * MEGABYTE, keep_unindexed=number % 2 == 0)
                    assert writer.cursor == durable
                else:
                    size = writer.size
                    act_on(writer, model, act, number)
                    durable = writer.cursor if writer.size > size else durable
                following.refresh()
                assert lines_of(following) == model.lines
            writer.close()
            model.flush()
            following.refresh()
            with SpoolReader.open(directory) as fresh:
                for reader in (following, fresh):
                    assert lines_of(reader) == model.lines
                    assert reader.end == len(model.lines)
                    for stream in Stream:
                        assert raw_of(reader, stream) == model.raw[stream]
                    for number, (_, data) in enumerate(model.lines):
                        assert reader.rest(number, 2, 10**9) == data[2:]
                        (line,) = reader.lines(number, 1, cut=3)
                        assert (line.number, line.data, line.length) == (number, data[:3], len(data))


@settings(max_examples=60, deadline=None)
@given(st.lists(chunks, max_size=60))
def test_a_small_limit_keeps_the_newest_lines_under_their_own_numbers(written: list[Chunk]) -> None:
    model = SpoolModel()
    with TemporaryDirectory() as place:
        directory = Path(place)
        with (
            SpoolWriter.open(directory, limit=200_000, keep_unindexed=False) as writer,
            SpoolReader.open(directory) as following,
        ):
            for chunk in written:
                writer.append([chunk])
                model.append(chunk)
                following.refresh()
            model.flush()
        with SpoolReader.open(directory) as fresh:
            following.refresh()
            for reader in (fresh, following):
                found = lines_of(reader)
                assert reader.end == len(model.lines)
                assert reader.first == len(model.lines) - len(found)
                assert found[1:] == model.lines[reader.first + 1 :]
                if found:
                    assert model.lines[reader.first][1].endswith(found[0][1])
                kept = raw_of(reader, Stream.STDOUT)
                assert model.raw[Stream.STDOUT].endswith(kept)
