"""Archives that lie, are bombs, or are cut: what is wrong is named, nothing leads out, and nothing runs away."""

from __future__ import annotations

import gzip
import os
import tarfile
from pathlib import Path

import pytest
import zstandard

from services.archives import Archives, ArchiveState, FindingKind, Limits, Refusal, result_of
from services.errors import ArchiveDamaged, ArchiveNotFound, InputRefused
from services.home import BlockingCalls, Database, Home
from services.memory import Memory
from tests.services.archives.conftest import Kept, Limited
from tests.services.archives.foreign import NAME, file, make_foreign, seal_foreign, tar_of

GOOD = tar_of([file("workspace/a", b"a" * 5000), file("workspace/b", os.urandom(5000))])


def plain(data: bytes) -> bytes:
    return gzip.decompress(data)


def with_byte(data: bytes, at: int, value: int) -> bytes:
    return data[:at] + bytes((value,)) + data[at + 1 :]


def pax(records: bytes, size: int | None = None) -> bytes:
    """A tar with one member whose PAX records are these bytes."""
    info = tarfile.TarInfo("././@PaxHeader")
    info.type, info.size = tarfile.XHDTYPE, len(records) if size is None else size
    filled = records + bytes(-len(records) % 512)
    member = tarfile.TarInfo("workspace/f").tobuf(tarfile.USTAR_FORMAT)
    return gzip.compress(info.tobuf(tarfile.USTAR_FORMAT) + filled + member + bytes(1024))


def sparse(table: bytes, real: bytes = b"1000000") -> bytes:
    """A tar with one file with holes, whose table is these bytes."""
    info = tarfile.TarInfo("workspace/f")
    info.size = 512
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": real.decode()}
    return gzip.compress(info.tobuf(tarfile.PAX_FORMAT) + table.ljust(512, b"\0") + bytes(1024))


DAMAGED = {
    "no compressed file": b"plain text",
    "an empty file": b"",
    "cut in the middle": GOOD[: len(GOOD) // 2],
    "cut before its checksum": GOOD[:-4],
    "a changed byte": with_byte(GOOD, len(GOOD) // 2, GOOD[len(GOOD) // 2] ^ 0xFF),
    "a wrong checksum": with_byte(GOOD, len(GOOD) - 6, GOOD[-6] ^ 0xFF),
    "something behind its end": GOOD + b"hidden",
    "members behind its end": gzip.compress(plain(GOOD) + plain(GOOD)),
    "a tar cut at a header": gzip.compress(plain(GOOD)[:512]),
    "a tar without an end": gzip.compress(plain(GOOD)[: 512 + 5120]),
    "a damaged header behind a good member": gzip.compress(with_byte(plain(GOOD), 512 + 5120, 0xFF)),
    "no tar at all": gzip.compress(b"\x01" * 2048),
    "records that end too late": pax(b"99 path=workspace/x\n"),
    "records without a length": pax(b"path=workspace/x\n"),
    "records that are digits only": pax(b"1" * 60_000),
    "records of eight gigabytes": pax(b"", size=8 * 1024**3 - 1),
    "a table of holes that runs backwards": sparse(b"2\n500\n10\n100\n10\n"),
    "a table of holes beyond the file": sparse(b"1\n2000000\n10\n"),
    "a table of holes that is no number": sparse(b"1\nx\n10\n"),
    "a table of too many holes": sparse(b"99999999999\n"),
    "an endless number in the table": sparse(b"1" * 512),
}


ZSTD = zstandard.ZstdCompressor(write_checksum=True).compress(plain(GOOD))

DAMAGED_ZSTD = {
    "cut in the middle": ZSTD[: len(ZSTD) // 2],
    "cut at its end": ZSTD[:-8],
    "a changed byte": with_byte(ZSTD, len(ZSTD) // 2, ZSTD[len(ZSTD) // 2] ^ 0xFF),
    "something behind its end": ZSTD + b"hidden",
    "a window of gigabytes": b"\x28\xb5\x2f\xfd\x00\xff" + ZSTD[6:],
}


@pytest.mark.parametrize("tar", DAMAGED_ZSTD.values(), ids=DAMAGED_ZSTD)
async def test_damage_of_zstd_is_named(archives: Archives, home: Home, tmp_path: Path, tar: bytes) -> None:
    make_foreign(home.archives_dir, {"workspace.tar.zst": tar})
    extraction = await result_of((await archives.open(NAME)).extract(tmp_path / "target"))
    assert {one.reason for one in extraction.refused} == {Refusal.TRUNCATED}


@pytest.mark.parametrize("tar", DAMAGED.values(), ids=DAMAGED)
async def test_damage_is_named_and_what_lies_before_it_is_kept(
    archives: Archives, home: Home, tmp_path: Path, tar: bytes
) -> None:
    make_foreign(home.archives_dir, {"workspace.tar.gz": tar})
    extraction = await result_of((await archives.open(NAME)).extract(tmp_path / "target"))
    assert {one.reason for one in extraction.refused} == {Refusal.TRUNCATED}
    for path in (tmp_path / "target").iterdir():
        assert path.stat().st_size == 5000


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
async def test_a_bomb_ends_at_the_limit(limited: Limited, home: Home, tmp_path: Path, compress) -> None:
    archives = limited(Limits(members=10, member_size=10**9, total_size=4 * 1024**2))
    info = tarfile.TarInfo("workspace/zeros")
    info.size = 40 * 1024**2
    bomb = compress(info.tobuf(tarfile.PAX_FORMAT) + bytes(info.size) + bytes(1024))
    name = "workspace.tar.gz" if compress is gzip.compress else "workspace.tar.zst"
    make_foreign(home.archives_dir, {name: bomb})
    extraction = await result_of((await archives.open(NAME)).extract(tmp_path / "target"))
    assert Refusal.TOTAL in {one.reason for one in extraction.refused}
    assert list((tmp_path / "target").iterdir()) == []


async def test_a_file_with_holes_is_held_to_the_limit_of_its_real_size(
    archives: Archives, home: Home, tmp_path: Path
) -> None:
    make_foreign(home.archives_dir, {"workspace.tar.gz": sparse(b"0\n", real=b"900000000000000")})
    extraction = await result_of((await archives.open(NAME)).extract(tmp_path / "target"))
    assert [one.reason for one in extraction.refused] == [Refusal.TOO_LARGE]


NAMES = {
    "..": "a/../../pinfold.toml",
    "absolute": "/etc/passwd",
    "a dot": "./agent.toml",
    "control characters": "a\x1b[2Jb",
    "twice": "agent.toml",
    "the manifest": "manifest.toml",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
async def test_checksums_that_name_what_is_elsewhere_are_refused(archives: Archives, home: Home, name: str) -> None:
    place = make_foreign(home.archives_dir, {"agent.toml": b""})
    seal_foreign(place, (place / "checksums.sha256").read_bytes() + f"{'0' * 64}  {name}\n".encode())
    verification = await result_of(archives.verify(NAME))
    assert FindingKind.REFUSED in {finding.kind for finding in verification.findings}
    assert {finding.name for finding in verification.findings} == {"manifest.toml", name}


@pytest.mark.parametrize(
    "manifest",
    [b"\xff\xfe", b"schema = 1", b"schema = 2\n", b"a = [" * 5000, b"schema = 'x'"],
    ids=["no text", "nothing in it", "newer", "deep", "another type"],
)
async def test_a_manifest_that_is_none_makes_the_archive_damaged(
    archives: Archives, home: Home, manifest: bytes
) -> None:
    place = make_foreign(home.archives_dir, {"agent.toml": b""})
    (place / "manifest.toml").write_bytes(manifest)
    (found,) = await archives.list()
    assert (found.state, found.alias) == (ArchiveState.DAMAGED, "bot")
    with pytest.raises(ArchiveDamaged):
        await archives.open(NAME)


async def test_an_archive_that_is_a_link_is_not_followed(archives: Archives, home: Home, tmp_path: Path) -> None:
    outside = make_foreign(tmp_path, {"agent.toml": b""})
    home.archives_dir.mkdir(parents=True)
    (home.archives_dir / NAME).symlink_to(outside)
    (found,) = await archives.list()
    assert found.state is ArchiveState.DAMAGED
    assert "link" in found.problem
    with pytest.raises(ArchiveDamaged):
        await archives.open(NAME)
    with pytest.raises(ArchiveDamaged):
        await result_of(archives.verify(NAME))
    await result_of(archives.purge(NAME, "bot"))
    assert (outside / "agent.toml").exists()
    assert not (home.archives_dir / NAME).is_symlink()


async def test_files_of_an_archive_that_are_links_are_not_followed(
    archives: Archives, home: Home, tmp_path: Path
) -> None:
    place = make_foreign(home.archives_dir, {"memory.jsonl": b""})
    (tmp_path / "secret").write_text("secret")
    (place / "agent.toml").symlink_to(tmp_path / "secret")
    (place / "sessions").symlink_to(tmp_path)
    opened = await archives.open(NAME)
    tree = await result_of(opened.tree())
    assert {one.name for one in tree.refused} == {"agent.toml", "sessions"}
    with pytest.raises(ArchiveDamaged):
        await opened.agent_file()
    with pytest.raises(ArchiveDamaged):
        await result_of(opened.preview("sessions/secret"))
    assert {finding.name for finding in (await result_of(archives.verify(NAME))).findings} >= {"agent.toml", "sessions"}


@pytest.mark.parametrize("id", ["..", "../archives", ".", "", "a/b", "/etc", ".hidden"])
async def test_an_id_cannot_lead_out_of_the_archives(archives: Archives, home: Home, id: str) -> None:
    home.archives_dir.mkdir(parents=True)
    for ask in (archives.show, archives.open, archives.resume):
        with pytest.raises(ArchiveNotFound):
            await ask(id)
    with pytest.raises(ArchiveNotFound):
        await result_of(archives.purge(id, ""))
    assert home.archives_dir.is_dir()


@pytest.mark.parametrize(
    "lines",
    [b"x" * 3000, b'{"key":"' + b"x" * 3000, b"[" * 1500 + b"\n", b"{}\n", b"\xff\n"],
    ids=["too long", "too long and cut", "deep", "no row", "no text"],
)
async def test_a_line_that_is_no_row_is_named(limited: Limited, home: Home, lines: bytes) -> None:
    archives = limited(Limits(line=2000))
    make_foreign(home.archives_dir, {"memory.jsonl": lines})
    opened = await archives.open(NAME)
    with pytest.raises(ArchiveDamaged, match=r"line 1 of memory\.jsonl"):
        _ = [page async for page in opened.memory()]


async def test_keys_of_scopes_that_are_none_are_refused_by_memory(
    archives: Archives, home: Home, database: Database, calls: BlockingCalls
) -> None:
    make_foreign(home.archives_dir, {"scopes.jsonl": b'{"scope":"elsewhere"}\n'})
    opened = await archives.open(NAME)
    with opened.scopes() as lines, pytest.raises(InputRefused):
        _ = [told async for told in Memory(home, database, calls).transfer.take_in(lines)]


async def test_a_list_that_names_other_members_than_the_tar_is_not_believed(
    archives: Archives, home: Home, tmp_path: Path
) -> None:
    lies = b'{"path":"workspace/../../evil","kind":"file","size":1}\n'
    make_foreign(home.archives_dir, {"workspace.tar.gz": tar_of([file("workspace/a")]), "workspace.jsonl": lies})
    tree = await result_of((await archives.open(NAME)).tree())
    assert [member.path for member in tree.members if member.path.startswith("workspace/")] == ["workspace/a"]


async def test_bytes_that_differ_from_the_list_are_not_written(archives: Archives, kept: Kept, tmp_path: Path) -> None:
    """A disk that errs: the index vouches for the list, and the tar has other bytes."""
    archive = await kept()
    tar = next(archive.path.glob("workspace.tar.*"))
    tar.unlink()
    (archive.path / "workspace.tar.gz").write_bytes(tar_of([file("workspace/notes.md", b"# NOTES\n")]))
    extraction = await result_of((await archives.open(archive.id)).extract(tmp_path / "back"))
    assert [(one.name, one.reason) for one in extraction.refused] == [("workspace/notes.md", Refusal.DIFFERS)]
    assert list((tmp_path / "back").iterdir()) == []
