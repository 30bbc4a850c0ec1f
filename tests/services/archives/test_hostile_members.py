"""Members that would lead out of the target, or fill it: refused one by one, named, and never written."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from services.archives import Archives, Limits, Refusal, Tree, result_of
from services.home import Home
from tests.services.archives.conftest import Kept, Limited
from tests.services.archives.foreign import (
    NAME,
    Member,
    file,
    folder,
    hard_link,
    link,
    make_foreign,
    other,
    tar_of,
)
from tests.services.archives.workspaces import described

REFUSED: dict[str, tuple[list[Member], list[tuple[str, Refusal]]]] = {
    "an absolute name": ([file("/etc/evil")], [("/etc/evil", Refusal.ABSOLUTE)]),
    "a name with ..": ([file("workspace/../../evil")], [("workspace/../../evil", Refusal.PARENT)]),
    "a name that is ..": ([folder("..")], [("..", Refusal.PARENT)]),
    "a name beside the workspace": ([file("evil")], [("evil", Refusal.OUTSIDE)]),
    "a name like the workspace's": ([file("workspace2/evil")], [("workspace2/evil", Refusal.OUTSIDE)]),
    "a name with an empty part": ([file("workspace//evil")], [("workspace//evil", Refusal.NO_NAME)]),
    "a name with a dot": ([file("workspace/./evil")], [("workspace/./evil", Refusal.NO_NAME)]),
    "a part of 256 bytes": ([file(f"workspace/{'n' * 256}")], [(f"workspace/{'n' * 256}", Refusal.TOO_LONG)]),
    "a path of 20,000 bytes": (
        [file("workspace/" + "/".join(["n" * 200] * 100))],
        [("workspace/" + "/".join(["n" * 200] * 100), Refusal.TOO_LONG)],
    ),
    "a name with an escape": ([file("workspace/\x1b[2J")], [("workspace/\x1b[2J", Refusal.CONTROL)]),
    "a name with a newline": ([file("workspace/a\nb")], [("workspace/a\nb", Refusal.CONTROL)]),
    "a name that turns text around": (
        [file("workspace/\u202egpj.exe")],
        [("workspace/\u202egpj.exe", Refusal.CONTROL)],
    ),
    "a name that occurs twice": (
        [file("workspace/a", b"one"), file("workspace/a", b"two")],
        [("workspace/a", Refusal.DUPLICATE)],
    ),
    "a name that differs in case": (
        [file("workspace/Readme"), file("workspace/README")],
        [("workspace/README", Refusal.CASE_TWIN)],
    ),
    "a name that differs in how its accent is written": (
        [file("workspace/\u00e9"), file("workspace/e\u0301")],
        [("workspace/e\u0301", Refusal.CASE_TWIN)],
    ),
    "a link to an absolute place": ([link("workspace/l", "/etc")], [("workspace/l", Refusal.LINK_ESCAPES)]),
    "a link above the workspace": ([link("workspace/l", "../x")], [("workspace/l", Refusal.LINK_ESCAPES)]),
    "a link that goes down and up": ([link("workspace/l", "a/../../x")], [("workspace/l", Refusal.LINK_ESCAPES)]),
    "a link without a target": ([link("workspace/l", "")], [("workspace/l", Refusal.NO_NAME)]),
    "a file through a link": (
        [link("workspace/l", "."), file("workspace/l/evil")],
        [("workspace/l/evil", Refusal.BELOW_LINK)],
    ),
    "a file through a link that was refused": (
        [link("workspace/l", "/tmp"), file("workspace/l/fine")],
        [("workspace/l", Refusal.LINK_ESCAPES), ("workspace/l/fine", Refusal.BELOW_REFUSED)],
    ),
    "a file below a file": (
        [file("workspace/f"), file("workspace/f/evil")],
        [("workspace/f/evil", Refusal.BELOW_LINK)],
    ),
    "a hard link to a place outside": (
        [hard_link("workspace/h", "/etc/passwd")],
        [("workspace/h", Refusal.HARD_LINK)],
    ),
    "a hard link with ..": ([hard_link("workspace/h", "../secret")], [("workspace/h", Refusal.HARD_LINK)]),
    "a hard link to a link": (
        [link("workspace/l", "x"), hard_link("workspace/h", "workspace/l")],
        [("workspace/h", Refusal.HARD_LINK)],
    ),
    "a hard link to what comes later": (
        [hard_link("workspace/h", "workspace/f"), file("workspace/f")],
        [("workspace/h", Refusal.HARD_LINK)],
    ),
    "a character device": ([other("workspace/d", tarfile.CHRTYPE)], [("workspace/d", Refusal.DEVICE)]),
    "a block device": ([other("workspace/d", tarfile.BLKTYPE)], [("workspace/d", Refusal.DEVICE)]),
    "a named pipe": ([other("workspace/p", tarfile.FIFOTYPE)], [("workspace/p", Refusal.FIFO)]),
    "an unknown type": ([other("workspace/u", b"Z")], [("workspace/u", Refusal.UNKNOWN)]),
    "a file of many bytes": ([file("workspace/big", bytes(2001))], [("workspace/big", Refusal.TOO_LARGE)]),
    "many bytes in many files": (
        [file(f"workspace/{number}", bytes(1500)) for number in range(4)],
        [("workspace/3", Refusal.TOTAL)],
    ),
    "many members": (
        [file(f"workspace/{number}", b"") for number in range(7)],
        [("workspace/6", Refusal.TOO_MANY)],
    ),
}


@pytest.mark.parametrize(("members", "refused"), REFUSED.values(), ids=REFUSED)
async def test_a_member_is_refused_for_its_reason(
    limited: Limited, home: Home, tmp_path: Path, members: list[Member], refused: list[tuple[str, Refusal]]
) -> None:
    archives = limited(Limits(members=6, member_size=2000, total_size=5000))
    make_foreign(home.archives_dir, {"workspace.tar.gz": tar_of(members)})
    opened = await archives.open(NAME)
    tree: Tree = await result_of(opened.tree())
    assert [(one.name, one.reason) for one in tree.refused] == refused
    assert not tree.vouched
    (tmp_path / "evil").mkdir()
    target = tmp_path / "deep" / "target"
    extraction = await result_of(opened.extract(target))
    assert [(one.name, one.reason) for one in extraction.refused] == refused
    written = {f"workspace/{path}" for path in described(target)}
    assert written == {member.path for member in tree.members if member.path.startswith("workspace/")}
    assert sorted(entry.name for entry in (tmp_path / "deep").iterdir()) == ["target"]
    assert not (tmp_path / "evil" / "evil").exists()


async def test_members_after_a_refused_one_are_still_written(archives: Archives, home: Home, tmp_path: Path) -> None:
    tar = tar_of([file("../evil", b"e" * 3000), file("workspace/good", b"good")])
    make_foreign(home.archives_dir, {"workspace.tar.gz": tar})
    extraction = await result_of((await archives.open(NAME)).extract(tmp_path / "target"))
    assert [one.reason for one in extraction.refused] == [Refusal.PARENT]
    assert (tmp_path / "target" / "good").read_text() == "good"


async def test_a_link_that_is_already_in_the_target_is_not_gone_through(
    archives: Archives, home: Home, tmp_path: Path
) -> None:
    make_foreign(home.archives_dir, {"workspace.tar.gz": tar_of([file("workspace/sub/evil")])})
    outside, target = tmp_path / "outside", tmp_path / "target"
    outside.mkdir()
    target.mkdir()
    (target / "sub").symlink_to(outside)
    for existing in ("refuse", "replace"):
        extraction = await result_of((await archives.open(NAME)).extract(target, existing=existing))
        assert [one.reason for one in extraction.refused] == [Refusal.BELOW_LINK]
    assert list(outside.iterdir()) == []


async def test_a_file_replaces_a_link_and_not_what_it_leads_to(archives: Archives, home: Home, tmp_path: Path) -> None:
    make_foreign(home.archives_dir, {"workspace.tar.gz": tar_of([file("workspace/f", b"new")])})
    (tmp_path / "secret").write_text("secret")
    target = tmp_path / "target"
    target.mkdir()
    (target / "f").symlink_to(tmp_path / "secret")
    await result_of((await archives.open(NAME)).extract(target, existing="replace"))
    assert (tmp_path / "secret").read_text() == "secret"
    assert (target / "f").read_text() == "new"


async def test_what_pinfold_packed_itself_is_restored_even_where_a_stranger_is_refused(
    archives: Archives, kept: Kept, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "Readme").write_text("a")
    (workspace / "README").write_text("b")
    (workspace / "new\nline").write_text("c")
    (workspace / "python").symlink_to("/usr/bin/python3")
    opened = await archives.open((await kept()).id)
    extraction = await result_of(opened.extract(tmp_path / "back"))
    assert extraction.refused == ()
    assert described(tmp_path / "back") == described(workspace)
    strict = await result_of(opened.extract(tmp_path / "strict", strict=True))
    assert {one.reason for one in strict.refused} == {Refusal.CASE_TWIN, Refusal.CONTROL, Refusal.LINK_ESCAPES}
