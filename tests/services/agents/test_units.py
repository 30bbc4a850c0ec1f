"""Sizes, durations and aliases as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agents import alias_fault, parse_duration, parse_size, written_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("100b", 100),
        ("64k", 64 * 1024),
        ("512m", 512 * 1024**2),
        ("2g", 2 * 1024**3),
        ("2G", 2 * 1024**3),
        ("2GB", 2 * 1024**3),
        ("2gib", 2 * 1024**3),
        ("1.5GiB", 3 * 1024**3 // 2),
        ("1t", 1024**4),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("size", "text"),
    [(1, "1"), (1000, "1000"), (64 * 1024, "64k"), (512 * 1024**2, "512m"), (3 * 1024**3 // 2, "1536m"), (2**40, "1t")],
)
def test_a_size_is_written_in_its_largest_unit(size: int, text: str) -> None:
    assert written_size(size) == text
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "0", "0g", "0.0m", "-1g", "1x", "1 g", "g", "1.g", "1e9", "1ib", "1g\n", "١g"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="no size"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("never", None),
        ("30m", 1800),
        ("1h30m", 5400),
        ("45s", 45),
        ("1.5s", 1.5),
        ("500ms", 0.5),
        ("1d", 86400),
        ("2d3h4m5s6ms", 2 * 86400 + 3 * 3600 + 4 * 60 + 5.006),
        ("0s", 0),
    ],
)
def test_durations(text: str, seconds: float | None) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "5", "m", "30m1h", "1h1h", "-1s", "1 h", "Never", "1.5h", "1s\n", "forever", "٣s"]
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="no duration"):
        parse_duration(text)


@given(st.integers(0, 9999), st.integers(0, 999), st.integers(0, 999), st.integers(0, 999))
def test_a_duration_is_the_sum_of_its_parts(days: int, hours: int, minutes: int, seconds: int) -> None:
    total = days * 86400 + hours * 3600 + minutes * 60 + seconds
    assert parse_duration(f"{days}d{hours}h{minutes}m{seconds}s") == total


@pytest.mark.parametrize("alias", ["work", "alias123", "a", "7", "prod2024", "prod_v2", "default2", "a_b_c", "x" * 63])
def test_names_that_are_aliases(alias: str) -> None:
    assert alias_fault(alias) == ""


@pytest.mark.parametrize(
    ("alias", "fault"),
    [
        ("", "at least one"),
        ("x" * 64, "at most 63"),
        ("default", "reserved"),
        ("MyAlias", "lower-case"),
        ("A", "lower-case"),
        ("my-alias", "lower-case"),
        ("my.alias", "lower-case"),
        ("my alias", "lower-case"),
        ("../x", "lower-case"),
        ("é", "lower-case"),
        ("a\n", "lower-case"),
        ("foo__bar", "no __"),
        ("_bad", "begins and ends"),
        ("bad_", "begins and ends"),
        ("_", "begins and ends"),
    ],
)
def test_names_that_are_not(alias: str, fault: str) -> None:
    assert fault in alias_fault(alias)
