"""What a session's token allows, and how it is written."""

from __future__ import annotations

import hashlib
import secrets

import msgspec

from services.agents import AgentConfig

_SECRET_BYTES = 32


class Grant(msgspec.Struct, frozen=True):
    """The least a session's tools need: its own agent's memory, its own chat and context.

    Attributes:
        session: The session's id, which is also the id of its chat and its context.
        agent: The alias whose memory and core blocks it changes.
        memories: Aliases of the siblings whose memory it may read.
        drop_boxes: Aliases of the siblings whose workspaces it may write and not read.
        scopes: Kinds of scopes it may use, each under the session's id.
        shared: Scopes of users and teams it may use beside these, as `user:42`.
    """

    session: str
    agent: str
    memories: tuple[str, ...] = ()
    drop_boxes: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ("chat", "context")
    shared: tuple[str, ...] = ()


def grant_for(session: str, agent: str, config: AgentConfig) -> Grant:
    """Take from an agent's file what a new session of it is granted."""
    boxes = tuple(alias for alias, access in config.workspace.access.items() if access == "write_only")
    shared = tuple(f"{kind}:{id_}" for kind, id_ in config.memory.scopes.items())
    return Grant(session, agent, tuple(config.memory.read_memory_from), boxes, shared=shared)


class Token:
    """A session's token; only `reveal` shows it.

    Args:
        text: The session's id, a dot, and 256 random bits in base64.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    @classmethod
    def new(cls, session: str) -> Token:
        """Make a token that nobody can guess."""
        return cls(f"{session}.{secrets.token_urlsafe(_SECRET_BYTES)}")

    @property
    def session(self) -> str:
        """The session it says it is of; "" when it says none."""
        return self._text.rpartition(".")[0]

    @property
    def digest(self) -> bytes:
        """What is kept of it."""
        return hashlib.sha256(self._text.encode("utf-8", "surrogatepass")).digest()

    def reveal(self) -> str:
        """The text, for the one file it is written to."""
        return self._text

    def __repr__(self) -> str:
        return f"Token of session {self.session!r}"
