"""Lines say how severe they are in many forms, and often only seem to."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.output import Level, level_of
from services.output.levels import SEQUENCE, marks

SAYING = {
    Level.ERROR: [
        b"2026-01-01 12:00:00 ERROR foo", b"[error] foo", b"error: foo", b"Error: foo", b"foo.c:3:5: error: bad",
        b"npm ERR! code", b"npm error code E404", b"make: *** [all] Error 2", b"Traceback (most recent call last):",
        b"ValueError: bad", b"AssertionError", b"E       AssertionError: x", b"java.lang.NullPointerException: x",
        b'Exception in thread "main" java.lang.Foo: x', b"Caused by: java.io.IOException: x", b"panic: runtime",
        b"thread 'main' panicked at src", b"fatal: not a git repository", b"FAILED tests/test_a.py::x",
        b"--- FAIL: TestX", b"FAIL\tpkg", b"FAILED (failures=1)", b"Segmentation fault (core dumped)", b"Killed",
        b"bash: foo: command not found", b"cat: x: No such file or directory", b"exited with code 137",
        b"exit status 2", b"Command 'x' returned non-zero exit status 1.", b'{"level":"error","msg":"boom"}',
        b'{"level":50,"msg":"x"}', b'{"log.level":"ERROR"}', b"E1130 08:01:38.140421 1 x.go:1] bad",
        b"=== 2 failed, 3 passed in 1s ===", b"3 errors generated.", b"12 errors", b"Build failed",
        b"dial tcp: connection refused", b"[ERROR] x", b"ERROR:root:msg", b"error[E0308]: mismatched types",
        b"src/a.ts(1,2): error TS2304: Cannot find", b"Failed to connect", b"CRITICAL x", b"E/Manager( 123): x",
        b"\x1b[31mERROR\x1b[0m x",
    ],
    Level.WARNING: [
        b"<warn> x", b"npm WARN deprecated", b"warning: x", b"WARNING: x", b"time=x level=warn msg=y",
        b"/x.py:1: DeprecationWarning: y", b"2 warnings generated.", b"foo is deprecated", b"W1130 08:01:38.1 1 x] y",
    ],
    Level.INFO: [
        b'level=info msg="error x"', b"I1130 08:01:38.140421 1 x.go:1] error", b"INFO: recovered from error: x",
        b"12:00 INFO  c.e.F - error", b"\x1b[2m2026\x1b[0m \x1b[32mINFO\x1b[0m ERROR",
        b'{"a":1,"level":"info","e":"error"}',
    ],
    Level.DEBUG: [b"DEBUG x", b"[debug] x", b'{"severity": "DEBUG"}', b'{"level":10}', b"TRACE x"],
    None: [
        b"", b"info", b"0 errors", b"no errors found", b"error-free", b"no failures", b"5 passed, 0 failed",
        b"failed: 0", b"errors: 0", b"Errors: 0, Failures: 0", b"error_count=0", b"test_error_handling PASSED",
        b"src/error.rs", b"handleError()", b"without errors", b"the error was fixed", b"exit code 0",
        b"exited with code 0", b"Compiling thiserror v1", b"No warnings", b"0 warnings", b"ErrorBoundary.tsx",
        b"debug build", b"0 FAILED", b"10 passed", b"Failed: 0, Passed: 5", b"Tests run: 5, Failures: 0, Errors: 0",
        b"error: 0", b"GET /error/ERROR 200", b"x=ERROR", b"100 tests, 0 errors, 0 failures", b"fail-safe", b"infoblox",
        b"10,000 items", b"I/O scheduler", b"collecting tests", b"....F..",
    ],
}  # fmt: skip
CASES = [pytest.param(line, level, id=f"{line!r}") for level, lines in SAYING.items() for line in lines]


@pytest.mark.parametrize(("line", "level"), CASES)
def test_level_of(line: bytes, level: Level | None) -> None:
    assert level_of(line) is level


@pytest.mark.parametrize(("line", "level"), [case for case in CASES if case.values[1] is not None])
def test_every_such_line_holds_a_mark_that_a_filter_looks_for(line: bytes, level: Level) -> None:
    low = b"\n" + SEQUENCE.sub(b"", line).lower()
    for least in Level:
        if level >= least:
            assert any(mark in low for mark in marks(least))


LINES = [line for lines in SAYING.values() for line in lines]


@given(st.lists(st.sampled_from([*LINES, b" ", b":", b"1"]), max_size=5))
def test_a_line_without_a_mark_has_no_level(pieces: list[bytes]) -> None:
    line = b"".join(pieces)
    level = level_of(line)
    low = b"\n" + SEQUENCE.sub(b"", line[:2000]).lower()
    assert level is None or any(mark in low for mark in marks(level))


@pytest.mark.parametrize(
    "piece", [b"1,", b"a", b" ", b"failed ", b"error ", b"9", b"warning", b"level", b"[", b"*** [", b"\x1b["]
)
def test_no_line_takes_long(piece: bytes) -> None:
    line = piece * (100_000 // len(piece))
    start = time.thread_time()
    level_of(line)
    assert time.thread_time() - start < 1.0
