"""The forms of single values in the TOML files: names, texts, sizes, times."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from services.agents.units import DURATION, END, IDLE_TIMEOUT, SIZE

NAME = rf"^[a-z0-9](_?[a-z0-9])*{END}"
Name = Annotated[str, Meta(pattern=NAME, max_length=63, title="a name of lower-case letters, digits and single _")]
Text = Annotated[str, Meta(pattern=r"^[^\x00]*$", title="text without NUL characters")]
Argument = Text
ScopeId = Annotated[str, Meta(pattern=r"^[^\x00]*$", min_length=1, max_length=256, title="the id of a user or a team")]
Variable = Annotated[str, Meta(pattern=rf"^[A-Za-z_][A-Za-z0-9_]*{END}", title="the name of an environment variable")]
OptionalVariable = Annotated[
    str, Meta(pattern=rf"^([A-Za-z_][A-Za-z0-9_]*)?{END}", title="the name of an environment variable")
]
Machine = Annotated[
    str, Meta(pattern=rf"^[A-Za-z0-9][A-Za-z0-9._-]*{END}", max_length=63, title="a name like a host's")
]
Size = Annotated[str, Meta(pattern=SIZE, title="a size", examples=["512m", "2g", "1.5GiB"])]
Duration = Annotated[str, Meta(pattern=DURATION, title="a duration", examples=["2s", "1m30s"])]
IdleTimeout = Annotated[str, Meta(pattern=IDLE_TIMEOUT, title="a duration", examples=["30m", "1h30m", "never"])]
Command = Annotated[tuple[Argument, ...], Meta(min_length=1)]


class Struct(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What all parts of a config share: immutable, and unknown keys are errors."""
