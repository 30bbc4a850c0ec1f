"""`[memory]` of `pinfold.toml`: how long memories are kept, what is not stored, and which servers keep them."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from services.agents.forms import Name, OptionalVariable, Struct, Text
from services.agents.units import END

OnThreat = Literal["off", "flag", "reject"]
OnSecret = Literal["off", "flag", "reject", "redact"]

Days = Annotated[float, Meta(ge=0, lt=1_000_000)]
Category = Annotated[
    str, Meta(pattern=rf"^[\w.-]*[^\W_][\w.-]*{END}", max_length=64, title="a word of letters, digits, _, - and .")
]
Address = Annotated[str, Meta(pattern=rf"^(https?://[^\s@]+)?{END}", title="an http address without a password")]


class Retention(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """How long agents' memories are kept; pinned ones are kept for ever.

    Attributes:
        automatic: Tidy every agent's memory twice a day while a Pinfold is open.
        days: Days by category; 0, or a category that is not here, is for ever.
    """

    automatic: bool = False
    days: dict[Category, Days] = msgspec.field(default_factory=lambda: {"conversation": 30.0})


class MemoryScreening(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What is done about threats and secrets in what agents store.

    Attributes:
        threats: `flag` stores the text and keeps it from agents, `reject` refuses it, `off` looks for none.
        secrets: `flag` marks the text, `redact` takes the secret out of it, `reject` refuses it, `off` looks for none.
        strict: Also look for threats that are often harmless.
        personal: Also count e-mail addresses and telephone numbers as secrets.
    """

    threats: OnThreat = "flag"
    secrets: OnSecret = "flag"
    strict: bool = False
    personal: bool = False


class PostgresStore(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The PostgreSQL server of agents whose memory is in `postgres`.

    Attributes:
        url_env: The environment variable that holds its address, such as `postgresql://user:password@host/database`.
    """

    url_env: OptionalVariable = ""


class QdrantStore(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The Qdrant server of agents whose memory is in `qdrant`.

    Attributes:
        url: Where it answers.
        api_key_env: The environment variable that holds its key; empty is no key.
        collection: The collection that holds the memories; made when missing.
    """

    url: Address = "http://127.0.0.1:6333"
    api_key_env: OptionalVariable = ""
    collection: Name = "pinfold"


class LucidStore(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The program of agents whose memory is in `lucid`.

    Attributes:
        program: Its name or path.
        budget: The tokens one recall asks it for.
    """

    program: Text = "lucid"
    budget: Annotated[int, Meta(ge=1, le=100_000)] = 200


class SharedMemory(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """How long memories are kept, what is not stored, and which servers keep them.

    Attributes:
        retention: How long they are kept.
        screening: What is done about threats and secrets.
        postgres: The PostgreSQL server.
        qdrant: The Qdrant server.
        lucid: The lucid program.
    """

    retention: Retention = msgspec.field(default_factory=Retention)
    screening: MemoryScreening = msgspec.field(default_factory=MemoryScreening)
    postgres: PostgresStore = msgspec.field(default_factory=PostgresStore)
    qdrant: QdrantStore = msgspec.field(default_factory=QdrantStore)
    lucid: LucidStore = msgspec.field(default_factory=LucidStore)
