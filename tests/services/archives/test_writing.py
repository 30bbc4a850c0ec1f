"""An archive is made part by part, each of them surely on the disk, and gone on with after any end."""

from __future__ import annotations

import asyncio
import subprocess
import tomllib
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from services.archives import (
    ArchiveDraft,
    ArchiveKind,
    Archives,
    ArchiveState,
    Count,
    Progress,
    Reference,
    Sealing,
    StepResult,
    result_of,
)
from services.archives.layout import LEDGER
from services.archives.writing.ledger import Ledger
from services.archives.writing.sealing import seal_files
from services.errors import ArchiveDamaged, ArchiveError, ArchiveNotFound, ArchiveRefused, PinfoldError
from services.home import BlockingCalls, Database, Home
from services.memory import Block, CoreMemory, Memory, Row, Scope
from tests.services.archives.conftest import Clock, Kept
from tests.services.archives.rows import rows_of, some_rows

DRAFT = ArchiveDraft(ArchiveKind.DELETE, "bot", uuid="u1", actor="operator", workspace="/srv/bot", backend="sqlite")


def summed(place: Path) -> set[str]:
    """Check an archive as an operator would, without Pinfold; the files that were found intact."""
    command = ["sha256sum", "--strict", "-c", "checksums.sha256"]
    checked = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True)
    return {line.removesuffix(": OK") for line in checked.stdout.splitlines()}


async def test_archives_of_one_second_get_directories_of_their_own(archives: Archives, home: Home) -> None:
    writers = await asyncio.gather(*(archives.create(DRAFT) for _ in range(12)))
    first = "bot-20270115080000"
    assert sorted(writer.id for writer in writers) == sorted([first, *(f"{first}-{number}" for number in range(1, 12))])
    sealed = [await writer.seal(Sealing()) for writer in writers]
    assert all(archive.path.is_dir() for archive in sealed)
    assert [entry.name for entry in home.archives_dir.iterdir() if entry.name.startswith(".")] == []


@pytest.mark.parametrize("alias", ["", "../evil", "a/b", "A", "a-b", ".hidden"])
async def test_an_alias_that_cannot_be_one_is_refused(archives: Archives, alias: str) -> None:
    with pytest.raises(ArchiveRefused):
        await archives.create(ArchiveDraft(ArchiveKind.DELETE, alias))


async def test_an_archive_is_read_by_sha256sum_and_a_toml_parser_alone(
    archives: Archives, workspace: Path, tmp_path: Path
) -> None:
    writer = await archives.create(DRAFT)
    agent = b"# mine\r\n[agent]\nenabled = true"
    await result_of(writer.write_agent_file(agent))
    await result_of(writer.pack_workspace(workspace))
    await result_of(writer.write_memory(rows_of(some_rows(450)), expected=450))
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "000000000000.out").write_bytes(b"output\n")
    (tmp_path / "spool" / "writer.lock").touch()
    await result_of(writer.write_session("s1", b'{"id": "s1"}', tmp_path / "spool"))
    archive = await writer.seal(
        Sealing(
            counts=(Count("memory", 450, 450, 450),),
            steps=(StepResult("export", "done", "450 rows", 5),),
            references=(Reference("lead", "workspace.access.bot", '"read"'),),
            warnings=("a \x1b warning",),
        )
    )
    names = summed(archive.path)
    files = {str(path.relative_to(archive.path)) for path in archive.path.rglob("*") if path.is_file()}
    assert names == files - {"manifest.toml", "checksums.sha256"}
    assert (archive.path / "agent.toml").read_bytes() == agent
    assert (archive.path / "sessions/s1/output/000000000000.out").read_bytes() == b"output\n"
    manifest = tomllib.loads((archive.path / "manifest.toml").read_text())
    assert manifest["counts"] == [{"what": "memory", "before": 450, "exported": 450, "purged": 450}]
    assert manifest["references"] == [{"file": "lead", "key": "workspace.access.bot", "value": '"read"'}]
    assert {file["name"]: file["items"] for file in manifest["files"]}["memory.jsonl"] == 450
    assert archive.size == sum((archive.path / file).stat().st_size for file in files)
    opened = await archives.open(archive.id)
    assert (opened.manifest.agent.workspace, opened.manifest.warnings) == ("/srv/bot", ("a \x1b warning",))
    assert [(session.id, session.record) for session in await opened.sessions()] == [("s1", b'{"id": "s1"}')]


async def test_core_memory_and_keys_come_back(
    archives: Archives, home: Home, database: Database, calls: BlockingCalls, clock: Clock
) -> None:
    core, memory = CoreMemory(database, clock), Memory(home, database, calls, clock)
    tenant = await core.tenants.of_agent("bot")
    await core.blocks(tenant).rethink(Block.PERSONA, "calm", "was too loud")
    for number in range(1100):
        await core.archive(tenant).insert(f"entry {number}")
    scope = Scope.parse("context:7")
    await memory.namespace(scope).set("key", {"a": [1]}, ttl=60)
    writer = await archives.create(DRAFT)
    assert (await result_of(writer.write_core_blocks(core, [tenant]))).items == 1
    assert (await result_of(writer.write_archive_entries(core, [tenant]))).items == 1100
    assert (await result_of(writer.write_scopes(memory.transfer, [scope]))).items == 1
    opened = await archives.open((await writer.seal(Sealing())).id)
    ((kept,),) = [page async for page in opened.core_blocks()]
    assert (kept.tenant, kept.blocks) == (tenant, {"persona": "calm"})
    assert [note for _, note in kept.history] == ["[rethink:persona] was too loud"]
    entries = [entry.content async for page in opened.archive_entries() for entry in page]
    assert sorted(entries) == sorted(f"entry {number}" for number in range(1100))
    await memory.namespace(scope).delete("key")
    with opened.scopes() as lines:
        _ = [told async for told in memory.transfer.take_in(lines)]
    assert await memory.namespace(scope).get("key") == {"a": [1]}


async def test_no_keys_are_not_everybodys(
    archives: Archives, home: Home, database: Database, calls: BlockingCalls, clock: Clock
) -> None:
    memory = Memory(home, database, calls, clock)
    await memory.namespace(Scope.parse("user:1")).set("secret", 1)
    writer = await archives.create(DRAFT)
    assert (await result_of(writer.write_scopes(memory.transfer, []))).items == 0


async def test_progress_is_told_while_nothing_moves(archives: Archives) -> None:
    seen = asyncio.Event()

    async def stuck() -> AsyncGenerator[Sequence[Row], None]:
        yield some_rows(1)
        await asyncio.wait_for(seen.wait(), timeout=30)

    writer = await archives.create(DRAFT)
    told: list[object] = []
    async for event in writer.write_memory(stuck()):
        told.append(event)
        if len(told) == 3:
            seen.set()
    assert all(isinstance(event, Progress) for event in told[:-1])
    assert writer.parts["memory.jsonl"].items == 1


async def test_closing_early_leaves_nothing_behind(archives: Archives, tmp_path: Path) -> None:
    place = tmp_path / "large"
    place.mkdir()
    for number in range(8):
        with (place / f"zeros{number}").open("wb") as file:
            file.truncate(2 * 1024**3)
    writer = await archives.create(DRAFT)
    async with aclosing(writer.pack_workspace(place)) as told:
        async for event in told:
            assert isinstance(event, Progress)
            if event.size:
                break
    assert [entry.name for entry in writer.directory.iterdir()] == [LEDGER]
    await writer.discard()
    assert await archives.list() == []


async def test_a_part_that_is_there_is_not_written_again_unless_it_is_dropped(archives: Archives) -> None:
    writer = await archives.create(DRAFT)
    first = await result_of(writer.write_memory(rows_of(some_rows(2))))
    assert await result_of(writer.write_memory(rows_of(some_rows(9)))) == first
    await writer.drop("memory.jsonl")
    again = await result_of(writer.write_memory(rows_of(some_rows(9))))
    resumed = await archives.resume(writer.id)
    assert (again.items, resumed.parts) == (9, {"memory.jsonl": again})


async def test_a_source_that_fails_leaves_no_part(archives: Archives) -> None:
    async def failing() -> AsyncGenerator[Sequence[Row], None]:
        yield some_rows(5)
        raise ArchiveDamaged("the database is damaged")

    writer = await archives.create(DRAFT)
    with pytest.raises(ArchiveDamaged, match="the database"):
        await result_of(writer.write_memory(failing()))
    assert (writer.parts, [entry.name for entry in writer.directory.iterdir()]) == ({}, [LEDGER])


async def test_recheck_names_what_is_no_longer_as_it_was_written(archives: Archives) -> None:
    writer = await archives.create(DRAFT)
    await result_of(writer.write_agent_file(b"x"))
    await result_of(writer.write_memory(rows_of(some_rows(2))))
    assert await result_of(writer.recheck()) == ()
    (writer.directory / "agent.toml").write_bytes(b"y")
    (writer.directory / "memory.jsonl").unlink()
    assert await result_of(writer.recheck()) == ("agent.toml", "memory.jsonl")


async def test_what_a_killed_writer_left_is_no_part_of_the_archive(archives: Archives) -> None:
    writer = await archives.create(DRAFT)
    await result_of(writer.write_agent_file(b"x"))
    (writer.directory / ".memory.jsonl.new").write_bytes(b"half")
    (writer.directory / "sessions" / "s9").mkdir(parents=True)
    (writer.directory / "sessions" / "s9" / "record.json").write_bytes(b"{}")
    with (writer.directory / LEDGER).open("ab") as ledger:
        ledger.write(b'{"part":{"name":"mem')
    resumed = await archives.resume(writer.id)
    assert list(resumed.parts) == ["agent.toml"]
    await result_of(resumed.write_memory(rows_of(some_rows(1))))
    assert list((await archives.resume(writer.id)).parts) == ["agent.toml", "memory.jsonl"]
    archive = await resumed.seal(Sealing())
    assert (await result_of(archives.verify(archive.id))).findings == ()


async def test_an_archive_killed_between_its_name_and_the_index_is_sealed_again(archives: Archives, home: Home) -> None:
    writer = await archives.create(DRAFT)
    await result_of(writer.write_agent_file(b"x"))
    archive = (await archives.resume(writer.id))._archive
    seal_files(archive, Ledger.load(writer.directory), Sealing(), {}, 5)
    assert (await archives.show(writer.id)).state is ArchiveState.UNSEALED
    resumed = await archives.resume(writer.id)
    assert resumed.sealed
    sealed = await resumed.seal(Sealing())
    assert await archives.show(writer.id) == sealed
    assert (await result_of(archives.verify(writer.id))).intact
    assert (await (await archives.resume(writer.id)).seal(Sealing())).size == sealed.size


async def test_a_sealed_archive_cannot_be_changed(archives: Archives, kept: Kept) -> None:
    writer = await archives.resume((await kept()).id)
    with pytest.raises(ArchiveRefused):
        await result_of(writer.write_agent_file(b"x"))
    with pytest.raises(ArchiveRefused):
        await writer.discard()


async def test_what_was_never_begun_cannot_be_gone_on_with(archives: Archives) -> None:
    with pytest.raises(ArchiveNotFound):
        await archives.resume("bot-20260101000000")


async def test_a_session_whose_id_is_no_name_is_refused(archives: Archives, tmp_path: Path) -> None:
    writer = await archives.create(DRAFT)
    with pytest.raises(ArchiveError):
        writer.write_session("../evil", b"{}", tmp_path)


async def test_a_file_is_in_the_place_of_the_archives(archives: Archives, home: Home) -> None:
    home.root.mkdir(exist_ok=True)
    home.archives_dir.write_text("mine")
    with pytest.raises(PinfoldError):
        await archives.create(DRAFT)


@pytest.mark.parametrize(
    ("sealing", "doubts"),
    [
        (Sealing(counts=(Count("memory", 3, 3, 3), Count("files", -1, 7, 0))), ()),
        (
            Sealing(counts=(Count("memory", 3, 2, 3),)),
            ("3 memory were purged and 2 kept", "3 memory were there and 2 kept"),
        ),
        (Sealing(steps=(StepResult("purge", "failed"),)), ("the step purge failed",)),
    ],
    ids=["all fits", "rows were lost", "a step failed"],
)
async def test_figures_that_do_not_fit_are_told(archives: Archives, sealing: Sealing, doubts: tuple[str, ...]) -> None:
    archive = await (await archives.create(DRAFT)).seal(sealing)
    assert (await archives.open(archive.id)).manifest.doubts == doubts
