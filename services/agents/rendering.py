"""Values and keys as TOML text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from services.agents.values import Value
from services.errors import ConfigError

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_NOT_LITERAL = re.compile(r"['\x00-\x08\x0a-\x1f\x7f]")


def rendered(value: Value, *, literal: bool = False) -> str:
    """Write a value on one line.

    Args:
        value: What to write.
        literal: Put text between single quotes where it can stand there.

    Raises:
        ConfigError: It holds characters that cannot be stored, or something that is no value.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value) if math.isfinite(value) else str(value)
        case str():
            return _text(value, literal)
        case Mapping():
            inner = ", ".join(f"{rendered_key(key)} = {rendered(item)}" for key, item in value.items())
            return f"{{ {inner} }}" if inner else "{}"
        case Sequence():
            return f"[{', '.join(rendered(item) for item in value)}]"
    raise ConfigError("this is not a value TOML can hold")


def rendered_key(key: str) -> str:
    """Write one key, quoted where it has to be."""
    return key if _BARE.fullmatch(key) else _text(key, literal=False)


def rendered_keys(keys: Sequence[str]) -> str:
    """Write a dotted key."""
    return ".".join(rendered_key(key) for key in keys)


def _text(text: str, literal: bool) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ConfigError("a value is not text", fix="Write it in UTF-8.") from error
    if literal and not _NOT_LITERAL.search(text):
        return f"'{text}'"
    return '"' + _ESCAPED.sub(lambda found: _ESCAPES.get(found[0], f"\\u{ord(found[0]):04x}"), text) + '"'
