"""What an inspected container says, with everything engines leave out; and choices made for a new one."""

from __future__ import annotations

import msgspec
import pytest

from services.sandbox.engines.docker.container import Container, log_options
from services.sandbox.engines.docker.facts import EngineFacts
from services.sandbox.engines.docker.owner import FALLBACK, SandboxUser, sandbox_user

MIB = 1024 * 1024


def container(document: object) -> Container:
    return msgspec.convert(document, Container, strict=False)


def state(**fields: object) -> Container:
    return container({"Id": "a" * 64, "State": fields})


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"Id": "x"}, id="only an id"),
        pytest.param({"Id": "x", "Config": {"Labels": None, "Env": None, "Tty": False}}, id="null labels"),
        pytest.param(
            {"Id": "x", "HostConfig": {"Binds": None, "LogConfig": {"Type": "", "Config": None}}}, id="null log options"
        ),
    ],
)
def test_what_engines_leave_out_or_null_is_no_trouble(document: object) -> None:
    found = container(document)
    assert found.label("pinfold.home") == ""
    assert found.log_file_size is None
    assert found.sandbox_state().session == ""


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("created", "created"),
        ("running", "running"),
        ("paused", "running"),
        ("restarting", "running"),
        ("exited", "exited"),
        ("dead", "exited"),
        ("removing", "exited"),
    ],
)
def test_an_engines_states_are_three_of_ours(status: str, expected: str) -> None:
    found = state(Status=status, ExitCode=3)
    assert found.sandbox_state().status == expected
    assert found.sandbox_state().exit_code == (3 if expected == "exited" else None)


@pytest.mark.parametrize(
    ("fields", "main", "child"),
    [
        pytest.param({"Status": "exited", "ExitCode": 137, "OOMKilled": True}, True, False, id="the main process"),
        pytest.param({"Status": "exited", "ExitCode": 0, "OOMKilled": True}, False, True, id="a child"),
        pytest.param({"Status": "running", "ExitCode": 0, "OOMKilled": True}, False, True, id="a child, still running"),
        pytest.param({"Status": "exited", "ExitCode": 137, "OOMKilled": False}, False, False, id="killed"),
    ],
)
def test_out_of_memory_is_told_apart(fields: dict[str, object], main: bool, child: bool) -> None:
    found = state(**fields).sandbox_state()
    assert (found.out_of_memory, found.child_out_of_memory) == (main, child)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-30T08:00:01.123456789Z", 1796025601_123_456_789),
        ("2026-11-30T08:00:01.5Z", 1796025601_500_000_000),
        ("2026-11-30T08:00:01Z", 1796025601_000_000_000),
        ("2026-11-30T10:00:01+02:00", 1796025601_000_000_000),
        ("0001-01-01T00:00:00Z", None),
        ("", None),
        ("yesterday", None),
        ("2026-13-30T08:00:01Z", None),
    ],
)
def test_times_are_exact_to_the_nanosecond(text: str, expected: int | None) -> None:
    assert state(Status="running", StartedAt=text).sandbox_state().started_at == expected


@pytest.mark.parametrize(
    ("owner", "rootless", "remaps", "expected"),
    [
        pytest.param((1000, 1000), False, False, SandboxUser(1000, 1000), id="a person's workspace"),
        pytest.param((501, 20), False, False, SandboxUser(501, 20), id="with another group"),
        pytest.param((0, 0), False, False, SandboxUser(0, 0), id="root's workspace"),
        pytest.param(None, False, False, SandboxUser(*FALLBACK), id="a workspace not seen from here"),
        pytest.param((1000, 1000), True, False, SandboxUser(0, 0), id="a rootless engine's user is root inside"),
        pytest.param((1000, 1000), False, True, SandboxUser(1000, 1000, as_outside=True), id="users remapped"),
    ],
)
def test_a_sandbox_runs_as_the_owner_of_its_workspace(
    owner: tuple[int, int] | None, rootless: bool, remaps: bool, expected: SandboxUser
) -> None:
    assert sandbox_user(owner, rootless=rootless, remaps_users=remaps) == expected


@pytest.mark.parametrize("limit", [1, MIB, 64 * MIB, 65 * MIB, 200 * MIB, 1024 * MIB, 10_000 * MIB])
def test_the_engines_log_holds_the_limit_in_large_files(limit: int) -> None:
    options = log_options(limit)
    size, files = int(options["max-size"]), int(options["max-file"])
    assert size >= 64 * MIB
    assert size * (files - 1) >= limit  # the last one may have just begun
    assert size * files <= limit * 2 + 128 * MIB


def test_facts_hold_nothing_that_changes() -> None:
    assert EngineFacts.__struct_config__.frozen
