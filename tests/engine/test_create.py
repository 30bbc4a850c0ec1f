"""What a sandbox is made of: labels, limits, users, mounts, and what keeps it in."""

from __future__ import annotations

import os
import shutil
import traceback
from pathlib import Path

import pytest
from docker import APIClient

from services.errors import EngineError, ImageMissing, SandboxGone
from services.sandbox.engines.docker import DockerEngine
from services.sandbox.model import Limits, Mount, SandboxSpec
from tests.engine.conditions import eventually
from tests.engine.sandboxes import Sandboxes
from tests.engine.spools import Spool

MIB = 1024 * 1024


async def output_of(engine: DockerEngine, spec: SandboxSpec, spool: Spool) -> list[bytes]:
    """Run a sandbox to its end and return what it printed."""
    sandbox = await engine.create(spec, {})
    await engine.start(sandbox)
    await engine.follow(sandbox, spool.writer)
    return spool.lines()


async def test_a_sandbox_is_labelled_limited_and_locked_in(
    engine: DockerEngine, sandboxes: Sandboxes, api: APIClient, home_id: str
) -> None:
    spec = sandboxes.spec("sleep", "60", limits=Limits(memory=256 * MIB, cpus=0.5, pids=40), output_limit=1024 * MIB)
    found = api.inspect_container(await engine.create(spec, {}))
    host, config = found["HostConfig"], found["Config"]
    assert found["Name"] == f"/pinfold-{home_id[:8]}-{spec.session}"
    assert (
        config["Labels"].items()
        >= {
            "pinfold.home": home_id,
            "pinfold.session": spec.session,
            "pinfold.agent": "reviewer",
            "pinfold.lifecycle": "session",
        }.items()
    )
    assert (host["Memory"], host["MemorySwap"], host["NanoCpus"], host["PidsLimit"]) == (
        256 * MIB,
        256 * MIB,
        500_000_000,
        40,
    )
    assert host["CapDrop"] == ["ALL"]
    assert not host["CapAdd"]
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert host["ReadonlyRootfs"]
    assert not host["Privileged"]
    assert host["Init"]
    assert host["NetworkMode"] == "none"
    assert host["LogConfig"] == {
        "Type": "local",
        "Config": {"max-size": str(256 * MIB), "max-file": "5", "compress": "false"},
    }
    assert host["Binds"] is None
    assert (config["Tty"], config["OpenStdin"], config["WorkingDir"]) == (False, False, "/workspace")
    mount = found["Mounts"][0]
    assert (mount["Source"], mount["RW"], mount["Propagation"]) == (spec.workspace, True, "rprivate")


async def test_more_cpus_than_there_are_is_no_error(engine: DockerEngine, sandboxes: Sandboxes, api: APIClient) -> None:
    sandbox = await engine.create(sandboxes.spec("true", limits=Limits(cpus=1000.0)), {})
    assert api.inspect_container(sandbox)["HostConfig"]["NanoCpus"] == api.info()["NCPU"] * 10**9


async def test_the_inside_has_no_capability_and_no_way_to_one(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool
) -> None:
    attempts = {
        "root is read-only": "touch /etc/x",
        "no mount": "mount -t tmpfs none /mnt",
        "no remount": "mount -o remount,rw /",
        "no namespaces": "unshare -Um true",
        "no devices": "mknod /tmp/m c 1 1",
        "no chroot": "chroot / true",
        "no engine inside": "test -e /var/run/docker.sock",
        "no network": "ip link show eth0",
        "no devices set up": "test -e /dev/mem",
        "no setuid": "cp /bin/busybox /tmp/b && chown 0:1 /tmp/b && chmod 4755 /tmp/b",
        "no host name": "hostname other",
    }
    script = "".join(f"({attempt}) 2>/dev/null && echo '{name}: broken'\n" for name, attempt in attempts.items())
    script += "grep -E 'Cap(Bnd|Eff|Prm)|NoNewPrivs|Seccomp:' /proc/self/status\n"
    assert await output_of(engine, sandboxes.script(script), spool) == [
        b"CapPrm:\t0000000000000000",
        b"CapEff:\t0000000000000000",
        b"CapBnd:\t0000000000000000",
        b"NoNewPrivs:\t1",
        b"Seccomp:\t2",
    ]


async def test_tmp_and_home_are_writable_bounded_and_may_hold_programs(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool
) -> None:
    script = """
    for place in /tmp $HOME; do
      printf '#!/bin/sh\\necho ran in $0\\n' >$place/program && chmod +x $place/program && $place/program
      head -c 100000000 /dev/zero >$place/large 2>/dev/null || echo bounded; rm $place/large
    done
    """
    spec = sandboxes.script(script, limits=Limits(memory=256 * MIB))
    assert await output_of(engine, spec, spool) == [
        b"ran in /tmp/program",
        b"bounded",
        b"ran in /home/agent/program",
        b"bounded",
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="giving files away needs root")
@pytest.mark.parametrize("owner", [(1000, 1000), (4321, 8765), (0, 0)], ids=["agent", "somebody", "root"])
async def test_it_runs_as_the_owner_of_the_workspace_and_changes_no_owner(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool, owner: tuple[int, int]
) -> None:
    spec = sandboxes.script("echo $(id -u):$(id -g); touch made $HOME/made && echo wrote")
    os.chown(sandboxes.workspace, *owner)
    sandboxes.workspace.chmod(0o700)
    assert await output_of(engine, spec, spool) == [f"{owner[0]}:{owner[1]}".encode(), b"wrote"]
    for path in (sandboxes.workspace, sandboxes.workspace / "made"):
        assert (path.stat().st_uid, path.stat().st_gid) == owner


@pytest.mark.parametrize(
    "name", ["with space", "a:b:ro", "tür 日本", 'q"uote', "new\nline", "back\\slash", "-v", "a,b=c"]
)
async def test_awkward_workspace_paths_work(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool, tmp_path: Path, name: str
) -> None:
    workspace = tmp_path / name
    spec = sandboxes.script("pwd; echo x >made", workspace=str(workspace))
    assert await output_of(engine, spec, spool) == [b"/workspace"]
    assert (workspace / "made").read_text() == "x\n"


async def test_a_source_that_is_a_link_is_resolved(
    engine: DockerEngine, sandboxes: Sandboxes, api: APIClient, tmp_path: Path
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    mounts = (Mount(str(tmp_path / "link"), "/workspace", writable=True),)
    sandbox = await engine.create(sandboxes.spec("true", mounts=mounts), {})
    assert api.inspect_container(sandbox)["Mounts"][0]["Source"] == str(tmp_path / "real")


async def test_a_read_only_mount_stays_so_and_nested_ones_keep_their_own_rule(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool, tmp_path: Path
) -> None:
    for folder in ("work/inner", "sibling", "tmp"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "sibling" / "kept").write_text("kept")
    mounts = (
        Mount(str(tmp_path / "work"), "/workspace", writable=True),
        Mount(str(tmp_path / "work" / "inner"), "/workspace/inner", writable=False),
        Mount(str(tmp_path / "sibling"), "/siblings/other", writable=False),
        Mount(str(tmp_path / "tmp"), "/tmp/granted", writable=True),
    )
    script = """
    touch /workspace/a && echo workspace
    touch /workspace/inner/a 2>/dev/null && echo inner broken
    for attempt in 'rm kept' 'mv kept x' 'touch new' 'ln kept /workspace/l' 'chmod 777 kept'; do
      (cd /siblings/other && $attempt 2>/dev/null) && echo "$attempt: broken"
    done
    mount -o remount,rw /siblings/other 2>/dev/null && echo remount broken
    cat /siblings/other/kept; echo
    touch /tmp/granted/a && echo granted
    """
    spec = sandboxes.script(script, mounts=mounts, workspace=str(tmp_path / "work"))
    assert await output_of(engine, spec, spool) == [b"workspace", b"kept", b"granted"]
    assert (tmp_path / "tmp" / "a").exists()


async def test_a_missing_source_is_named_and_not_made(
    engine: DockerEngine, sandboxes: Sandboxes, tmp_path: Path
) -> None:
    missing = tmp_path / "not there"
    spec = sandboxes.spec("true", mounts=(Mount(str(missing), "/workspace", writable=True),))
    with pytest.raises(EngineError) as raised:
        await engine.create(spec, {})
    assert str(missing) in raised.value.what
    assert raised.value.fix
    assert not missing.exists()


async def test_a_source_that_vanished_before_the_start_is_named(engine: DockerEngine, sandboxes: Sandboxes) -> None:
    spec = sandboxes.spec("true")
    sandbox = await engine.create(spec, {})
    shutil.rmtree(spec.workspace)
    with pytest.raises(EngineError) as raised:
        await engine.start(sandbox)
    assert spec.workspace in raised.value.what
    assert (await engine.inspect(sandbox)).status == "created"


async def test_a_relative_source_is_refused(engine: DockerEngine, sandboxes: Sandboxes) -> None:
    with pytest.raises(EngineError, match="not an absolute path"):
        await engine.create(sandboxes.spec("true", mounts=(Mount("work", "/workspace", writable=True),)), {})


async def test_creating_twice_returns_the_first(engine: DockerEngine, sandboxes: Sandboxes) -> None:
    spec = sandboxes.spec("sleep", "60")
    first = await engine.create(spec, {})
    await engine.start(first)
    assert await engine.create(spec, {}) == first
    assert (await engine.inspect(first)).status == "running"


async def test_a_foreign_container_with_the_name_is_left_alone_and_named(
    engine: DockerEngine, sandboxes: Sandboxes, api: APIClient, home_id: str
) -> None:
    spec = sandboxes.spec("true")
    name = f"pinfold-{home_id[:8]}-{spec.session}"
    foreign = api.create_container(sandboxes.image, ["sleep", "60"], name=name)["Id"]
    try:
        with pytest.raises(EngineError) as raised:
            await engine.create(spec, {})
        assert name in raised.value.why
        assert f"docker rm -f {name}" in raised.value.fix
        for touched in (engine.start(foreign), engine.signal(foreign, "KILL"), engine.run(foreign, ("true",))):
            with pytest.raises(SandboxGone):
                await touched
        await engine.remove(foreign)
        assert api.inspect_container(foreign)["State"]["Status"] == "created"
    finally:
        api.remove_container(foreign, force=True)


@pytest.mark.parametrize("image", ["pinfold/nothing:1", "Not:An:Image", "localhost:1/no/such"])
async def test_a_missing_image_is_named(engine: DockerEngine, sandboxes: Sandboxes, image: str) -> None:
    assert not await engine.has_image(image)
    with pytest.raises(ImageMissing) as raised:
        await engine.create(sandboxes.spec("true", image=image), {})
    assert image in raised.value.what
    assert raised.value.why
    assert raised.value.fix


async def test_the_image_of_the_tests_is_here(engine: DockerEngine, image: str) -> None:
    assert await engine.has_image(image)


async def test_an_open_network_is_the_engines_bridge(
    engine: DockerEngine, sandboxes: Sandboxes, api: APIClient
) -> None:
    sandbox = await engine.create(sandboxes.spec("true", network="open"), {})
    assert api.inspect_container(sandbox)["HostConfig"]["NetworkMode"] == "bridge"


async def test_environment_and_secrets_arrive_and_home_is_set(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool
) -> None:
    spec = sandboxes.script(
        'printf "%s\\n" "$HOME" "$PLAIN" "$TOKEN"', environment={"PLAIN": "a=b c\nd"}, secrets=("TOKEN",)
    )
    sandbox = await engine.create(spec, {"TOKEN": "s3cret-ü"})
    await engine.start(sandbox)
    await engine.follow(sandbox, spool.writer)
    assert spool.stdout == [b"/home/agent", b"a=b c", b"d", "s3cret-ü".encode()]


@pytest.mark.parametrize("home", ["/home/other", "/root", "/workspace", "/workspace/home"])
async def test_a_home_of_the_specs_own_is_writable(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool, home: str
) -> None:
    script = "mkdir -p $HOME && touch $HOME/x && echo $HOME"
    assert await output_of(engine, sandboxes.script(script, environment={"HOME": home}), spool) == [home.encode()]
    assert len(list(sandboxes.workspace.iterdir())) == home.startswith("/workspace")


async def test_a_refused_create_tells_no_secret(engine: DockerEngine, sandboxes: Sandboxes) -> None:
    secret = "-".join(["hunter2"] * 2)  # so that no line of source in a traceback holds it
    with pytest.raises(EngineError) as raised:
        await engine.create(sandboxes.spec("true", secrets=("",)), {"": secret})
    assert secret not in "".join(traceback.format_exception(raised.value)) + repr(raised.value)
    assert "invalid environment variable" in raised.value.why


async def test_the_images_own_command_runs_when_none_is_given(engine: DockerEngine, sandboxes: Sandboxes) -> None:
    sandbox = await engine.create(sandboxes.spec(), {})
    await engine.start(sandbox)

    async def ended() -> bool:
        return (await engine.inspect(sandbox)).status == "exited"

    await eventually(ended)  # a shell whose input is closed
    assert (await engine.inspect(sandbox)).exit_code == 0
