"""What a command finds when it runs, and what becomes of its output and status."""

from __future__ import annotations

import time

import pytest

from services.output import Stream
from tests.services.sandbox.engines.local.bench import PATH, Bench, eventually


@pytest.mark.parametrize(
    ("script", "status"),
    [
        pytest.param("exit 0", 0, id="success"),
        pytest.param("exit 3", 3, id="failure"),
        pytest.param("exit 255", 255, id="largest"),
        pytest.param("kill -TERM $$", 143, id="ended by TERM"),
        pytest.param("kill -KILL $$", 137, id="killed"),
        pytest.param("kill -SEGV $$", 139, id="crashed"),
        pytest.param("no-such-program", 127, id="a command in it missing"),
    ],
)
async def test_status_is_what_a_shell_reports(bench: Bench, script: str, status: int) -> None:
    state = await bench.run(bench.sh(script))

    assert (state.status, state.exit_code, state.out_of_memory) == ("exited", status, False)
    assert state.started_at is not None
    assert state.ended_at is not None
    assert 0 < state.ended_at - state.started_at < 60e9


async def test_streams_are_told_apart(bench: Bench) -> None:
    state = await bench.run(bench.sh("echo out; echo err >&2; echo more"))

    assert bench.lines(state.id, Stream.STDOUT) == ["out", "more"]
    assert bench.lines(state.id, Stream.STDERR) == ["err"]
    with bench.reader(state.id) as reader:
        assert reader.complete


async def test_command_starts_in_its_workspace_and_writes_there(bench: Bench) -> None:
    assert await bench.script("pwd; echo made > 'a file'") == [str(bench.workspace)]
    assert (bench.workspace / "a file").read_text() == "made\n"


async def test_words_of_the_command_arrive_as_they_are(bench: Bench) -> None:
    words = ["", " ", "a b", "'", '"', "$HOME", "*", "\\n", "--", "-x", "ünï", "line\nbreak"]

    printed = await bench.script(r"""for word; do printf '<%s>\n' "$word"; done""", *words)

    assert "\n".join(printed) == "\n".join(f"<{word}>" for word in words)


async def test_environment_holds_nothing_of_pinfolds_own(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINFOLDS_OWN", "1")
    spec = bench.spec("env", environment={"PATH": PATH, "ASKED": "for it"}, secrets=("TOKEN",))

    state = await bench.run(spec, {"TOKEN": "value"})

    variables = dict(line.split("=", 1) for line in bench.lines(state.id, Stream.STDOUT))
    home = "/home/agent" if bench.confined else str(bench.directory(state.id) / "scratch" / "home")
    variables.pop("PWD", None)  # the shell that starts a confined command sets it
    assert variables == {
        "PATH": PATH,
        "HOME": home,
        "LANG": "C.UTF-8",
        "ASKED": "for it",
        "TOKEN": "value",
        "PINFOLD_SANDBOX": f"{bench.home_id}/{state.id}",
    }


async def test_home_is_writable(bench: Bench) -> None:
    assert await bench.script("cd && echo kept > file && cat file") == ["kept"]


async def test_input_is_empty_and_there_is_no_terminal(bench: Bench) -> None:
    assert await bench.script("cat; [ -t 0 ] || [ -t 1 ] || echo none; (: </dev/tty) 2>/dev/null || echo no tty") == [
        "none",
        "no tty",
    ]


async def test_no_signal_is_ignored_or_blocked_and_no_file_of_ours_is_open(bench: Bench) -> None:
    printed = await bench.script("grep -E 'Sig(Blk|Ign)' /proc/self/status | cut -f2; ls /proc/self/fd")

    assert printed == ["0" * 16, "0" * 16, "0", "1", "2", "3"]  # 3 is what ls itself opened


async def test_command_leads_a_session_of_its_own(bench: Bench) -> None:
    sandbox = await bench.start(bench.sh("echo up; exec sleep 60"))
    await bench.printed(sandbox, "up")

    main = bench.record(sandbox).main
    assert main is not None
    with open(f"/proc/{main.pid}/stat", "rb") as stat:  # noqa: PTH123
        _, group, session = stat.read().rpartition(b")")[2].split()[1:4]
    with open("/proc/self/stat", "rb") as stat:  # noqa: PTH123
        own_session = stat.read().rpartition(b")")[2].split()[3]
    assert group == session != own_session


async def test_line_without_an_end_shows_while_the_command_goes_on(unconfined: Bench) -> None:
    sandbox = await unconfined.start(unconfined.sh("printf 'password: '; exec sleep 60"))

    await unconfined.printed(sandbox, "password: ")
    assert (await unconfined.engine.inspect(sandbox)).status == "running"


async def test_output_keeps_its_bytes(unconfined: Bench) -> None:
    state = await unconfined.run(unconfined.sh(r"printf 'a\0b\377\r\033[31m\n\n\nend'"))

    with unconfined.reader(state.id) as reader:
        assert b"".join(reader.raw(streams={Stream.STDOUT})) == b"a\0b\xff\r\x1b[31m\n\n\nend"


async def test_line_of_200_kilobytes_is_kept_whole(unconfined: Bench) -> None:
    state = await unconfined.run(unconfined.sh("head -c 200000 /dev/zero | tr '\\0' x"))

    with unconfined.reader(state.id) as reader:
        assert reader.end == 1
        (line,) = reader.lines(0, 1)
        assert line.length == 200_000
        assert line.data + reader.rest(0, len(line.data), 200_000) == b"x" * 200_000


async def test_burst_is_kept_to_the_last_line(bench: Bench) -> None:
    count = 200_000

    state = await bench.run(bench.sh("seq 1 $1; seq 1 $1 >&2", str(count)))

    expected = "".join(f"{number}\n" for number in range(1, count + 1)).encode()
    with bench.reader(state.id) as reader:
        assert reader.end == 2 * count
        assert b"".join(reader.raw(streams={Stream.STDOUT})) == expected
        assert b"".join(reader.raw(streams={Stream.STDERR})) == expected


async def test_command_is_not_held_up_by_a_reader_that_does_not_read(unconfined: Bench) -> None:
    """The spool takes everything at once, whoever looks at it."""
    sandbox = await unconfined.start(unconfined.sh("seq 1 300000; echo through >&2; exec sleep 60"))

    await unconfined.printed(sandbox, "through")


async def test_idle_sandbox_costs_its_supervisor_nothing(unconfined: Bench) -> None:
    sandbox = await unconfined.start(unconfined.sh("echo up; exec sleep 60"))
    await unconfined.printed(sandbox, "up")
    supervisor = unconfined.record(sandbox).supervisor

    def switches() -> int:
        with open(f"/proc/{supervisor.pid}/status", encoding="ascii") as status:  # noqa: PTH123
            return sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)

    last, since = switches(), time.monotonic()

    def is_still() -> bool:
        nonlocal last, since
        if switches() != last:
            last, since = switches(), time.monotonic()
        return time.monotonic() - since > 1

    await eventually(is_still)


async def test_two_homes_do_not_see_each_other(unconfined: Bench, tmp_path) -> None:
    other = Bench(tmp_path / "other", confined=False)
    mine = await unconfined.start(unconfined.sh("exec sleep 60"))
    theirs = await other.start(other.sh("exec sleep 60", session=mine))

    assert [state.id for state in await other.engine.list()] == [theirs]
    await other.close()

    assert (await unconfined.engine.inspect(mine)).status == "running"
    assert other.left_running() == []


async def test_supervisor_loads_only_what_it_uses(unconfined: Bench) -> None:
    sandbox = await unconfined.start(unconfined.sh("exec sleep 60"))

    with open(f"/proc/{unconfined.record(sandbox).supervisor.pid}/maps", encoding="utf-8") as maps:  # noqa: PTH123
        loaded = maps.read()
    assert "python" in loaded
    assert [library for library in ("sqlite", "msgspec", "ssl", "_asyncio") if library in loaded] == []
