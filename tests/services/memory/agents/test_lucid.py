"""What the lucid program adds to its mirror, replayed by a script that does what lucid was seen to do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from services.agents import LucidStore
from services.errors import MemoryUnavailable
from services.home import Home
from services.memory.agents import Draft, Listing, Owner, Query, Row, new_id
from services.memory.agents.lucid import LucidBackend
from services.memory.screening import Screened, scan
from tests.services.memory.agents.backends import lucid_at
from tests.services.memory.conftest import Clock

SECRET = "ghp_" + "a1" * 18


class Lucid:
    """The back-end with the program it calls, on a clock that the test moves."""

    def __init__(self, home: Home, clock: Clock, folder: Path) -> None:
        self.folder = folder / "lucid"
        self.env = {**lucid_at(folder), "ANTHROPIC_API_KEY": "hidden"}
        self.seconds = 0.0
        self.backend = LucidBackend(home, LucidStore, self.env, clock, new_id, lambda: self.seconds)
        self.me = Owner("reviewer", folder / "workspace")

    @property
    def calls(self) -> list[str]:
        file = self.folder / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def knows(self, *lines: str) -> None:
        """Let `context` print these between its marks."""
        (self.folder / "known").write_text(
            "\n".join(("<lucid-context>", "Some summary", *lines, "</lucid-context>", ""))
        )

    def does(self, verb: str, script: str) -> None:
        (self.folder / verb).write_text(script)

    async def store(self, key: str, content: str, **more: object) -> Row:
        draft = Draft(key=key, content=content, **more)  # type: ignore[arg-type]
        return await self.backend.store(self.me, draft, Screened(content, scan(content)))

    async def recall(self, text: str, *others: Owner, **more: object) -> list[str]:
        query = Query(text, **more)  # type: ignore[arg-type]
        return [found.row.key for found in await self.backend.recall([self.me, *others], query)]


@pytest.fixture
async def lucid(home: Home, clock: Clock, tmp_path: Path) -> AsyncIterator[Lucid]:
    lucid = Lucid(home, clock, tmp_path)
    yield lucid
    await lucid.backend.close()


async def test_a_row_is_told_to_the_program_with_its_kind_and_workspace(lucid: Lucid) -> None:
    await lucid.store("editor", "vi\n but ed over ssh")
    await lucid.store("-rf", "--type=bug", category="notes")
    project = f"--project={lucid.me.workspace}"
    assert lucid.calls == [
        *("store", "editor: vi but ed over ssh", "--type=decision", project),
        *("store", "· -rf: --type=bug", "--type=learning", project),
    ]


async def test_the_program_is_given_no_secrets_neither_as_text_nor_in_its_environment(lucid: Lucid) -> None:
    lucid.does("store", 'env >> "$LUCID_FOLDER/seen"')
    await lucid.store("push", f"with {SECRET}")
    await lucid.recall(f"with {SECRET}")
    assert lucid.calls == []
    await lucid.store("k", "harmless")
    assert "hidden" not in (lucid.folder / "seen").read_text()


async def test_it_is_asked_where_the_mirror_finds_little_and_finds_what_no_word_leads_to(lucid: Lucid) -> None:
    await lucid.store("auth", "use the token refresh middleware")
    await lucid.store("lunch", "at noon")
    lucid.knows("- [decision] auth: use the token refresh middleware", "- [Visual, image] a cat", "no hit", "- [bug]")
    assert await lucid.recall("login") == ["auth"]
    assert lucid.calls[-4:] == ["context", "login", "--budget=200", f"--project={lucid.me.workspace}"]
    found = await lucid.backend.recall([lucid.me], Query("lunch login"))
    assert [(one.row.key, one.score) for one in found] == [("lunch", 1.0), ("auth", 0.5)]
    assert await lucid.recall("login", category="daily") == []


@pytest.mark.parametrize("line", ["auth: use the token", "auth: token refresh middleware"], ids=["cut short", "a gist"])
async def test_a_hit_is_known_again_by_its_beginning_or_its_words(lucid: Lucid, line: str) -> None:
    await lucid.store("auth", "use the token refresh middleware")
    lucid.knows(f"- [decision] {line}")
    assert await lucid.recall("login") == ["auth"]


async def test_what_the_mirror_does_not_have_or_show_does_not_come_back(lucid: Lucid) -> None:
    await lucid.store("auth", "use the token refresh middleware")
    await lucid.store("new", "use sessions")
    lucid.knows("- [decision] auth: use the token refresh middleware", "- [decision] stranger: something of others")
    await lucid.backend.supersede(lucid.me, "auth", "new")
    assert await lucid.recall("login") == []
    await lucid.backend.forget(lucid.me, "auth")
    assert await lucid.recall("login") == []


async def test_it_is_not_asked_where_enough_is_found_nor_for_siblings_nor_without_words(lucid: Lucid) -> None:
    for number in range(3):
        await lucid.store(f"fact {number}", "a fact")
    before = lucid.calls
    sibling = Owner("researcher", lucid.me.workspace)
    assert len(await lucid.recall("fact")) == 3
    assert await lucid.recall("fact", limit=1)
    assert await lucid.recall("nothing", sibling) == []
    assert len(await lucid.recall("")) == 3
    assert lucid.calls == before


@pytest.mark.parametrize(
    "script",
    ["exit 3", "kill -9 $$", "head -c 3000000 /dev/zero; exit 1", "printf '<lucid-context>\\n- [x'"],
    ids=["a status", "killed", "a flood", "half an answer"],
)
async def test_a_program_that_fails_costs_no_rows(lucid: Lucid, script: str) -> None:
    for verb in ("store", "context"):
        lucid.does(verb, script)
    await lucid.store("k", "a fact")
    assert await lucid.recall("fact") == ["k"]
    assert await lucid.recall("other") == []


async def test_after_a_failure_it_is_left_alone_for_a_while(lucid: Lucid) -> None:
    lucid.does("store", "exit 1")
    await lucid.store("a", "x")
    await lucid.store("b", "x")
    assert lucid.calls.count("store") == 1
    lucid.seconds += 15
    (lucid.folder / "store").unlink()
    await lucid.store("c", "x")
    await lucid.store("d", "x")
    assert lucid.calls.count("store") == 3


async def test_a_program_that_hangs_is_killed(lucid: Lucid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.memory.agents.lucid.program._SECONDS", 0.3)
    lucid.does("store", 'echo $$ > "$LUCID_FOLDER/pid"; exec sleep 600')
    await lucid.store("k", "a fact")
    assert await lucid.backend.count(lucid.me, Listing()) == 1
    assert not Path("/proc", (lucid.folder / "pid").read_text().strip()).exists()


async def test_without_the_program_it_is_unavailable_and_what_the_mirror_has_can_be_read(lucid: Lucid) -> None:
    await lucid.store("k", "a fact")
    (lucid.folder / "lucid").unlink()
    operations: tuple[Callable[[], object], ...] = (lambda: lucid.store("l", "x"), lambda: lucid.recall("fact"))
    for operation in operations:
        with pytest.raises(MemoryUnavailable, match=r"no program lucid. Install lucid, or name it as program"):
            await operation()  # type: ignore[misc]
    assert await lucid.backend.get(lucid.me, "k") is not None
    assert await lucid.backend.get(lucid.me, "l") is None
    status = await lucid.backend.status()
    assert (status.usable, "no program lucid" in status.problem) == (False, True)


async def test_it_says_where_it_is_and_which(lucid: Lucid) -> None:
    status = await lucid.backend.status()
    assert (status.usable, status.detail) == (True, f"{lucid.folder / 'lucid'} 0.6.4")
    lucid.does("version", "exit 1")
    assert not (await lucid.backend.status()).usable
