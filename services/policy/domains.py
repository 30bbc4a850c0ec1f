"""May this agent reach this name, address or URL?"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from services.policy.decision import BUILT_IN, Decision, Origin, Rule, Verdict

Network = Literal["none", "allowlist", "open"]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_METADATA_NAMES = frozenset(
    {"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"}
)
_METADATA_ADDRESSES = frozenset(
    ipaddress.ip_address(text) for text in ("169.254.169.254", "169.254.170.2", "100.100.100.200", "fd00:ec2::254")
)
_LOCAL_SUFFIXES = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".intranet")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_NUMERIC = re.compile(r"(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+)){0,3}", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AllowedDomain:
    """One entry of `allowed_domains`: a name with all below it, `*.name` likewise, an address, or `*`."""

    entry: str
    origin: Origin = BUILT_IN

    def covers(self, host: str) -> bool:
        """Whether it lets a cleaned host through."""
        name = self.entry.lower().rstrip(".").removeprefix("*.")
        return self.entry == "*" or host == name or host.endswith(f".{name}")

    def names(self, host: str) -> bool:
        """Whether it is exactly this host, and no pattern or parent."""
        return self.entry.lower().rstrip(".") == host

    def as_rule(self) -> Rule:
        """The entry as a decision shows it."""
        return Rule("allowed domain", self.entry, "may be reached", self.origin)


@dataclass(frozen=True)
class DomainPolicy:
    """The rules about the network of one agent.

    Attributes:
        network: `none` reaches nothing, `allowlist` what is listed, `open` everything.
        chosen: Where `network` was set.
    """

    network: Network
    allowed: tuple[AllowedDomain, ...]
    chosen: Origin = BUILT_IN

    def decide(self, target: str) -> Decision:
        """Judge a host name, an address, `host:port`, or an http(s) URL."""
        question = f"reach {target}"
        host, problem = host_of(target)
        if problem:
            return Decision(question, Verdict.DENY, problem, _SPELLING)
        if self.network == "none":
            return Decision(question, Verdict.DENY, "the sandbox has no network", self._network("nothing is reached"))
        if is_metadata(host):
            return Decision(question, Verdict.DENY, f"{host} gives away the machine's own credentials", _METADATA)
        if self.network == "open":
            return Decision(question, Verdict.ALLOW, "the network is open", self._network("everything is reached"))
        return self._by_list(question, host)

    def _by_list(self, question: str, host: str) -> Decision:
        covering = sorted(
            (entry for entry in self.allowed if entry.covers(host)), key=lambda entry: len(entry.entry), reverse=True
        )
        others = tuple(entry.as_rule() for entry in covering[1:])
        if not covering:
            return Decision(question, Verdict.DENY, f"no entry covers {host}", self._network("only what is listed"))
        if is_private(host) and not any(entry.names(host) for entry in covering):
            considered = tuple(entry.as_rule() for entry in covering)
            return Decision(
                question,
                Verdict.DENY,
                f"{host} is a private or local address that no entry names",
                _PRIVATE,
                considered,
            )
        return Decision(question, Verdict.ALLOW, f"{covering[0].entry} covers {host}", covering[0].as_rule(), others)

    def _network(self, effect: str) -> Rule:
        return Rule("network", self.network, effect, self.chosen)


_SPELLING = Rule("host spelling", "", "a target must name one host plainly")
_METADATA = Rule("metadata endpoints", "", "never reached")
_PRIVATE = Rule("private addresses", "", "reached only when an entry names them exactly")


def host_of(target: str) -> tuple[str, str]:
    """Take the host out of a target.

    Returns:
        The host in lower case, names in their ASCII form, addresses in their canonical form; and why there is none.
    """
    if not target or any(character.isspace() or ord(character) < 32 for character in target) or "\\" in target:
        return "", "it is empty or holds white space, a control character or a backslash"
    if "://" in target:
        scheme = target.split("://", 1)[0].lower()
        if scheme not in ("http", "https"):
            return "", f"only http and https are reached, not {scheme}"
    try:
        parts = urlsplit(target if "://" in target else f"//{target}")
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        return "", f"it is no host or URL: {error}"
    if port == 0:
        return "", "port 0 is no port"
    if "@" in parts.netloc:
        return "", "it carries a user name, which can pass for a host"
    if not host and "://" not in target:
        host = target.strip("[]")
    return _canonical(host)


def _canonical(host: str) -> tuple[str, str]:
    host = host.rstrip(".").lower()
    address = _address(host)
    if address is not None:
        return str(address), ""
    if _NUMERIC.fullmatch(host):
        return "", "it is an address in a form that programs read differently"
    try:
        ascii_host = host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        return "", "it is no valid host name"
    if not ascii_host or len(ascii_host) > 253 or not all(_LABEL.fullmatch(label) for label in ascii_host.split(".")):
        return "", "it is no valid host name"
    return ascii_host, ""


def _address(host: str) -> Address | None:
    try:
        address = ipaddress.ip_address(host.split("%", 1)[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def is_metadata(host: str) -> bool:
    """Whether a cleaned host is a cloud's metadata service or any link-local address."""
    address = _address(host)
    if address is None:
        return host in _METADATA_NAMES
    return address in _METADATA_ADDRESSES or address.is_link_local


def is_private(host: str) -> bool:
    """Whether a cleaned host is on this machine or in a private network, as far as its spelling tells."""
    address = _address(host)
    if address is None:
        return host == "localhost" or "." not in host or host.endswith(_LOCAL_SUFFIXES)
    return not address.is_global or address.is_multicast
