from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from services.activity import Events
from services.agents import Agents
from services.home import BlockingCalls, Home
from services.policy import Confinement, Mask, Mount, confinement

PROFILE = """
[risk_profiles.plain]
env_passthrough = ["LANG"]
allowed_roots = {roots}
forbidden_paths = {forbidden}
"""

Compute = Callable[..., Awaitable[Confinement]]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory of this machine that belongs to no agent."""
    directory = tmp_path / "outside"
    directory.mkdir()
    return directory


@pytest.fixture
async def compute(home: Home) -> AsyncIterator[Compute]:
    """Writes a home, reads it as Pinfold does, and computes what agent `worker` may see."""
    calls = BlockingCalls()

    async def compute(
        worker: str = "",
        *,
        sibling: str = "",
        roots: list[str] | None = None,
        forbidden: list[str] | None = None,
        caps: str = "",
    ) -> Confinement:
        home.agents_dir.mkdir(parents=True, exist_ok=True)
        profile = PROFILE.format(roots=_toml(roots or []), forbidden=_toml(forbidden or [])) + caps
        home.config_file.write_text(profile, encoding="utf-8")
        for alias, text in (("worker", worker), ("helper", sibling)):
            home.default_workspace(alias).mkdir(parents=True, exist_ok=True)
            head = '[agent]\nrisk_profile = "plain"\n'
            home.agent_file(alias).write_text(head + text, encoding="utf-8")
        agents = Agents(home, Events(), calls)
        await agents.load()
        worker_agent = agents.get("worker")
        assert worker_agent.settings is not None
        return confinement(worker_agent, {"helper": agents.get("helper")}, worker_agent.settings)

    yield compute
    calls.close()


def _toml(texts: list[str]) -> str:
    return "[" + ", ".join(f"'{text}'" for text in texts) + "]"


def access(mode: str) -> str:
    return f'[workspace.access]\nhelper = "{mode}"\n'


def at(target: str, found: Confinement) -> Mount | None:
    return next((mount for mount in found.mounts if mount.target == target), None)


async def test_an_agent_sees_its_workspace_and_nothing_else(compute: Compute, home: Home):
    found = await compute()
    assert found.mounts == (Mount(str(home.default_workspace("worker")), "/workspace", writable=True),)
    assert found.refusals == ()


@pytest.mark.parametrize(
    ("mode", "writable"),
    [
        pytest.param("read", False, id="read"),
        pytest.param("write", True, id="write"),
        pytest.param("read_write", True, id="read_write"),
        pytest.param("write_only", None, id="write_only is not mounted"),
    ],
)
async def test_a_siblings_workspace_is_seen_as_granted(compute: Compute, home: Home, mode, writable):
    found = await compute(access(mode))
    expected = None
    if writable is not None:
        expected = Mount(str(home.default_workspace("helper")), "/siblings/helper", writable)
    assert at("/siblings/helper", found) == expected
    assert found.refusals == ()


async def test_an_allowed_root_is_writable_at_its_own_path(compute: Compute, outside: Path):
    found = await compute(roots=[str(outside)])
    assert at(str(outside), found) == Mount(str(outside), str(outside), writable=True)


async def test_an_allowed_root_behind_a_link_is_resolved_and_kept_at_the_path_as_written(
    compute: Compute, outside: Path, tmp_path: Path
):
    link = tmp_path / "link"
    link.symlink_to(outside)
    assert at(str(link), await compute(roots=[str(link)])) == Mount(str(outside), str(link), writable=True)


async def test_the_agents_own_roots_replace_those_of_its_profile(compute: Compute, outside: Path, tmp_path: Path):
    found = await compute(f"[permissions]\nallowed_roots = ['{outside}']\n", roots=[str(tmp_path / "nowhere")])
    assert at(str(outside), found) is not None
    assert found.refusals == ()


async def test_a_relative_root_lies_in_the_workspace_where_it_is_seen_already(compute: Compute):
    found = await compute(roots=["."])
    assert [mount.target for mount in found.mounts] == ["/workspace"]
    assert found.refusals == ()


@pytest.mark.parametrize("text", ["", "*", "<unset>"])
async def test_a_root_that_says_nothing_is_no_root(compute: Compute, text):
    assert len((await compute(roots=[text])).mounts) == 1


async def test_a_read_only_sibling_stays_so_inside_a_root_that_covers_it(compute: Compute, outside: Path):
    inner = outside / "helper"
    inner.mkdir()
    found = await compute(access("read"), sibling=f"[workspace]\npath = '{inner}'\n", roots=[str(outside)])
    assert at(str(outside), found) == Mount(str(outside), str(outside), writable=True)
    assert at(str(inner), found) == Mount(str(inner), str(inner), writable=False)
    assert [mount.target for mount in found.mounts] == sorted(mount.target for mount in found.mounts)


async def test_a_root_that_is_also_a_read_only_sibling_is_read_only(compute: Compute, outside: Path):
    found = await compute(access("read"), sibling=f"[workspace]\npath = '{outside}'\n", roots=[str(outside)])
    assert at(str(outside), found) == Mount(str(outside), str(outside), writable=False)


async def test_a_root_inside_a_read_only_sibling_is_writable_wherever_it_shows(compute: Compute, outside: Path):
    inner = outside / "shared"
    inner.mkdir()
    found = await compute(access("read"), sibling=f"[workspace]\npath = '{outside}'\n", roots=[str(inner)])
    assert at("/siblings/helper", found) == Mount(str(outside), "/siblings/helper", writable=False)
    assert at("/siblings/helper/shared", found) == Mount(str(inner), "/siblings/helper/shared", writable=True)
    assert at(str(inner), found) == Mount(str(inner), str(inner), writable=True)


@pytest.mark.parametrize(
    ("root", "said"),
    [
        pytest.param("/", "a part of the system", id="root of the machine"),
        pytest.param("//", "a part of the system", id="root, spelled oddly"),
        pytest.param("/proc", "a part of the system", id="proc"),
        pytest.param("/sys/kernel", "a part of the system", id="below sys"),
        pytest.param("/dev/../dev", "a part of the system", id="dev, spelled oddly"),
        pytest.param("/nowhere/at/all", "does not exist", id="missing"),
    ],
)
async def test_a_root_that_no_sandbox_can_have_is_refused_by_name(compute: Compute, root, said):
    found = await compute(roots=[root])
    assert len(found.mounts) == 1
    assert any(said in refusal and root in refusal for refusal in found.refusals)


async def test_a_link_into_the_system_is_refused(compute: Compute, outside: Path):
    (outside / "innocent").symlink_to("/proc")
    found = await compute(roots=[str(outside / "innocent")])
    assert any("a part of the system" in refusal for refusal in found.refusals)


async def test_a_socket_is_no_root(compute: Compute, outside: Path, monkeypatch):
    monkeypatch.chdir(outside)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("engine")
        found = await compute(roots=[str(outside / "engine")])
    assert any("neither a directory nor a file" in refusal for refusal in found.refusals)


async def test_no_grant_may_hold_pinfolds_own_files(compute: Compute, home: Home):
    for refusal in (await compute(roots=[str(home.root)])).refusals:
        assert "files of Pinfold itself" in refusal
    assert home.exists


async def test_another_agents_directory_is_refused_because_its_permissions_lie_there(compute: Compute, home: Home):
    found = await compute(roots=[str(home.agent_dir("helper"))])
    assert any("files of Pinfold itself" in refusal for refusal in found.refusals)


async def test_what_is_missing_is_named(compute: Compute, tmp_path: Path):
    gone, elsewhere = tmp_path / "gone", tmp_path / "elsewhere"
    found = await compute(
        f"[workspace]\npath = '{gone}'\n" + access("read"), sibling=f"[workspace]\npath = '{elsewhere}'\n"
    )
    assert str(gone) in found.workspace_problem
    assert any(str(elsewhere) in refusal and "helper" in refusal for refusal in found.refusals)


async def test_a_workspace_that_is_a_file_is_said_to_be_none(compute: Compute, outside: Path):
    (outside / "file").touch()
    found = await compute(f"[workspace]\npath = '{outside / 'file'}'\n")
    assert "is not a directory" in found.workspace_problem


async def test_a_forbidden_path_is_hidden_wherever_a_mount_would_show_it(compute: Compute, outside: Path, home: Home):
    (outside / "secret").mkdir()
    (outside / "key").write_text("x")
    workspace = home.default_workspace("worker")
    workspace.mkdir(parents=True)
    (workspace / "private").mkdir()
    forbidden = [str(outside / "secret"), str(outside / "key"), "private", str(outside.parent)]
    found = await compute(roots=[str(outside)], forbidden=forbidden)
    assert found.refusals == ()
    assert set(found.masks) == {
        Mask(str(outside / "secret"), directory=True),
        Mask(str(outside / "key"), directory=False),
        Mask("/workspace/private", directory=True),
    }


async def test_a_forbidden_path_that_holds_a_grant_or_is_one_is_refused(compute: Compute, outside: Path):
    (outside / "secret" / "open").mkdir(parents=True)
    roots = [str(outside), str(outside / "secret" / "open")]
    found = await compute(roots=roots, forbidden=[str(outside / "secret"), str(outside)])
    assert len(found.refusals) == 2
    assert "holds the allowed root" in found.refusals[0]
    assert "itself" in found.refusals[1]


async def test_the_profile_caps_what_the_agent_asks_for(compute: Compute, home: Home):
    found = await compute(
        '[sandbox]\nmemory = "2g"\ncpus = 1.5\npids = 64\n', caps='max_memory = "1g"\nmax_cpus = 2.0\n'
    )
    assert (found.limits.memory, found.limits.cpus, found.limits.pids) == (1024**3, 1.5, 64)


async def test_the_files_a_runner_takes_as_its_rules_are_read_only(compute: Compute, home: Home):
    rules = home.default_workspace("worker") / ".claude" / "settings.json"
    rules.parent.mkdir(parents=True)
    rules.write_text("{}")
    found = await compute('[sandbox]\nrunner = "claude"\n')
    assert at("/workspace/.claude/settings.json", found) == Mount(
        str(rules), "/workspace/.claude/settings.json", writable=False
    )


async def test_a_forbidden_path_that_is_not_there_hides_nothing(compute: Compute, outside: Path):
    assert (await compute(roots=[str(outside)], forbidden=[str(outside / "secret")])).refusals == ()


async def test_a_write_only_sibling_inside_what_is_mounted_is_refused(compute: Compute, outside: Path):
    found = await compute(access("write_only"), sibling=f"[workspace]\npath = '{outside}'\n", roots=[str(outside)])
    assert any("may not be read" in refusal for refusal in found.refusals)


async def test_settings_become_limits_network_and_environment(compute: Compute):
    found = await compute(
        '[permissions]\nenv_passthrough = ["TZ"]\n'
        '[sandbox]\nmemory = "64m"\ncpus = 0.5\npids = 7\nnetwork = "open"\nenvironment = { A = "1" }\n'
    )
    assert (found.limits.memory, found.limits.cpus, found.limits.pids) == (64 * 1024**2, 0.5, 7)
    assert (found.network, found.environment, found.passthrough) == ("open", {"A": "1"}, ("TZ",))


async def test_the_agents_own_list_of_domains_replaces_its_profiles(compute: Compute):
    caps = 'allowed_domains = ["example.org", "*.example.com"]\n'
    assert (await compute(caps=caps)).allowed_domains == ("example.org", "*.example.com")
    own = '[permissions]\nallowed_domains = ["docs.example.org:8443"]\n'
    assert (await compute(own, caps=caps)).allowed_domains == ("docs.example.org:8443",)
    assert (await compute("[permissions]\nallowed_domains = []\n", caps=caps)).allowed_domains == ()


async def test_paths_with_odd_names_are_mounted_as_they_are(compute: Compute, tmp_path: Path):
    odd = tmp_path / "a b:c,ü 🐚"
    odd.mkdir()
    found = await compute(f"[workspace]\npath = '{odd}'\n", roots=[str(odd)])
    assert at("/workspace", found) == Mount(str(odd), "/workspace", writable=True)
