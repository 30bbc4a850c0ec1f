"""May this agent reach this name, address or URL?"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Literal, NamedTuple
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
_USUAL_PORTS = frozenset({80, 443})
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_COMPATIBLE = ipaddress.ip_network("::/96")
_LOCAL_SUFFIXES = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".intranet")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_NUMERIC = re.compile(r"(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+)){0,3}", re.ASCII | re.IGNORECASE)


class _Place(NamedTuple):
    """A host and a port; `problem` says why there is no host, and port is None where none was named."""

    host: str
    port: int | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class AllowedDomain:
    """One entry of `allowed_domains`: a name with all below it, `*.name` likewise, an address, or `*`.

    It opens ports 80 and 443; one that ends in `:8443` opens that port alone, one that ends in `:*` every port.
    """

    entry: str
    origin: Origin = BUILT_IN

    @property
    def host(self) -> str:
        """The entry without its port, in lower case."""
        return _split_port(self.entry)[0].lower().rstrip(".")

    def covers(self, host: str) -> bool:
        """Whether it lets a cleaned host through, on the ports it opens."""
        written = self.host
        name = written.removeprefix("*.")
        return written == "*" or host == name or host.endswith(f".{name}")

    def opens(self, port: int | None) -> bool:
        """Whether it lets a port through; None asks for the host alone."""
        written = _split_port(self.entry)[1]
        if port is None or written == "*":
            return True
        return port in _USUAL_PORTS if not written else port == int(written)

    @property
    def opens_some_port(self) -> bool:
        """Whether the port it ends in, if any, is one."""
        port = _split_port(self.entry)[1]
        return port in ("", "*") or 0 < int(port) < 65536

    def admits(self, other: AllowedDomain) -> bool:
        """Whether all that another entry lets through goes through this one as well."""
        mine, theirs = _split_port(self.entry)[1], _split_port(other.entry)[1]
        ports = mine in ("*", theirs) or (not mine and theirs in ("80", "443"))
        return ports and (self.host == "*" or (other.host != "*" and self.covers(other.host.removeprefix("*."))))

    def names(self, host: str) -> bool:
        """Whether it is exactly this host, and no pattern or parent."""
        return self.host == host

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
        host, port, problem = _place(target)
        if problem:
            return Decision(question, Verdict.DENY, problem, _SPELLING)
        if self.network == "none":
            return Decision(question, Verdict.DENY, "the sandbox has no network", self._network("nothing is reached"))
        if is_metadata(host):
            return Decision(question, Verdict.DENY, f"{host} gives away the machine's own credentials", _METADATA)
        if self.network == "open":
            return Decision(question, Verdict.ALLOW, "the network is open", self._network("everything is reached"))
        return self._by_list(question, host, port)

    def decide_address(self, target: str, address: str) -> Decision:
        """Judge what a target's name was resolved to; whoever connects must connect to this address.

        A public name must have a public address. A local name (`git.lan`) may have a private one when an entry names
        it exactly, and no name may lead to this machine itself or to a metadata service.
        """
        decision = self.decide(target)
        if decision.verdict is not Verdict.ALLOW:
            return decision
        host, found = host_of(target)[0], _canonical(address)[0]
        question = f"reach {target} at {address}"
        if not found or is_metadata(found):
            why = f"{host} leads to {address}, which gives away the machine's own credentials"
            return Decision(question, Verdict.DENY, why, _METADATA)
        if self.network == "open" or found == host or not is_private(found):
            return Decision(question, Verdict.ALLOW, decision.reason, decision.rule, decision.considered)
        local_name = is_private(host) and _address(host) is None  # `decide` let it through: an entry names it exactly
        if local_name and not _is_here(found):
            return Decision(question, Verdict.ALLOW, decision.reason, decision.rule, decision.considered)
        return Decision(question, Verdict.DENY, f"{host} leads to {address}, a private address", _PRIVATE)

    def _by_list(self, question: str, host: str, port: int | None) -> Decision:
        naming = sorted(
            (entry for entry in self.allowed if entry.covers(host)), key=lambda entry: len(entry.entry), reverse=True
        )
        covering = [entry for entry in naming if entry.opens(port)]
        if naming and not covering:
            considered = tuple(entry.as_rule() for entry in naming)
            return Decision(question, Verdict.DENY, f"no entry opens port {port} of {host}", _PORTS, considered)
        others = tuple(entry.as_rule() for entry in covering[1:])
        if not covering:
            return Decision(question, Verdict.DENY, f"no entry names {host}", self._network("only what is listed"))
        if is_private(host) and not any(entry.names(host) for entry in covering):
            considered = tuple(entry.as_rule() for entry in covering)
            return Decision(
                question,
                Verdict.DENY,
                f"{host} is a private or local address that no entry names",
                _PRIVATE,
                considered,
            )
        nearest = covering[0]
        reason = "allowed_domains names it" if nearest.names(host) else f"{nearest.entry} in allowed_domains covers it"
        return Decision(question, Verdict.ALLOW, reason, nearest.as_rule(), others)

    def _network(self, effect: str) -> Rule:
        return Rule("network", self.network, effect, self.chosen)


_SPELLING = Rule("host spelling", "", "a target must name one host plainly")
_METADATA = Rule("metadata endpoints", "", "never reached")
_PRIVATE = Rule("private addresses", "", "reached only when an entry names them exactly")
_PORTS = Rule("ports", "", "80 and 443, unless an entry ends in another")


def host_of(target: str) -> tuple[str, str]:
    """Take the host out of a target.

    Returns:
        The host in lower case, names in their ASCII form, addresses in their canonical form; and why there is none.
    """
    host, _, problem = _place(target)
    return host, problem


def port_of(target: str) -> int | None:
    """Take the port out of a target, a URL's usual one included; None where it has none or is no target."""
    return _place(target).port


def _place(target: str) -> _Place:
    if not target or any(character.isspace() or ord(character) < 32 for character in target) or "\\" in target:
        return _Place("", None, "it is empty or holds white space, a control character or a backslash")
    scheme = target.split("://", 1)[0].lower() if "://" in target else ""
    if scheme not in ("", "http", "https"):
        return _Place("", None, f"only http and https are reached, not {scheme}")
    try:
        parts = urlsplit(target if scheme else f"//{target}")
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        return _Place("", None, f"it is no host or URL: {error}")
    if port == 0:
        return _Place("", None, "port 0 is no port")
    if "@" in parts.netloc:
        return _Place("", None, "it carries a user name, which can pass for a host")
    if not host and not scheme:
        host = target.strip("[]")
    cleaned, problem = _canonical(host)
    return _Place(cleaned, port or {"http": 80, "https": 443}.get(scheme), problem)


def _split_port(entry: str) -> tuple[str, str]:
    """Take the port off an entry, "" when it has none; a bare IPv6 address has none."""
    if entry.startswith("["):
        host, _, rest = entry[1:].partition("]")
        return host, _port_in(rest.removeprefix(":"))
    host, colon, port = entry.rpartition(":")
    if colon and ":" not in host and _port_in(port):
        return host, port
    return entry, ""


def _port_in(text: str) -> str:
    return text if text == "*" or (text.isascii() and text.isdecimal() and len(text) <= 5) else ""


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
    return any(each in _METADATA_ADDRESSES or each.is_link_local for each in _with_embedded(address))


def is_private(host: str) -> bool:
    """Whether a cleaned host is on this machine or in a private network, as far as its spelling tells."""
    address = _address(host)
    if address is None:
        return host == "localhost" or "." not in host or host.endswith(_LOCAL_SUFFIXES)
    return any(not each.is_global or each.is_multicast for each in _with_embedded(address))


def _is_here(address: str) -> bool:
    """Whether an address is no machine's of a private network, but the connecting machine's own or nobody's."""
    found = _with_embedded(ipaddress.ip_address(address))
    return any(each.is_loopback or each.is_unspecified or each.is_multicast or each.is_reserved for each in found)


def _with_embedded(address: Address) -> tuple[Address, ...]:
    """The address and the IPv4 one that a gateway would make of it."""
    if isinstance(address, ipaddress.IPv4Address):
        return (address,)
    inner = address.sixtofour or (address.teredo[1] if address.teredo else None)
    if inner is None and (address in _NAT64 or (address in _COMPATIBLE and int(address) > 1)):
        inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return (address,) if inner is None else (address, inner)
