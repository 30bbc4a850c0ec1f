"""What bubblewrap keeps a command from, and what it leaves it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from services.sandbox.engines.local import LocalEngine
from services.sandbox.model import Mask, Mount
from tests.services.sandbox.engines.local.bench import Bench, command_line


async def test_rest_of_the_machine_is_not_there(confined: Bench, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    script = 'for path; do [ -e "$path" ] && echo "$path"; done; ls -A / | sort | tr "\\n" " "'

    printed = await confined.script(
        script, str(secret), str(confined.home.root), "/root", "/etc/shadow", "/sys", "/run"
    )

    assert set(printed[0].split()) >= {"usr", "etc", "proc", "dev", "tmp", "home"}
    assert set(printed[0].split()) <= {
        *("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"),
        *("etc", "proc", "dev", "tmp", "home", ".start"),
        confined.workspace.parts[1],
    }


@pytest.mark.parametrize("place", ["/usr/x", "/etc/x", "/x", "/bin/x", "/etc/passwd", "/proc/sys/kernel/hostname"])
async def test_system_cannot_be_written(confined: Bench, place: str) -> None:
    assert await confined.script('(echo x > "$1") 2>/dev/null || echo refused', place) == ["refused"]


async def test_kernel_settings_cannot_be_changed_not_even_by_root(confined: Bench) -> None:
    script = "cd /proc/sys/kernel; (cat core_pattern > core_pattern) 2>/dev/null || echo refused"

    assert await confined.script(script) == ["refused"]


async def test_no_capability_is_left(confined: Bench) -> None:
    assert await confined.script("grep -E 'Cap(Prm|Eff|Bnd)' /proc/self/status | cut -f2") == ["0" * 16] * 3


async def test_processes_of_the_machine_cannot_be_seen(confined: Bench) -> None:
    printed = await confined.script("cat /proc/[0-9]*/comm")  # expanded before there is a cat

    assert sorted(printed) == ["bwrap", "sh"]


@pytest.mark.parametrize(("writable", "written"), [(True, "done"), (False, "refused")])
async def test_mounts_are_as_the_spec_says(confined: Bench, tmp_path: Path, writable: bool, written: str) -> None:
    granted = tmp_path / "granted: ü"
    granted.mkdir()
    (granted / "file").write_text("read\n")
    mount = Mount(str(granted), "/deep/inside/granted", writable=writable)
    script = "cd /deep/inside/granted; cat file; (echo x > new) 2>/dev/null && echo done || echo refused"

    assert await confined.script(script, mounts=(mount,)) == ["read", written]
    assert (granted / "new").exists() == writable


async def test_workspace_is_where_a_mount_shows_it_and_nowhere_else(confined: Bench) -> None:
    inner = confined.workspace / "sibling"
    inner.mkdir()
    mounts = (
        Mount(str(confined.workspace), "/workspace", writable=True),
        Mount(str(inner), "/workspace/sibling", writable=False),
    )
    script = (
        'pwd; [ -e "$1" ] && echo "at its own path too"; (echo x > sibling/x) 2>/dev/null || echo refused; touch made'
    )

    assert await confined.script(script, str(confined.workspace), mounts=mounts) == ["/workspace", "refused"]
    assert (confined.workspace / "made").exists()


async def test_file_can_be_made_read_only_inside_the_workspace(confined: Bench) -> None:
    file = confined.workspace / "AGENTS.md"
    file.write_text("rules\n")
    mounts = (
        Mount(str(confined.workspace), "/workspace", writable=True),
        Mount(str(file), "/workspace/AGENTS.md", writable=False),
    )
    attempts = ("echo x > AGENTS.md", "rm AGENTS.md", "mv AGENTS.md b")
    script = 'for attempt; do sh -c "$attempt" 2>/dev/null || echo no; done'

    assert await confined.script(script, *attempts, mounts=mounts) == ["no", "no", "no"]
    assert file.read_text() == "rules\n"


async def test_what_is_forbidden_inside_the_workspace_is_hidden_and_stays_as_it_was(confined: Bench) -> None:
    (confined.workspace / "private").mkdir()
    (confined.workspace / "private" / "key").write_text("secret\n")
    (confined.workspace / "token").write_text("secret\n")
    mounts = (Mount(str(confined.workspace), "/workspace", writable=True),)
    masks = (Mask("/workspace/private", directory=True), Mask("/workspace/token", directory=False))
    attempts = ("ls private | grep .", "cat private/key", "echo x > private/new", "rm -r private", "grep secret token")
    script = 'for attempt; do sh -c "$attempt" >/dev/null 2>&1 || echo no; done'

    assert await confined.script(script, *attempts, mounts=mounts, masks=masks) == ["no"] * len(attempts)
    assert (confined.workspace / "private" / "key").read_text() == "secret\n"
    assert (confined.workspace / "token").read_text() == "secret\n"


async def test_masked_paths_inside_a_mount_can_be_neither_read_nor_uncovered(confined: Bench) -> None:
    folder = confined.workspace / "folder"
    folder.mkdir()
    (folder / "inner").write_text("hidden\n")
    (confined.workspace / "file").write_text("hidden\n")
    masks = (Mask("/workspace/folder", directory=True), Mask("/workspace/file", directory=False))
    mounts = (Mount(str(confined.workspace), "/workspace", writable=True),)
    attempts = ("cat file", "cat folder/inner", "ls folder", "chmod 700 folder && ls folder", "rm file", "mv folder x")
    script = 'for attempt; do sh -c "$attempt" 2>/dev/null || echo no; done'

    assert await confined.script(script, *attempts, mounts=mounts, masks=masks) == ["no"] * len(attempts)
    assert (folder / "inner").read_text() == "hidden\n"


@pytest.mark.parametrize(("network", "reached"), [("open", "reached"), ("none", "refused")])
async def test_network_is_there_or_not(confined: Bench, network: str, reached: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        program = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        script = '/usr/bin/python3 -c "$1" 2>/dev/null && echo reached || echo refused'

        assert await confined.script(script, program, network=network) == [reached]


async def test_without_bubblewrap_a_network_of_none_is_not_kept_and_the_engine_says_so(unconfined: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 5)"

        state = await unconfined.run(unconfined.spec("/usr/bin/python3", "-c", program, network="none"))

    assert state.exit_code == 0
    assert any("network = none" in note for note in (await unconfined.engine.status()).notes)


async def test_temporary_files_and_home_belong_to_the_session(confined: Bench) -> None:
    sandbox = await confined.start(confined.sh("echo a > /tmp/a; echo b > ~/b; echo up; exec sleep 60"))
    await confined.printed(sandbox, "up")

    assert await confined.engine.run(sandbox, ("sh", "-c", "cat /tmp/a ~/b")) == (0, b"a\nb\n")
    assert await confined.script("ls /tmp/a ~/b 2>/dev/null || echo not here") == ["not here"]


async def test_variables_are_on_no_command_line(confined: Bench) -> None:
    sandbox = await confined.start(confined.sh("echo up; exec sleep 60", environment={"PLAIN": "visible-nowhere"}))
    await confined.printed(sandbox, "up")

    main = confined.record(sandbox).main
    root = confined.record(sandbox).root
    assert main is not None
    assert root is not None
    assert command_line(main.pid) == "sleep 60 "
    assert "bwrap" in command_line(root.pid)
    assert "visible-nowhere" not in command_line(root.pid)


async def test_program_folders_that_are_not_inside_are_not_on_the_path(confined: Bench) -> None:
    engine = LocalEngine(confined.home, confined.home_id, {"PATH": "/opt/x:/usr/bin:relative:/bin:/usr/local/bin:/tmp"})
    spec = confined.sh('echo "$PATH"')
    await engine.start(await engine.create(spec, {}))
    await confined.end(spec.session)
    await engine.close()

    assert confined.lines(spec.session) == ["/usr/bin:/bin:/usr/local/bin"]


async def test_status_says_whether_commands_are_confined(bench: Bench) -> None:
    status = await bench.engine.status()

    assert (status.name, status.usable, status.problem) == ("local", True, "")
    assert status.confined == bench.confined
    assert bool(status.version)
    assert ("unconfined: bubblewrap is not installed" in status.notes) == (not bench.confined)
    assert status == await bench.another_engine().status()


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        pytest.param("echo 'No permissions to create a new namespace' >&2; exit 1", "No permissions", id="forbidden"),
        pytest.param("exit 3", "status 3", id="silent"),
    ],
)
async def test_bubblewrap_that_does_not_work_counts_as_none(
    unconfined: Bench, tmp_path: Path, script: str, problem: str
) -> None:
    fake = tmp_path / "bin" / "bwrap"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "bubblewrap 0" && exit\n{script}\n')
    fake.chmod(0o755)
    engine = LocalEngine(unconfined.home, unconfined.home_id, {"PATH": str(fake.parent)})

    status = await engine.status()

    assert not status.confined
    assert any(problem in note for note in status.notes)
    await engine.close()
