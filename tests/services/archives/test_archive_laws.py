"""Whatever a workspace holds comes back as it was; whatever a tar holds is read to an end, and named."""

from __future__ import annotations

import gzip
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.archives import Limits, Refused
from services.archives.reading.admission import Admission, admitted
from services.archives.reading.checksums import Sums
from services.archives.reading.extracting import Extracting
from services.archives.reading.files import Folder
from services.archives.reading.tree import tree_of
from services.archives.tars.content import content
from services.archives.tars.decompression import Damaged, TarBytes, TooMuch, compressed_file
from services.archives.working import Gauge
from services.archives.writing.workspace import pack
from tests.services.archives.foreign import file, folder, hard_link, link, tar_of
from tests.services.archives.workspaces import described

NAMES = st.binary(min_size=1, max_size=40).filter(lambda name: b"/" not in name and b"\0" not in name)
names = NAMES.filter(lambda name: name not in (b".", b".."))
MODES = st.integers(0, 0o777).map(lambda mode: mode | 0o400)
TIMES = st.integers(-(10**18), 4 * 10**18)
contents = st.one_of(st.binary(max_size=3000), st.integers(0, 3).map(lambda count: bytes(count * 600_000)))
trees = st.recursive(
    st.one_of(
        st.tuples(st.just("file"), contents, MODES, TIMES),
        st.tuples(st.just("link"), st.binary(min_size=1, max_size=60).filter(lambda data: b"\0" not in data)),
    ),
    lambda inner: st.dictionaries(names, inner, max_size=4),
    max_leaves=8,
)


def build(place: bytes, tree: object) -> None:
    """Put a drawn tree on the disk."""
    match tree:
        case dict():
            os.mkdir(place)  # noqa: PTH102 - names that are no text
            for name, below in tree.items():
                build(place + b"/" + name, below)
        case ("file", bytes() as data, int() as mode, int() as time):
            descriptor = os.open(place, os.O_WRONLY | os.O_CREAT, 0o600)
            os.write(descriptor, data)
            os.fchmod(descriptor, mode)
            os.utime(descriptor, ns=(time, time))
            os.close(descriptor)
        case ("link", bytes() as target):
            os.symlink(target, place)  # noqa: PTH211 - names that are no text


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(names, trees, max_size=5), st.sampled_from(["workspace.tar.gz", "workspace.tar.zst"]))
def test_what_was_packed_comes_back(tree: object, name: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        build(os.fsencode(root / "workspace"), tree)
        (root / "archive").mkdir()
        assert pack(root / "archive", name, root / "workspace", Gauge()).omitted == ()
        with Folder.open(root / "archive") as archive:
            found = tree_of(archive, Sums({}, (), None), False, Limits(), Gauge())
            work = Extracting(archive, found, Limits(), False, Gauge())
            extraction = work.extract(root / "back", [], replace=False)
        assert described(root / "back") == described(root / "workspace")
        assert extraction.refused == ()


PLAIN = gzip.decompress(
    tar_of(
        [
            folder("workspace"),
            file("workspace/" + "long" * 40, b"a" * 700),
            file("workspace/\u00e9", b"b" * 1500),
            link("workspace/l", "b"),
            hard_link("workspace/h", "workspace/\u00e9"),
        ]
    )
)
changes = st.lists(st.tuples(st.integers(0, len(PLAIN) - 1), st.integers(0, 255)), min_size=1, max_size=8)


@settings(max_examples=150)
@given(changes, st.integers(0, len(PLAIN)), st.booleans())
def test_a_damaged_tar_is_read_to_an_end(changes: list[tuple[int, int]], cut: int, read: bool) -> None:
    data = bytearray(PLAIN)
    for at, value in changes:
        data[at] = value
    tar = gzip.compress(bytes(data[: cut or None]), compresslevel=1)
    with tempfile.TemporaryFile() as file:
        file.write(tar)
        file.flush()
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        limits = Limits(members=50, member_size=10_000, total_size=20_000)
        seen = 0
        stream = TarBytes(compressed_file(file.fileno()), 100_000)
        for entry in admitted(stream, Admission(limits, strict=True)):
            seen += 1
            if isinstance(entry, Refused):
                assert entry.reason
                continue
            header, member = entry
            assert member.path.split("/")[0] == "workspace"
            assert ".." not in member.path.split("/")
            if read:
                with suppress(Damaged, TooMuch):
                    assert sum(_length(piece) for piece in content(stream, header)) == header.size
        assert seen < 100


def _length(piece: bytes | int) -> int:
    return piece if isinstance(piece, int) else len(piece)
