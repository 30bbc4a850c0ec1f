"""Which hosts an agent may reach."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.policy.decision import Verdict
from services.policy.domains import AllowedDomain, DomainPolicy, host_of, is_private


def policy(*entries: str, network: Any = "allowlist") -> DomainPolicy:
    return DomainPolicy(network, tuple(AllowedDomain(entry) for entry in entries))


LISTED = ("docs.example.org", "*.example.com", "127.0.0.1", "10.0.0.5")

TARGETS = [
    ("its own name", "docs.example.org", True), ("a name below", "a.docs.example.org", True),
    ("a parent", "example.org", False), ("the star's own name", "example.com", True),
    ("below the star", "x.y.example.com", True),
    ("a longer name", "evil-example.com", False), ("a name that continues", "example.com.evil.org", False),
    ("capitals and a dot", "EXAMPLE.com.", True), ("a port", "example.com:443", True),
    ("a URL", "https://x.example.com:8443/p?q#f", True), ("another scheme", "ftp://example.com", False),
    ("a file URL", "file:///etc/passwd", False), ("a user name", "http://example.com@evil.org/", False),
    ("a user name without scheme", "user@example.com", False), ("a backslash", "http://example.com\\@evil.org", False),
    ("white space", "exam ple.com", False), ("a line end", "example.com\n.evil.org", False), ("nothing", "", False),
    ("empty labels", "a..example.com", False), ("a name in another script", "münchen.example.com", True),
    ("a look-alike in another script", "exаmple.com", False), ("a listed address", "127.0.0.1", True),
    ("a listed address with port", "http://127.0.0.1:80/", True), ("an unlisted loopback", "127.0.0.2", False),
    ("a listed private address", "10.0.0.5", True), ("an unlisted private address", "10.0.0.6", False),
    ("decimal", "2130706433", False), ("hexadecimal", "0x7f000001", False), ("octal", "0177.0.0.1", False),
    ("short", "127.1", False), ("mapped into six", "[::ffff:127.0.0.1]", True), ("six", "[::1]", False),
    ("localhost", "localhost", False), ("link-local", "169.254.169.254", False),
    ("a bad port", "example.com:99999", False),
]  # fmt: skip


@pytest.mark.parametrize(("target", "allowed"), [row[1:] for row in TARGETS], ids=[row[0] for row in TARGETS])
def test_targets(target: str, allowed: bool) -> None:
    assert (policy(*LISTED).decide(target).verdict is Verdict.ALLOW) is allowed


def test_an_empty_list_refuses_every_host() -> None:
    assert policy().decide("example.org").verdict is Verdict.DENY


def test_a_star_reaches_public_hosts_and_no_private_ones() -> None:
    everything = policy("*")
    assert everything.decide("example.org").verdict is Verdict.ALLOW
    for host in ("localhost", "printer", "nas.local", "10.1.2.3", "172.16.0.1", "192.168.1.1", "[fd00::1]", "0.0.0.0"):
        assert everything.decide(host).verdict is Verdict.DENY


@pytest.mark.parametrize("network", ["allowlist", "open"])
@pytest.mark.parametrize(
    "host", ["169.254.169.254", "metadata.google.internal", "[fd00:ec2::254]", "100.100.100.200", "169.254.170.2"]
)
def test_metadata_is_never_reached(network: str, host: str) -> None:
    assert policy("*", host.strip("[]"), network=network).decide(host).verdict is Verdict.DENY


def test_without_a_network_nothing_is_reached_and_an_open_one_reaches_all() -> None:
    assert policy("*", network="none").decide("example.org").verdict is Verdict.DENY
    assert policy(network="open").decide("example.org").verdict is Verdict.ALLOW


def test_the_longest_entry_decides_and_the_others_are_named() -> None:
    decision = policy("*", "example.com", "*.docs.example.com").decide("a.docs.example.com")
    assert decision.rule.subject == "*.docs.example.com"
    assert [rule.subject for rule in decision.considered] == ["example.com", "*"]


@given(st.text(max_size=60))
def test_any_text_gets_an_answer_and_a_host_is_plain(text: str) -> None:
    host, problem = host_of(text)
    assert bool(host) != bool(problem)
    assert host.isascii()


@given(st.ip_addresses())
def test_every_special_address_is_private(address) -> None:
    if not address.is_global:
        assert is_private(host_of(f"[{address}]" if address.version == 6 else str(address))[0])
