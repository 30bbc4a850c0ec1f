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
    ("a URL", "https://x.example.com/p?q#f", True), ("another scheme", "ftp://example.com", False),
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


PORTS = [
    ("the usual ports", "example.com", {80, 443}, {22, 8080, 8443, 65535}),
    ("below the star", "*.example.com", {80, 443}, {8080}),
    ("one port", "example.com:8443", {8443}, {80, 443}),
    ("every port", "example.com:*", {1, 22, 80, 65535}, set()),
    ("one port of all hosts", "*:8443", {8443}, {80, 443}),
    ("no port in range", "example.com:99999", set(), {80, 443, 99}),
    ("more than a port", "example.com:443x", set(), {80, 443}),
]


@pytest.mark.parametrize(("entry", "open_", "shut"), [row[1:] for row in PORTS], ids=[row[0] for row in PORTS])
def test_an_entry_opens_its_ports_alone(entry: str, open_: set[int], shut: set[int]) -> None:
    judged = {port: policy(entry).decide(f"example.com:{port}").verdict is Verdict.ALLOW for port in open_ | shut}
    assert judged == {port: port in open_ for port in open_ | shut}


def test_a_url_has_the_port_of_its_scheme_and_an_open_network_has_all() -> None:
    assert policy("example.com:443").decide("https://example.com/").verdict is Verdict.ALLOW
    assert policy("example.com:443").decide("http://example.com/").verdict is Verdict.DENY
    assert policy(network="open").decide("example.com:22").verdict is Verdict.ALLOW
    assert policy("[2606:4700::1]:8443").decide("[2606:4700::1]:8443").verdict is Verdict.ALLOW


def test_a_refused_port_names_what_would_open_it() -> None:
    decision = policy("example.com").decide("example.com:22")
    assert decision.reason == "no entry opens port 22 of example.com"
    assert [rule.subject for rule in decision.considered] == ["example.com"]


RESOLVED = [
    ("a public address", "docs.example.org", "93.184.216.34", True),
    ("a public address of the sixth kind", "docs.example.org", "2606:2800::1", True),
    ("a private address", "docs.example.org", "10.0.0.7", False),
    ("a listed private address behind a name", "docs.example.org", "10.0.0.5", False),
    ("this machine", "docs.example.org", "127.0.0.1", False),
    ("no address", "docs.example.org", "0.0.0.0", False),
    ("shared by a provider", "docs.example.org", "100.64.0.1", False),
    ("the metadata service", "docs.example.org", "169.254.169.254", False),
    ("link-local", "docs.example.org", "fe80::1", False),
    ("unique local", "docs.example.org", "fd12::1", False),
    ("mapped", "docs.example.org", "::ffff:10.0.0.7", False),
    ("compatible", "docs.example.org", "::10.0.0.7", False),
    ("through NAT64", "docs.example.org", "64:ff9b::a9fe:a9fe", False),
    ("through 6to4", "docs.example.org", "2002:0a00:0007::1", False),
    ("no address at all", "docs.example.org", "elsewhere", False),
    ("a local name's private address", "git.lan", "10.0.0.7", True),
    ("a local name's public address", "git.lan", "93.184.216.34", True),
    ("a local name on this machine", "git.lan", "127.0.0.1", False),
    ("a local name at the metadata service", "git.lan", "169.254.169.254", False),
    ("the address that was asked for", "10.0.0.5", "10.0.0.5", True),
    ("another than was asked for", "10.0.0.5", "10.0.0.6", False),
    ("a name that is not listed", "evil.org", "93.184.216.34", False),
]


@pytest.mark.parametrize(("name", "address", "allowed"), [r[1:] for r in RESOLVED], ids=[r[0] for r in RESOLVED])
def test_what_a_name_leads_to_is_judged_again(name: str, address: str, allowed: bool) -> None:
    judged = policy(*LISTED, "git.lan").decide_address(name, address)
    assert (judged.verdict is Verdict.ALLOW) is allowed


ADMITTED = [
    ("example.com", "a.example.com", True), ("a.example.com", "example.com", False), ("*", "example.com", True),
    ("example.com", "*", False), ("*", "*", True), ("example.com", "example.com:443", True),
    ("example.com:443", "example.com", False), ("example.com", "example.com:22", False),
    ("example.com:*", "example.com:22", True), ("*", "example.com:22", False), ("*:22", "example.com:22", True),
    ("example.com:*", "example.com", True), ("example.com", "example.com:*", False),
]  # fmt: skip


@pytest.mark.parametrize(("held", "entry", "admitted"), ADMITTED)
def test_an_entry_admits_what_it_lets_through(held: str, entry: str, admitted: bool) -> None:
    assert AllowedDomain(held).admits(AllowedDomain(entry)) is admitted


@given(st.text(max_size=60))
def test_any_text_gets_an_answer_and_a_host_is_plain(text: str) -> None:
    host, problem = host_of(text)
    assert bool(host) != bool(problem)
    assert host.isascii()


@given(st.ip_addresses())
def test_every_special_address_is_private(address) -> None:
    if not address.is_global:
        assert is_private(host_of(f"[{address}]" if address.version == 6 else str(address))[0])
