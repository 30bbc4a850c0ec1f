"""What a proxy is told of a policy, as one line of JSON on its command line; nothing of it is secret."""

from __future__ import annotations

import json
from collections.abc import Iterable

from services.policy.domains import AllowedDomain, DomainPolicy


def encode_rules(allowed: Iterable[str]) -> str:
    """Write down the entries of `allowed_domains`."""
    return json.dumps(list(allowed))


def read_rules(text: str) -> DomainPolicy:
    """Make the policy of them again.

    Raises:
        ValueError: The text is something else.
    """
    entries = json.loads(text)
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise ValueError("the rules are no list of entries")
    return DomainPolicy("allowlist", tuple(AllowedDomain(entry) for entry in entries))
