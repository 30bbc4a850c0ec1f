"""Small things: frames, last bytes, layers, reasons."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.output import Cursor, Position, Stream
from services.sandbox.engines.docker.commands import Frames, LastBytes
from services.sandbox.engines.docker.failures import Refused, one_line, plain
from services.sandbox.engines.docker.follow import earliest
from services.sandbox.engines.docker.instants import nanoseconds, since
from services.sandbox.engines.docker.pull import Detail, Layers, PullMessage

SECOND = 1_000_000_000
"""Nanoseconds."""


@given(st.lists(st.binary(max_size=100), max_size=20), st.data())
def test_frames_come_off_whatever_the_cuts(payloads: list[bytes], data: st.DataObject) -> None:
    said = b"".join(b"\1\0\0\0" + len(payload).to_bytes(4) + payload for payload in payloads)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(said)), max_size=12)))
    frames = Frames()
    found = [frames.feed(said[start:end]) for start, end in zip([0, *cuts], [*cuts, len(said)], strict=True)]
    assert b"".join(found) == b"".join(payloads)


@given(st.lists(st.binary(max_size=50), max_size=30))
def test_the_last_bytes_are_the_last_bytes(parts: list[bytes]) -> None:
    kept = LastBytes(64)
    for part in parts:
        kept.add(part)
    assert kept.value == b"".join(parts)[-64:]


def test_layers_grow_and_are_counted_once() -> None:
    layers = Layers("some/image")
    messages = [
        ("Pulling from some/image", "latest", None, False),
        ("Pulling fs layer", "a", None, True),
        ("Pulling fs layer", "b", None, True),
        ("Already exists", "b", None, True),
        ("Downloading", "a", Detail(50, 100), True),
        ("Downloading", "a", Detail(50, 100), False),
        ("Downloading", "a", Detail(-5, 0), True),
        ("Download complete", "a", None, True),
        ("Extracting", "a", Detail(10, 100), False),
        ("Pull complete", "a", None, True),
        ("Digest: sha256:x", "", None, False),
    ]
    for status, layer, detail, changes in messages:
        assert layers.take(PullMessage(status, layer, detail)) is changes, status
    progress = layers.progress()
    assert (progress.layers, progress.done, progress.received, progress.size) == (2, 2, 100, 100)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (
            "failed to create shim task: OCI runtime create failed: runc create failed: unable to start container"
            ' process: exec: "nope": executable file not found in $PATH: unknown',
            'exec: "nope": executable file not found in $PATH',
        ),
        ("No such container: x", "No such container: x"),
        ("", ""),
    ],
)
def test_reasons_lose_what_the_layers_of_the_engine_put_around_them(reason: str, expected: str) -> None:
    assert plain(reason) == expected


def test_foreign_words_become_one_line_of_bounded_length() -> None:
    assert one_line(" a\n\n  b\tc ") == "a b c"
    assert len(one_line("x" * 100_000)) < 600
    assert Refused("cannot do it", 500, "").why == "status 500"


def test_secrets_the_engine_quotes_are_blotted_out() -> None:
    refused = Refused("cannot do it", 400, "invalid: A=hunter2 and hunter2").without(["hunter2", ""])
    assert refused.why == "invalid: A=*** and ***"
    assert refused.status == 400


@given(st.integers(SECOND, 4_000_000_000 * SECOND))
def test_an_instant_survives_the_way_there_and_back(at: int) -> None:
    seconds, fraction = since(at).split(".")
    assert int(seconds) * SECOND + int(fraction) == at
    assert len(fraction) == 9


def test_an_instant_before_all_time_is_the_beginning() -> None:
    assert since(-5) == "0.000000000"
    assert nanoseconds("1960-01-01T00:00:00Z") is None


@pytest.mark.parametrize(
    ("stdout", "stderr", "open_lines", "expected"),
    [
        pytest.param(100, 90, {Stream.STDOUT: False, Stream.STDERR: False}, 95, id="a look back for the other stream"),
        pytest.param(100, 0, {}, 95, id="one stream only, nothing known"),
        pytest.param(100, 50, {}, 50, id="nothing known of an old stream"),
        pytest.param(5000, 50, {}, 4400, id="but no further than ten minutes"),
        pytest.param(100, 50, {Stream.STDERR: True}, 50, id="an open line from its own beginning"),
        pytest.param(5000, 50, {Stream.STDERR: True}, 50, id="however long ago"),
        pytest.param(5000, 50, {Stream.STDOUT: False, Stream.STDERR: False}, 4995, id="ended lines need no look back"),
    ],
)
def test_a_log_is_read_again_from_where_nothing_new_can_lie_before(
    stdout: int, stderr: int, open_lines: dict[Stream, bool], expected: int
) -> None:
    cursor = Cursor(Position(stdout * SECOND, 1), Position(stderr * SECOND, 1) if stderr else Position())
    assert earliest(cursor, open_lines, 5 * SECOND) == expected * SECOND
