"""`[memory.vectors]` of `agent.toml`: which embedder turns memories into vectors, and how these count in a recall."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

from msgspec import Meta

from services.agents.aliases import nearest
from services.agents.forms import Name, Struct
from services.agents.problems import Fault, KeyPath, quoted

if TYPE_CHECKING:
    from services.agents.model import Connector

NO_EMBEDDER = "none"
EMBEDDER_KIND = "openai"
"""The protocol of connectors that can be embedders."""

MOST_DIMENSIONS = 8192

Search = Literal["hybrid", "keywords", "vectors"]
Share = Annotated[float, Meta(ge=0, le=1)]

_SECTION: KeyPath = ("memory", "vectors")
_EMBEDDER: KeyPath = (*_SECTION, "embedder")


class VectorSection(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Recall by likeness beside words; only with the back-end `sqlite`, and with `pinfold[vectors]` installed.

    Attributes:
        embedder: The connector of `pinfold.toml` that turns texts into vectors; `none` recalls by words alone.
        search: Whether rows are found by words and by vectors, or by one of them.
        dimensions: How many numbers a vector has, asked of the embedder and checked; 0 is as many as it gives.
        vector_weight: How much likeness counts for a row that is found both ways.
        keyword_weight: How much words count for it.
        min_relevance: How alike a row must be that has none of the words.
    """

    embedder: Name = NO_EMBEDDER
    search: Search = "hybrid"
    dimensions: Annotated[int, Meta(ge=0, le=MOST_DIMENSIONS)] = 0
    vector_weight: Share = 0.7
    keyword_weight: Share = 0.3
    min_relevance: Share = 0.4


def fault_of_connector(name: str, connector: Connector) -> str:
    """Say why a connector cannot be an embedder; "" when it can."""
    if connector.kind != EMBEDDER_KIND:
        return f"the connector {quoted(name)} is not of the kind {EMBEDDER_KIND}, as embedders are"
    if not connector.model:
        return f"the connector {quoted(name)} names no model"
    return _fault_of_address(name, connector.base_url)


def _fault_of_address(name: str, address: str) -> str:
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        return f"the connector {quoted(name)} has no http address as its base_url"
    if parts.username is not None or parts.query or parts.fragment:
        return f"the base_url of the connector {quoted(name)} holds more than an address"
    return ""


def faults_of_vectors(
    section: VectorSection, backend: str, connectors: Mapping[str, Connector] | None
) -> Iterator[Fault]:
    """List what keeps an agent's memories from being recalled by likeness.

    Args:
        section: What its file says.
        backend: Where its memory is.
        connectors: Of `pinfold.toml`; None when that is not usable.
    """
    if section.vector_weight + section.keyword_weight == 0:
        yield Fault((*_SECTION, "vector_weight"), "vector_weight and keyword_weight must not both be 0")
    if section.embedder == NO_EMBEDDER:
        return
    if backend != "sqlite":
        yield Fault(_EMBEDDER, f"has no effect with the back-end {backend}", severity="warning")
        return
    if connectors is None:
        return
    connector = connectors.get(section.embedder)
    if connector is None:
        near = nearest(section.embedder, connectors)
        fix = f"Did you mean {quoted(near)}?" if near else ""
        message = f"there is no connector {quoted(section.embedder)} in pinfold.toml"
        yield Fault(_EMBEDDER, message, fix, "warning")
    elif fault := fault_of_connector(section.embedder, connector):
        yield Fault(_EMBEDDER, fault, severity="warning")
