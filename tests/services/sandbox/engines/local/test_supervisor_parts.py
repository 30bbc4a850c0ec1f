"""The supervisor's parts on their own: identities of processes, and the record."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.sandbox.engines.local.supervisor import (
    Command,
    Order,
    Process,
    Record,
    RecordDamaged,
    identify,
    is_alive,
    read_record,
    send,
    write_record,
)

PROCESSES = st.builds(Process, st.integers(1, 2**22), st.integers(0, 2**63), st.text(max_size=40))
TIMES = st.none() | st.integers(0, 2**63)
RECORDS = st.builds(
    Record,
    supervisor=PROCESSES,
    status=st.sampled_from(["created", "running", "exited"]),
    confined=st.booleans(),
    root=st.none() | PROCESSES,
    main=st.none() | PROCESSES,
    exit_code=st.none() | st.integers(0, 255),
    out_of_memory=st.booleans(),
    error=st.text(max_size=500),
    started_at=TIMES,
    ended_at=TIMES,
)
WORDS = st.text(st.characters(exclude_characters="\0"), max_size=20)
COMMANDS = st.builds(
    Command,
    argv=st.lists(WORDS, min_size=1).map(tuple),
    directory=WORDS,
    environment=st.dictionaries(WORDS, WORDS),
    bubblewrap=WORDS,
    confinement=st.lists(WORDS).map(tuple),
    cores=st.lists(st.integers(0, 1023)).map(tuple),
    terminal=st.booleans(),
)


@given(record=RECORDS)
def test_record_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, record: Record) -> None:
    directory = tmp_path_factory.getbasetemp()

    write_record(directory, record)

    assert read_record(directory) == record


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '{"status": "flying"}', '{"status": "exited", "supervisor": 4}', "\xff"]
)
def test_damaged_record_is_called_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "local.json").write_text(text, encoding="latin-1")

    with pytest.raises(RecordDamaged):
        read_record(tmp_path)


def test_missing_record_is_none(tmp_path: Path) -> None:
    assert read_record(tmp_path) is None


@given(command=COMMANDS, number=st.none() | st.integers(0, 2**63))
def test_orders_arrive_as_they_were_given(command: Command, number: int | None) -> None:
    order = Order(command, memory=number, pids=number, output_limit=7, stop_timeout=0.5)

    assert order.encoded().count(b"\n") == 1
    assert Order.decoded(order.encoded()) == order
    assert Command.decoded(command.encoded()) == command


def test_secrets_are_not_in_the_text_of_an_order() -> None:
    command = Command(("sh",), "/", {"TOKEN": "s3cr3t"})

    assert "s3cr3t" not in repr(Order(command, None, None, 1, 1.0))


def test_process_is_told_from_a_later_one_with_its_number() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        found = identify(child.pid)
        assert found is not None
        assert is_alive(found)
        earlier, other_boot = replace(found, started=found.started - 1), replace(found, boot="other")
        assert not is_alive(earlier)
        assert not is_alive(other_boot)
        assert not send(earlier, signal.SIGKILL)
        assert not send(other_boot, signal.SIGKILL)
        assert child.poll() is None
        assert send(found, signal.SIGKILL)
        child.wait()
        assert not is_alive(found)
        assert not send(found, signal.SIGKILL)


def test_process_that_waits_to_be_reaped_has_ended() -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    found = identify(child.pid)
    assert found is not None

    assert not is_alive(found)

    child.wait()
    assert identify(child.pid) is None


@pytest.mark.parametrize("name", ["a) R 1 1", "((", ")", "x y z"])
def test_process_is_identified_whatever_its_name(tmp_path: Path, name: str) -> None:
    program = tmp_path / name
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "60"]) as child:
        found = identify(child.pid)
        assert found is not None
        assert is_alive(found)
        child.kill()


@pytest.mark.parametrize("pid", [0, -1, 2**22 + 1])
def test_numbers_of_no_process_get_no_signal(pid: int) -> None:
    assert not send(Process(pid, 0, ""), signal.SIGTERM)
