"""Changes on disk are seen, however an editor makes them."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from services.activity import Events, SessionChanged
from services.agents import Agents
from services.agents import watching as watching_module
from services.agents.looking import Look, look
from services.home import Home
from tests.services.agents.conftest import AGENT, SHARED, Put

SECONDS = 20
SECOND_TEXT = AGENT.replace("first", "second")

Until = Callable[[Callable[[], bool]], Awaitable[None]]


@pytest.fixture
async def watching(agents: Agents, put: Put) -> AsyncIterator[Agents]:
    """A home with one agent, loaded and watched."""
    put("pinfold.toml", SHARED)
    put("reviewer", AGENT)
    await agents.load()
    task = asyncio.create_task(agents.watch())
    yield agents
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


@pytest.fixture
def until(events: Events) -> Until:
    """Waits for a condition, looking at each event."""

    async def wait(condition: Callable[[], bool]) -> None:
        with events.listen() as listener:
            async with asyncio.timeout(SECONDS):
                batches = listener.batches()
                while not condition():
                    await anext(batches)

    return wait


def write_in_place(file: Path, text: str) -> None:
    file.write_text(text)


def rename_over(file: Path, text: str) -> None:
    fresh = file.with_name("agent.toml.tmp")
    fresh.write_text(text)
    fresh.rename(file)


def as_vim_does(file: Path, text: str) -> None:
    """A probe named 4913, a swap file, the old file renamed to a backup, then a new file."""
    directory = file.parent
    (directory / "4913").touch()
    (directory / "4913").unlink()
    (directory / ".agent.toml.swp").write_bytes(b"b0VIM")
    backup = directory / "agent.toml~"
    file.rename(backup)
    file.write_text(text)
    backup.unlink()
    (directory / ".agent.toml.swp").unlink()


def with_vim(file: Path, text: str) -> None:
    subprocess.run(
        ["vim", "-u", "NONE", "-N", "-es", "-c", "%s/first/second/", "-c", "wq", str(file)],
        check=True,
        stdin=subprocess.DEVNULL,
    )


def with_sed(file: Path, text: str) -> None:
    subprocess.run(["sed", "-i", "s/first/second/", str(file)], check=True)


def truncate_then_write_slowly(file: Path, text: str) -> None:
    with file.open("w") as opened:
        for part in text.splitlines(keepends=True):
            opened.write(part)
            opened.flush()


def unlink_then_write(file: Path, text: str) -> None:
    file.unlink()
    file.write_text(text)


@pytest.mark.parametrize(
    "save",
    [
        write_in_place,
        rename_over,
        as_vim_does,
        pytest.param(
            with_vim, marks=pytest.mark.skipif(shutil.which("vim") is None, reason="vim is not installed here")
        ),
        with_sed,
        truncate_then_write_slowly,
        unlink_then_write,
    ],
    ids=lambda save: save.__name__,
)
async def test_every_save_is_seen_also_the_second_and_third(
    watching: Agents, put: Put, until: Until, home: Home, save: Callable[[Path, str], None]
) -> None:
    file = home.agent_file("reviewer")
    for _ in range(3):
        await asyncio.to_thread(save, file, SECOND_TEXT)
        await until(lambda: watching.get("reviewer").description == "second")
        assert watching.get("reviewer").problems == ()
        await asyncio.to_thread(write_in_place, file, AGENT)
        await until(lambda: watching.get("reviewer").description == "first")


async def test_a_file_that_breaks_leaves_the_last_good_one_and_says_at_which_line(
    watching: Agents, put: Put, until: Until
) -> None:
    put("reviewer", "[agent]\ndescription = 'third\n")
    await until(lambda: watching.get("reviewer").stale)
    agent = watching.get("reviewer")
    assert agent.description == "first"
    assert [problem.line for problem in agent.problems] == [2]
    put("reviewer", SECOND_TEXT)
    await until(lambda: watching.get("reviewer").description == "second")
    assert not watching.get("reviewer").stale


@pytest.mark.parametrize("moment", ["missing", "empty", "half", "directory gone"])
def test_a_file_wrong_for_a_moment_is_never_shown_as_broken(put: Put, home: Home, moment: str) -> None:
    put("pinfold.toml", SHARED)
    file = put("reviewer", AGENT)
    before = look(home, Look(), patient=False)
    match moment:
        case "missing":
            file.unlink()
        case "empty":
            file.write_text("")
        case "half":
            file.write_text("[agent]\nenab")
        case "directory gone":
            file.parent.rename(home.root / "aside")
    meanwhile = look(home, before, patient=True)
    assert meanwhile.doubtful
    assert meanwhile.agents == before.agents
    put("reviewer", SECOND_TEXT)
    after = look(home, meanwhile, patient=True)
    assert not after.doubtful
    assert after.agents["reviewer"].description == "second"


def test_a_file_wrong_for_longer_is_shown_as_broken(put: Put, home: Home) -> None:
    file = put("reviewer", AGENT)
    before = look(home, Look(), patient=False)
    file.unlink()
    later = look(home, look(home, before, patient=True), patient=False)
    assert not later.doubtful
    assert later.agents["reviewer"].stale
    assert not look(home, later, patient=True).doubtful


def test_an_agent_whose_directory_is_made_before_its_file_is_not_shown_without_it(put: Put, home: Home) -> None:
    home.agent_dir("reviewer").mkdir(parents=True)
    made = look(home, Look(), patient=True)
    assert (made.doubtful, dict(made.agents)) == (True, {})
    put("reviewer", AGENT)
    assert list(look(home, made, patient=True).agents) == ["reviewer"]


async def test_agents_come_and_go(watching: Agents, put: Put, until: Until, home: Home) -> None:
    put("writer", AGENT)
    await until(lambda: len(watching.all()) == 2)
    home.agent_dir("writer").rename(home.agent_dir("author"))
    await until(lambda: [agent.alias for agent in watching.all()] == ["author", "reviewer"])
    put("author", SECOND_TEXT)
    await until(lambda: watching.get("author").description == "second")
    shutil.rmtree(home.agent_dir("author"))
    await until(lambda: [agent.alias for agent in watching.all()] == ["reviewer"])


async def test_a_directory_that_was_replaced_is_watched_again(
    watching: Agents, put: Put, until: Until, home: Home
) -> None:
    for text in (SECOND_TEXT, AGENT, SECOND_TEXT):
        fresh = home.root / "fresh"
        fresh.mkdir()
        (fresh / "agent.toml").write_text(text)
        shutil.rmtree(home.agent_dir("reviewer"))
        fresh.rename(home.agent_dir("reviewer"))
        wanted = "second" if text == SECOND_TEXT else "first"
        await until(lambda wanted=wanted: watching.get("reviewer").description == wanted)  # type: ignore[misc]


async def test_a_home_that_is_made_later_is_seen(agents: Agents, put: Put, until: Until, home: Home) -> None:
    await agents.load()
    task = asyncio.create_task(agents.watch())
    await asyncio.sleep(0)
    home.root.mkdir()
    await asyncio.sleep(0)
    put("reviewer", AGENT)
    await until(lambda: len(agents.all()) == 1)
    put("pinfold.toml", SHARED)
    await until(lambda: agents.get("reviewer").profile is not None)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_pinfold_toml_is_watched_and_judges_all_agents_anew(watching: Agents, put: Put, until: Until) -> None:
    put("pinfold.toml", "[risk_profiles.other]\n")
    await until(lambda: watching.get("reviewer").obstacle is not None)
    put("pinfold.toml", "[risk_profiles")
    await until(lambda: bool(watching.shared_problems))
    assert list(watching.shared.risk_profiles) == ["other"]
    put("pinfold.toml", SHARED)
    await until(lambda: watching.get("reviewer").obstacle is None)


async def test_a_file_behind_a_link_is_watched_too(
    watching: Agents, put: Put, until: Until, home: Home, tmp_path: Path
) -> None:
    target = tmp_path / "dotfiles.toml"
    target.write_text(AGENT)
    home.agent_file("reviewer").unlink()
    home.agent_file("reviewer").symlink_to(target)
    await asyncio.to_thread(write_in_place, target, SECOND_TEXT)
    await until(lambda: watching.get("reviewer").description == "second")


async def test_without_watches_to_be_had_the_files_are_still_looked_at(
    agents: Agents, put: Put, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "OS file watch limit reached")

    monkeypatch.setattr("watchfiles.awatch", refuse)
    put("pinfold.toml", SHARED)
    put("reviewer", AGENT)
    await agents.load()
    task = asyncio.create_task(agents.watch())
    for text, wanted in ((SECOND_TEXT, "second"), (AGENT, "first")):
        put("reviewer", text)
        await until(lambda wanted=wanted: agents.get("reviewer").description == wanted)  # type: ignore[misc]
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def test_workspaces_are_not_watched(put: Put, home: Home) -> None:
    put("reviewer", AGENT)
    home.default_workspace("reviewer").mkdir()
    (home.agents_dir / ".writer-1234.new").mkdir()
    (home.agents_dir / "nowhere").symlink_to("gone")
    home.state_dir.mkdir()
    assert set(watching_module._directories(home)) == {
        str(place) for place in (home.root, home.agents_dir, home.agent_dir("reviewer"))
    }


@pytest.mark.parametrize(
    ("path", "concerns"),
    [
        ("pinfold.toml", True),
        ("agents", True),
        ("agents/writer", True),
        ("agents/reviewer/agent.toml", True),
        ("agents/reviewer/4913", False),
        ("agents/reviewer/.agent.toml.swp", False),
        ("agents/reviewer/.agent.toml.swx", False),
        ("agents/reviewer/agent.toml~", False),
        ("agents/reviewer/sedXyZ123", False),
        ("agents/reviewer/.agent.toml.77-0a1b2c3d.new", False),
        ("agents/.writer-0a1b2c3d.new", False),
        (".pinfold.toml.77-0a1b2c3d.new", False),
        ("state", False),
    ],
)
def test_the_litter_of_editors_wakes_nobody(home: Home, path: str, concerns: bool) -> None:
    assert watching_module._concerns(home, home.root / path) is concerns


async def test_the_event_loop_goes_on_while_two_hundred_agents_are_read(agents: Agents, put: Put, until: Until) -> None:
    from tests.services.agents.test_reading import COMPLETE

    put("pinfold.toml", SHARED)
    for number in range(200):
        put(f"agent_{number}", COMPLETE)
    turns = 0
    reading = asyncio.create_task(agents.load())
    while not reading.done():
        turns += 1
        await asyncio.sleep(0.001)
    assert len(agents.all()) == 200
    assert turns > 10


async def test_watching_ends_at_once_when_it_is_cancelled(watching: Agents, events: Events) -> None:
    tasks = [task for task in asyncio.all_tasks() if "Agents.watch" in repr(task.get_coro())]
    assert len(tasks) == 1
    await asyncio.sleep(0.2)
    tasks[0].cancel()
    async with asyncio.timeout(SECONDS):
        with contextlib.suppress(asyncio.CancelledError):
            await tasks[0]
    events.publish(SessionChanged("nobody listens"))
