"""What an archive says of itself: `manifest.toml`."""

from __future__ import annotations

import datetime
import tomllib

import msgspec
import tomli_w

from services.archives.model import ArchiveKind
from services.errors import ArchiveDamaged

SCHEMA = 1
"""The version of the format; an archive of a newer one is refused."""


class Count(msgspec.Struct, frozen=True):
    """How many rows or files of one kind there were.

    Attributes:
        what: `memory`, `scopes`, `files`, `sessions` and the like.
        before: Found before the operation; -1 when nobody counted.
        exported: In the archive.
        purged: Removed afterwards; must never be more than `exported`.
    """

    what: str
    before: int
    exported: int
    purged: int


class StepResult(msgspec.Struct, frozen=True):
    """What came of one step of the operation.

    Attributes:
        state: done, skipped or failed.
        at: Nanoseconds since 1970; 0 when unknown.
    """

    name: str
    state: str
    detail: str = ""
    at: int = 0


class Reference(msgspec.Struct, frozen=True):
    """A reference to the agent that was dropped, so that a restore can offer it back.

    Attributes:
        file: The alias of the agent whose file it was in, or `pinfold.toml`.
        key: Dotted, such as `workspace.access.reviewer`.
        value: TOML of the value, such as `"read"`.
    """

    file: str
    key: str
    value: str


class KeptFile(msgspec.Struct, frozen=True):
    """One file of the archive.

    Attributes:
        items: Rows, files or sessions in it.
        size: Bytes.
    """

    name: str
    items: int
    size: int


class LeftOut(msgspec.Struct, frozen=True):
    """Something of the workspace that is not, or not surely, kept as it was."""

    name: str
    reason: str
    detail: str = ""


class About(msgspec.Struct, frozen=True):
    """The archive itself.

    Attributes:
        actor: Who asked for the operation.
        tools: Versions by name.
    """

    id: str
    kind: ArchiveKind
    actor: str
    started_at: datetime.datetime
    sealed_at: datetime.datetime
    tools: dict[str, str]


class AboutAgent(msgspec.Struct, frozen=True):
    """The agent as it was.

    Attributes:
        uuid: Its id in memory, or "".
        workspace: Where its workspace lay, or "".
        backend: Where its memory was, or "".
    """

    alias: str
    uuid: str = ""
    workspace: str = ""
    backend: str = ""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """All that an archive says of itself.

    Attributes:
        checksums: SHA-256 of `checksums.sha256`; the index keeps that of the manifest, so that the one vouches for the
            other and that for every file.
    """

    schema: int
    archive: About
    agent: AboutAgent
    checksums: str
    warnings: tuple[str, ...] = ()
    counts: tuple[Count, ...] = ()
    steps: tuple[StepResult, ...] = ()
    references: tuple[Reference, ...] = ()
    files: tuple[KeptFile, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def doubts(self) -> tuple[str, ...]:
        """What in its own figures does not fit together, a clause each."""
        lost = (
            f"{count.purged:,} {count.what} were purged and {count.exported:,} kept"
            for count in self.counts
            if count.purged > count.exported
        )
        missed = (
            f"{count.before:,} {count.what} were there and {count.exported:,} kept"
            for count in self.counts
            if count.before > count.exported
        )
        failed = (f"the step {step.name} failed" for step in self.steps if step.state == "failed")
        return (*lost, *missed, *failed)


class Sealing(msgspec.Struct, frozen=True, kw_only=True):
    """What the operation has to say when its archive is sealed."""

    counts: tuple[Count, ...] = ()
    steps: tuple[StepResult, ...] = ()
    references: tuple[Reference, ...] = ()
    warnings: tuple[str, ...] = ()


def encoded(manifest: Manifest) -> bytes:
    """Write a manifest as TOML."""
    return tomli_w.dumps(
        msgspec.to_builtins(manifest, builtin_types=(datetime.datetime,)), multiline_strings=False
    ).encode()


def decoded(data: bytes) -> Manifest:
    """Read a manifest.

    Raises:
        ArchiveDamaged: It is none, or of a newer format.
    """
    try:
        found = tomllib.loads(data.decode("utf-8"))
        if isinstance(found.get("schema"), int) and found["schema"] > SCHEMA:
            raise ArchiveDamaged(
                "cannot read the archive's manifest",
                why=f"it has the format {found['schema']}, this Pinfold knows {SCHEMA}",
                fix="Use a newer Pinfold, or tar and a text editor: its README says how.",
            )
        return msgspec.convert(found, Manifest)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError, RecursionError) as error:
        raise ArchiveDamaged("cannot read the archive's manifest", why=str(error)) from error
