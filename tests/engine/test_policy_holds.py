"""What the policy says of a path on this machine is what a real sandbox made from the same files does with it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from services.home import BlockingCalls, Home
from services.pinfold import Pinfold
from services.policy import Verdict
from services.sandbox import Session
from services.sandbox.engines.docker import DockerEngine
from tests.engine.worlds import docker_world
from tests.support.sessions import cleaned_up, started

PROFILE = """
[risk_profiles.boxed]
level = "{level}"
allowed_commands = ["*"]
allowed_roots = ["{place}/shared", "{place}/linked"]
forbidden_paths = ["{place}/shared/private", "{home}/agents/worker/workspace/token", "{home}/agents/writer/workspace/k"]
"""

ACCESS = """
[workspace.access]
reader = "read"
writer = "read_write"
"""

PLACES = (
    "{work}/own",
    "{work}/deep/er/own",
    "{work}/token",
    "{work}/out",
    "{work}/.claude/settings.json",
    "{home}/agents/reader/workspace/own",
    "{home}/agents/writer/workspace/own",
    "{home}/agents/writer/workspace/k/own",
    "{home}/agents/stranger/workspace/own",
    "{home}/agents/worker/agent.toml",
    "{home}/pinfold.toml",
    "{place}/shared/own",
    "{place}/shared/private/own",
    "{place}/linked/own",
    "{place}/elsewhere/own",
)
"""Files, as this machine names them; `out` is a link from the workspace to `elsewhere/own`, `linked` one to a root."""


@pytest.fixture
def place(tmp_path: Path, home: Home) -> Path:
    """Everything the table names, each file with its own path in it and open to everyone but for the policy."""
    place = tmp_path / "place"
    (place / "real").mkdir(parents=True)
    (place / "linked").symlink_to(place / "real")
    work = home.default_workspace("worker")
    for name in PLACES:
        file = Path(name.format(work=work, home=home.root, place=place))
        if file.name in ("agent.toml", "pinfold.toml", "out"):
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("here")
    (work / "out").symlink_to(place / "elsewhere/own")
    for path in [place, home.root, *place.rglob("*"), *home.root.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o777 if path.is_dir() else 0o666)
    return place


def inside(path: str, session: Session) -> str:
    """What a path is called in the sandbox: below the mount that holds it, else as it is."""
    held = [mount for mount in session.spec.mounts if path == mount.source or path.startswith(f"{mount.source}/")]
    if not held:
        return path
    mount = max(held, key=lambda mount: len(mount.source))
    return mount.target + path.removeprefix(mount.source)


@pytest.mark.parametrize("level", ["supervised", "readonly"])
async def test_every_path_is_open_or_closed_as_the_policy_says(
    home: Home, docker_host: str, image: str, calls: BlockingCalls, place: Path, level: str
) -> None:
    world = docker_world(home, docker_host, image)
    with home.config_file.open("a", encoding="utf-8") as file:
        file.write(PROFILE.format(place=place, home=home.root, level=level))
    for alias in ("reader", "writer", "stranger"):
        world.agent(alias)
    world.agent(script="sleep 600", profile="boxed", rest=ACCESS)
    async with cleaned_up(world), world.pinfold() as pinfold:
        session = await started(pinfold)
        engine = DockerEngine(home.identity(), calls, world.env)
        said, done = await compared(pinfold, session, engine, place)
        await engine.close()
    assert done == said
    assert set(said.values()) == {True, False}
    written = {name for name, allowed in said.items() if allowed and name.startswith("write ")}
    assert bool(written) is (level != "readonly")


async def compared(
    pinfold: Pinfold, session: Session, engine: DockerEngine, place: Path
) -> tuple[dict[str, bool], dict[str, bool]]:
    """Ask the policy, and try in the sandbox, to read every place and to change it."""
    policy = pinfold.policies.of("worker")
    home = pinfold.home
    work = home.default_workspace("worker")
    said, done = {}, {}
    for name in PLACES:
        path = name.format(work=work, home=home.root, place=place)
        quoted = shlex.quote(inside(path, session))
        said[f"read {name}"] = policy.read(path).verdict is Verdict.ALLOW
        said[f"write {name}"] = policy.write(path).verdict is Verdict.ALLOW
        status, _ = await engine.run(session.sandbox, ("sh", "-c", f"grep -q . {quoted}"))
        done[f"read {name}"] = status == 0
        before = Path(path).read_bytes()
        await engine.run(session.sandbox, ("sh", "-c", f"echo more >> {quoted}"))
        done[f"write {name}"] = Path(path).read_bytes() != before
    return said, done
