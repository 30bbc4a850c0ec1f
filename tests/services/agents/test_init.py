"""A first home is complete and without problems, and is never made over an old one."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from services.agents import Agents, init_home
from services.errors import ConfigError, PinfoldError
from services.home import BlockingCalls, Home

pytestmark = pytest.mark.parametrize("demo", [False, True], ids=["starter", "demo"])


def contents(home: Home) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in home.root.rglob("*") if path.is_file()}


async def test_has_agents_that_could_be_started(home: Home, agents: Agents, calls: BlockingCalls, demo: bool) -> None:
    result = await init_home(home, demo=demo, calls=calls)
    assert {home.root, home.agents_dir, home.config_file} <= set(result.created)
    assert all(path.exists() for path in result.created)
    assert result.kept == ()
    await agents.load()
    assert agents.shared_problems == ()
    assert {"hardened", "observer"} <= set(agents.shared.risk_profiles)
    assert not agents.shared.risk_profiles["hardened"].allow_unconfined
    for agent in agents.all():
        assert (agent.problems, agent.obstacle) == ((), None)
        assert agent.enabled
        assert agent.description
        assert agent.settings is not None
        assert (agent.workspace / agent.settings.command[-1]).is_file()


async def test_names_a_schema_that_is_there_in_the_first_line_of_each_file(
    home: Home, calls: BlockingCalls, demo: bool
) -> None:
    await init_home(home, demo=demo, calls=calls)
    files = [*home.agents_dir.glob("*/agent.toml"), home.config_file]
    assert len(files) > 1
    for file in files:
        found = re.fullmatch(r"#:schema (\S+)", file.read_text().split("\n")[0])
        assert found
        assert (file.parent / found[1]).resolve().is_relative_to(home.schema_dir.resolve())
        assert (file.parent / found[1]).is_file()


async def test_is_private_to_its_owner(home: Home, calls: BlockingCalls, demo: bool) -> None:
    await init_home(home, demo=demo, calls=calls)
    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700


async def test_made_again_changes_nothing(home: Home, calls: BlockingCalls, demo: bool) -> None:
    await init_home(home, demo=demo, calls=calls)
    before = contents(home)
    result = await init_home(home, demo=demo, calls=calls)
    assert (result.created, result.kept) == ((), (home.config_file,))
    assert contents(home) == before


async def test_does_not_bring_back_what_was_deleted_or_changed(
    home: Home, agents: Agents, calls: BlockingCalls, demo: bool
) -> None:
    await init_home(home, demo=demo, calls=calls)
    gone = sorted(home.agents_dir.glob("*/agent.toml"))[0]
    gone.unlink()
    home.config_file.write_bytes(home.config_file.read_bytes() + b"# mine\n")
    await init_home(home, demo=demo, calls=calls)
    assert not gone.exists()
    assert home.config_file.read_bytes().endswith(b"# mine\n")


async def test_completes_one_that_was_interrupted(home: Home, calls: BlockingCalls, demo: bool) -> None:
    await init_home(home, demo=demo, calls=calls)
    whole = contents(home)
    home.config_file.unlink()
    removed = sorted(home.agents_dir.glob("*/workspace/*"))[0]
    removed.unlink()
    result = await init_home(home, demo=demo, calls=calls)
    assert {home.config_file, removed} <= set(result.created)
    assert contents(home) == whole


async def test_leaves_a_file_that_is_in_the_way(home: Home, calls: BlockingCalls, demo: bool) -> None:
    home.root.touch()
    with pytest.raises(PinfoldError, match=r"cannot make the directory|Not a directory"):
        await init_home(home, demo=demo, calls=calls)
    assert home.root.read_bytes() == b""


async def test_a_demo_does_not_go_into_a_home_in_use(home: Home, calls: BlockingCalls, demo: bool) -> None:
    home.root.mkdir()
    for text in ("[risk_profiles.mine]\n", "broken ["):
        home.config_file.write_text(text)
        if demo:
            with pytest.raises(ConfigError, match="this home is in use"):
                await init_home(home, demo=demo, calls=calls)
            assert [path.name for path in home.root.iterdir()] == ["pinfold.toml"]
        else:
            result = await init_home(home, demo=demo, calls=calls)
            assert result.kept == (home.config_file,)
            assert list(home.agents_dir.iterdir()) == []
            home.themes_dir.rmdir()
            home.archives_dir.rmdir()
        assert home.config_file.read_text() == text


async def test_what_is_commented_out_is_right_once_it_is_not(
    home: Home, agents: Agents, calls: BlockingCalls, demo: bool
) -> None:
    await init_home(home, demo=demo, calls=calls)
    text = re.sub(r"^# (?=\[|[a-z_]+ = )", "", home.config_file.read_text(), flags=re.MULTILINE)
    home.config_file.write_text(text)
    await agents.load()
    assert agents.shared_problems == ()
    assert ("roomy" in agents.shared.risk_profiles) == (not demo)
