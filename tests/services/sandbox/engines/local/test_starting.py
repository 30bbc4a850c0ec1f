"""What is refused before anything runs, what fails at the start, and who may start what."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import stat
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from services.errors import EngineError, SandboxGone, SessionRefused
from services.sandbox.engines.local.supervisor import is_alive
from services.sandbox.model import Mount
from tests.services.sandbox.engines.local.bench import WAIT, Bench, command_line, eventually, gone

ROOT = Path(__file__).parents[5]


@pytest.mark.parametrize(
    ("command", "code", "reason"),
    [
        pytest.param(["no-such-program", "x"], 127, "no-such-program: not found", id="not on PATH"),
        pytest.param(["./missing"], 127, "./missing: not found", id="no such file"),
        pytest.param(["./plain"], 126, "./plain: ", id="not executable"),
        pytest.param(["./folder"], 126, "./folder: ", id="a directory"),
    ],
)
async def test_command_that_cannot_be_executed_fails_the_start(
    bench: Bench, command: list[str], code: int, reason: str
) -> None:
    (bench.workspace / "plain").write_text("#!/bin/sh\n")
    (bench.workspace / "plain").chmod(0o644)
    (bench.workspace / "folder").mkdir()
    sandbox = await bench.engine.create(bench.spec(*command), {})

    with pytest.raises(EngineError, match="cannot be started") as failure:
        await bench.engine.start(sandbox)

    assert failure.value.why.startswith(reason)
    state = await bench.end(sandbox)
    assert (state.status, state.exit_code, state.error) == ("exited", code, failure.value.why)
    assert state.started_at is None


async def test_relative_program_is_found_in_the_workspace(bench: Bench) -> None:
    program = bench.workspace / "program"
    program.write_text("#!/bin/sh\necho found\n")
    program.chmod(0o755)

    state = await bench.run(bench.spec("./program"))

    assert (state.exit_code, bench.lines(state.id)) == (0, ["found"])


async def test_workspace_that_is_missing_is_refused_at_creation(bench: Bench) -> None:
    with pytest.raises(EngineError, match="is not a directory") as refusal:
        await bench.engine.create(bench.sh("true", workspace=str(bench.workspace / "none")), {})

    assert refusal.value.fix
    assert await bench.engine.list() == []


async def test_workspace_that_vanished_after_creation_fails_the_start(bench: Bench) -> None:
    sandbox = await bench.engine.create(bench.sh("true"), {})
    bench.workspace.rmdir()

    with pytest.raises(EngineError, match="workspace"):
        await bench.engine.start(sandbox)

    assert (await bench.end(sandbox)).exit_code == 126


async def test_mount_whose_source_vanished_fails_the_start_with_its_name(confined: Bench, tmp_path: Path) -> None:
    source = tmp_path / "granted"
    source.mkdir()
    spec = confined.sh("true", mounts=(Mount(str(source), "/granted", writable=False),))
    sandbox = await confined.engine.create(spec, {})
    source.rmdir()

    with pytest.raises(EngineError, match="granted"):
        await confined.engine.start(sandbox)

    assert (await confined.end(sandbox)).exit_code == 126


async def test_mount_whose_source_is_missing_is_refused_at_creation(confined: Bench, tmp_path: Path) -> None:
    mount = Mount(str(tmp_path / "none"), "/granted", writable=True)

    with pytest.raises(EngineError, match="does not exist"):
        await confined.engine.create(confined.sh("true", mounts=(mount,)), {})

    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("changes", "values", "why"),
    [
        pytest.param({"command": ()}, {}, "no images", id="no command"),
        pytest.param({"command": ("",)}, {}, "no images", id="an empty command"),
        pytest.param({"secrets": ("TOKEN",)}, {}, "TOKEN", id="a secret without a value"),
        pytest.param({"command": ("sh", "a\0b")}, {}, "NUL", id="NUL in the command"),
        pytest.param({"environment": {"A": "a\0b"}}, {}, "NUL", id="NUL in a variable"),
        pytest.param({"environment": {"A=B": ""}}, {}, "name of a variable", id="a name with ="),
    ],
)
async def test_what_no_process_can_be_given_is_refused(
    unconfined: Bench, changes: dict[str, Any], values: dict[str, str], why: str
) -> None:
    with pytest.raises(EngineError, match=why):
        await unconfined.engine.create(unconfined.spec("sh", **changes), values)

    assert await unconfined.engine.list() == []


async def test_unconfined_is_refused_unless_the_profile_allows_it(unconfined: Bench) -> None:
    with pytest.raises(SessionRefused) as refusal:
        await unconfined.engine.create(unconfined.sh("true", unconfined=False), {})

    assert "confined" in refusal.value.what
    assert "bubblewrap" in refusal.value.why
    assert "allow_unconfined" in refusal.value.fix
    assert await unconfined.engine.list() == []


async def test_allowed_names_of_a_network_cannot_be_kept_to_here(confined: Bench) -> None:
    assert any("allowlist is refused" in note for note in (await confined.engine.status()).notes)
    with pytest.raises(EngineError, match="all of this machine's network or none"):
        await confined.engine.create(confined.sh("true", network="allowlist"), {})


async def test_creating_twice_makes_one_sandbox(bench: Bench) -> None:
    spec = bench.sh("echo ran")

    first = await bench.engine.create(spec, {})
    supervisor = bench.record(first).supervisor
    second = await bench.engine.create(spec, {})

    assert first == second
    assert bench.record(first).supervisor == supervisor
    await bench.engine.start(first)
    await bench.end(first)
    assert bench.lines(first) == ["ran"]
    assert await bench.engine.create(spec, {}) == first


async def test_starting_twice_runs_once(unconfined: Bench) -> None:
    sandbox = await unconfined.start(unconfined.sh("echo ran; exec sleep 60"))
    await unconfined.engine.start(sandbox)
    await unconfined.another_engine().start(sandbox)

    await unconfined.printed(sandbox, "ran")
    assert unconfined.lines(sandbox) == ["ran"]


async def test_starting_again_after_the_end_is_refused(unconfined: Bench) -> None:
    state = await unconfined.run(unconfined.sh("true"))

    with pytest.raises(EngineError, match="it has ended"):
        await unconfined.engine.start(state.id)


async def test_created_sandbox_does_nothing_until_started(unconfined: Bench) -> None:
    sandbox = await unconfined.engine.create(unconfined.sh("touch ran"), {})

    assert (await unconfined.engine.inspect(sandbox)).status == "created"
    with pytest.raises(EngineError, match="cannot be started"):
        await unconfined.another_engine().start(sandbox)
    await unconfined.engine.signal(sandbox, "KILL")
    await unconfined.engine.remove(sandbox)
    assert not (unconfined.workspace / "ran").exists()


async def test_created_sandbox_ends_with_the_pinfold_that_made_it_and_can_be_made_again(unconfined: Bench) -> None:
    spec = unconfined.sh("echo ran")
    sandbox = await unconfined.engine.create(spec, {})
    first = unconfined.record(sandbox)
    assert is_alive(first.supervisor)
    await unconfined.engine.close()

    await gone(first)
    unconfined.engine = unconfined.another_engine()
    state = await unconfined.engine.inspect(sandbox)
    assert (state.status, "ended before it was started" in state.error) == ("created", True)
    with pytest.raises(EngineError, match="cannot be started"):
        await unconfined.engine.start(sandbox)

    await unconfined.run(spec)
    assert unconfined.lines(sandbox) == ["ran"]


async def test_cancelled_creation_leaves_nothing(unconfined: Bench) -> None:
    creation = asyncio.create_task(unconfined.engine.create(unconfined.sh("true"), {}))
    await eventually(lambda: (unconfined.directory("session-1") / "sandbox.json").exists())
    creation.cancel()

    with pytest.raises(asyncio.CancelledError):
        await creation

    assert await unconfined.engine.list() == []
    await eventually(lambda: not _supervisors(unconfined))


async def test_supervisor_that_fails_is_reported_with_its_reason(unconfined: Bench) -> None:
    spec = unconfined.sh("true")
    unconfined.directory(spec.session).mkdir(parents=True)
    (unconfined.directory(spec.session) / "output").write_text("in the way")

    with pytest.raises(EngineError, match="supervisor") as failure:
        await unconfined.engine.create(spec, {})

    assert "SpoolError" in failure.value.why


async def test_secrets_are_in_the_environment_and_nowhere_else(bench: Bench) -> None:
    secret = "s3cr3t-" * 4
    script = 'echo "${#TOKEN}"; exec sleep 60'
    sandbox = await bench.engine.create(bench.sh(script, secrets=("TOKEN",)), {"TOKEN": secret})
    assert _where_it_shows(bench, secret) == []

    await bench.engine.start(sandbox)
    await bench.printed(sandbox, str(len(secret)))
    assert _where_it_shows(bench, secret) == []

    status, output = await bench.engine.run(sandbox, ("sh", "-c", 'echo "${#TOKEN}"'))
    assert (status, output) == (0, f"{len(secret)}\n".encode())
    assert _where_it_shows(bench, secret) == []


async def test_files_are_for_their_owner_only(unconfined: Bench) -> None:
    state = await unconfined.run(unconfined.sh("true"))

    directory = unconfined.directory(state.id)
    for path in [directory, *directory.iterdir()]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


@pytest.mark.parametrize("name", ["..", "a/b", "", ".hidden", "x" * 200, "nul\0"])
async def test_strange_ids_name_no_sandbox(unconfined: Bench, name: str) -> None:
    with pytest.raises(SandboxGone):
        await unconfined.engine.inspect(name)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM], ids=lambda number: number.name)
async def test_sandbox_outlives_the_pinfold_that_started_it(bench: Bench, end: signal.Signals) -> None:
    spec = bench.sh("seq 1 1000; while [ ! -e go ]; do sleep 0.05; done; seq 1001 2000; exit 5")
    program = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name("launching_program.py")),
        str(bench.home.root),
        bench.env["PATH"],
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        start_new_session=True,
    )
    assert program.stdin
    assert program.stdout
    program.stdin.write(msgspec.json.encode(spec))
    program.stdin.close()
    async with asyncio.timeout(WAIT):
        assert await program.stdout.readline() == b"started\n"
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program.pid, end)
    await program.wait()

    assert (await bench.engine.inspect(spec.session)).status == "running"
    (bench.workspace / "go").touch()
    assert (await bench.end(spec.session)).exit_code == 5
    assert bench.lines(spec.session) == [str(number) for number in range(1, 2001)]


async def test_nothing_of_ours_is_ever_a_zombie_child_of_pinfold(unconfined: Bench) -> None:
    await unconfined.run(unconfined.sh("true"))
    sandbox = await unconfined.start(unconfined.sh("exec sleep 60"))
    await unconfined.engine.run(sandbox, ("true",))
    await unconfined.engine.remove(sandbox)

    assert "Z" not in _states_of_children()


def _states_of_children() -> list[str]:
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in children]


def _supervisors(bench: Bench) -> list[str]:
    lines = [command_line(int(entry.name)) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [line for line in lines if "supervise.py" in line and str(bench.home.root) in line]


def _where_it_shows(bench: Bench, secret: str) -> list[str]:
    """Command lines of any process, and files of the home, that hold a text."""
    places = [entry / "cmdline" for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    places += [path for path in bench.home.root.rglob("*") if path.is_file()]
    found = []
    for place in places:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if secret.encode() in place.read_bytes():
                found.append(str(place))
    return found
