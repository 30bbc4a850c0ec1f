"""A spool whose writer died at any byte opens again with all that its cursor vouches for, and nothing else."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from services.errors import LockHeld, SpoolError
from services.output import Chunk, Cursor, Position, SpoolReader, SpoolWriter, Stream
from tests.services.output.spool_model import batch, raw_of

MEGABYTE = 1024 * 1024
ROOT = Path(__file__).parents[3]
OUT, ERR = Stream.STDOUT, Stream.STDERR

BATCHES = [
    [Chunk(OUT, b"first\nsecond\n", 0)],
    [Chunk(OUT, b"soon after\n", 10**8)],
    [Chunk(ERR, b"another stream\n", 10**8), Chunk(OUT, b"between\n", 10**8), Chunk(ERR, b"them\n", 10**8)],
    [Chunk(OUT, b"x" * 100_000 + b"\n", 10**9)],
    [Chunk(OUT, b"open", 2 * 10**9)],
    [Chunk(ERR, b"breaks it\n", 3 * 10**9)],
    [Chunk(OUT, b"ended\n", 3 * 10**9 + 1)],
    [Chunk(OUT, b"last\n", 3 * 10**9 + 2)],
]


def expected(batches: int, stream: Stream) -> bytes:
    return b"".join(chunk.data for batch in BATCHES[:batches] for chunk in batch if chunk.stream is stream)


def raw(directory: Path, stream: Stream) -> bytes:
    with SpoolReader.open(directory) as reader:
        return raw_of(reader, stream)


def write_all(directory: Path, limit: int) -> Path:
    with SpoolWriter.open(directory, limit=limit, keep_unindexed=False) as writer:
        for number, batch in enumerate(BATCHES, 1):
            writer.append(batch, Cursor(Position(number, 1)))
    return directory


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All batches in one segment."""
    return write_all(tmp_path_factory.mktemp("one") / "output", 100 * MEGABYTE)


@pytest.fixture(scope="module")
def segmented(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All batches in two segments, the second with the open line."""
    return write_all(tmp_path_factory.mktemp("two") / "output", MEGABYTE)


def check_repaired(directory: Path, at_least: int = 0) -> None:
    """The spool holds exactly what its cursor says, and grows on from there to the whole."""
    with SpoolWriter.open(directory, limit=MEGABYTE, keep_unindexed=False) as writer:
        batches = writer.cursor.stdout.at
        assert batches >= at_least
        for stream in (OUT, ERR):
            assert raw(directory, stream) == expected(batches, stream)
        for number, batch in enumerate(BATCHES[batches:], batches + 1):
            writer.append(batch, Cursor(Position(number, 1)))
    for stream in (OUT, ERR):
        assert raw(directory, stream) == expected(len(BATCHES), stream)


@pytest.mark.parametrize("suffix", ["index", "runs", "out"])
@pytest.mark.parametrize("segments", ["written", "segmented"])
def test_a_file_cut_at_any_byte(request: pytest.FixtureRequest, tmp_path: Path, segments: str, suffix: str) -> None:
    source: Path = request.getfixturevalue(segments)
    name = max(path.name for path in source.glob(f"*.{suffix}"))
    size = (source / name).stat().st_size
    for cut in range(max(0, size - 240), size):
        directory = tmp_path / str(cut)
        shutil.copytree(source, directory)
        with (directory / name).open("r+b") as file:
            file.truncate(cut)
        check_repaired(directory)
        shutil.rmtree(directory)


def test_any_byte_of_the_last_record_changed(written: Path, tmp_path: Path) -> None:
    (name,) = (path.name for path in written.glob("*.index"))
    data = (written / name).read_bytes()
    for position in range(len(data) - 80, len(data)):
        directory = tmp_path / str(position)
        shutil.copytree(written, directory)
        changed = bytearray(data)
        changed[position] ^= 0x55
        (directory / name).write_bytes(changed)
        with SpoolReader.open(directory) as reader:
            assert expected(len(BATCHES), OUT).startswith(raw_of(reader, OUT))
        check_repaired(directory)
        shutil.rmtree(directory)


def test_the_figures_cut_or_changed_anywhere(written: Path, tmp_path: Path) -> None:
    data = (written / "figures").read_bytes()
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= 0x55
        for damaged in (data[:position], bytes(changed)):
            directory = tmp_path / "output"
            shutil.copytree(written, directory)
            (directory / "figures").write_bytes(damaged)
            check_repaired(directory, at_least=len(BATCHES))
            shutil.rmtree(directory)


@pytest.mark.parametrize("records", range(9))
def test_bytes_without_a_record_are_kept_when_the_source_cannot_send_them_again(
    written: Path, tmp_path: Path, records: int
) -> None:
    directory = tmp_path / "output"
    shutil.copytree(written, directory)
    (index,) = directory.glob("*.index")
    (data,) = directory.glob("*.out")
    everything = data.read_bytes()
    with index.open("r+b") as file:
        file.truncate(records * 80)
    with SpoolWriter.open(directory, limit=MEGABYTE, keep_unindexed=True) as writer:
        assert data.read_bytes() == everything
        writer.append([Chunk(OUT, b"goes on\n", 0)])
    with SpoolReader.open(directory) as reader:
        assert [line.data for line in reader.lines(0, 100, cut=10**6)] == (everything + b"goes on\n").split(b"\n")[:-1]


def test_a_damaged_record_inside_is_an_error_where_it_is_read_and_nowhere_else(written: Path, tmp_path: Path) -> None:
    directory = tmp_path / "output"
    shutil.copytree(written, directory)
    (index,) = directory.glob("*.index")
    data = bytearray(index.read_bytes())
    data[2 * 80 + 20] ^= 0xFF
    index.write_bytes(data)
    with SpoolReader.open(directory) as reader:
        assert reader.lines(reader.end - 1, 1)[0].data == b"last"
        with pytest.raises(SpoolError, match=r"record 2 of 000000000000\.index is damaged"):
            reader.lines(0, 100)


WRITER = """
import sys
from pathlib import Path
from services.output import Chunk, Cursor, Position, SpoolWriter, Stream
from tests.services.output.spool_model import batch
writer = SpoolWriter.open(Path(sys.argv[1]), limit=10**9, keep_unindexed=False)
print("ready", flush=True)
number = writer.cursor.stdout.at
while number < int(sys.argv[2]):
    number += 1
    writer.append(batch(number), Cursor(Position(number, 1)))
writer.close()
"""


def test_a_writer_killed_at_random_moments_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    directory, batches = tmp_path / "output", 20_000
    command = [sys.executable, "-c", WRITER, str(directory), str(batches)]
    moments = random.Random(7)
    for _ in range(10):
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            try:
                process.wait(moments.uniform(0.0, 0.15))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
        with SpoolWriter.open(directory, limit=10**9, keep_unindexed=False) as writer:
            reached = writer.cursor.stdout.at
        for stream in (OUT, ERR):
            sent = (chunk.data for number in range(1, reached + 1) for chunk in batch(number) if chunk.stream is stream)
            assert raw(directory, stream) == b"".join(sent)
    assert reached > 0


def test_only_one_process_writes(tmp_path: Path) -> None:
    with SpoolWriter.open(tmp_path, limit=MEGABYTE, keep_unindexed=False) as writer:
        writer.append([Chunk(OUT, b"mine\n", 0)])
        with pytest.raises(LockHeld):
            SpoolWriter.open(tmp_path, limit=MEGABYTE, keep_unindexed=False)
        again = "from pathlib import Path; from services.output import SpoolWriter; import sys\n"
        again += "SpoolWriter.open(Path(sys.argv[1]), limit=1, keep_unindexed=False)"
        refused = subprocess.run(
            [sys.executable, "-c", again, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert "LockHeld: the session's output is in use" in refused.stderr
    with SpoolWriter.open(tmp_path, limit=MEGABYTE, keep_unindexed=False):
        assert raw(tmp_path, OUT) == b"mine\n"


def test_a_place_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    with pytest.raises(SpoolError, match=f"cannot write output to {tmp_path}/file/output: Not a directory"):
        SpoolWriter.open(tmp_path / "file" / "output", limit=MEGABYTE, keep_unindexed=False)
