"""Operations and archives as the JSON that verbs print; fields may be added, never renamed or removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from services.operations import Plan
from tui.verbs.documents import rfc3339

if TYPE_CHECKING:
    from services.archives import Archive, Comparison, Manifest, Verification
    from services.operations import Operation, Step


class StepDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One step of an operation."""

    number: int
    name: str
    subject: str
    text: str
    state: str
    detail: str
    started_at: str | None
    ended_at: str | None

    @classmethod
    def of(cls, step: Step) -> StepDocument:
        """Describe a step."""
        return cls(
            number=step.number,
            name=step.name,
            subject=step.subject,
            text=step.text,
            state=step.state,
            detail=step.detail,
            started_at=rfc3339(step.started_at),
            ended_at=rfc3339(step.ended_at),
        )


class OperationDocument(msgspec.Struct, frozen=True, kw_only=True):
    """An operation, as `operations list` gives it."""

    id: str
    kind: str
    alias: str
    target: str
    archive: str
    actor: str
    state: str
    retryable: bool
    committed: bool
    detail: str
    warnings: tuple[str, ...]
    created_at: str | None
    ended_at: str | None
    steps: tuple[StepDocument, ...]

    @classmethod
    def of(cls, operation: Operation) -> OperationDocument:
        """Describe an operation."""
        return cls(
            id=operation.id,
            kind=operation.kind,
            alias=operation.alias,
            target=operation.target,
            archive=operation.archive,
            actor=operation.by,
            state=operation.state.value,
            retryable=operation.state.retryable,
            committed=operation.committed,
            detail=operation.detail,
            warnings=operation.warnings,
            created_at=rfc3339(operation.created_at),
            ended_at=rfc3339(operation.ended_at),
            steps=tuple(map(StepDocument.of, operation.steps)),
        )


class PlanDocument(msgspec.Struct, frozen=True):
    """A plan, with whether it can be carried out."""

    plan: Plan
    allowed: bool

    @classmethod
    def of(cls, plan: Plan) -> PlanDocument:
        """Describe a plan."""
        return cls(plan, plan.allowed)


class ArchiveDocument(msgspec.Struct, frozen=True, kw_only=True):
    """An archive, as `archives list` gives it."""

    id: str
    path: str
    alias: str
    uuid: str
    kind: str
    state: str
    size: int
    created_at: str | None
    verified_at: str | None
    intact: bool | None
    problem: str

    @classmethod
    def of(cls, archive: Archive) -> ArchiveDocument:
        """Describe an archive."""
        return cls(
            id=archive.id,
            path=str(archive.path),
            alias=archive.alias,
            uuid=archive.uuid,
            kind=archive.kind.value,
            state=archive.state.value,
            size=archive.size,
            created_at=rfc3339(archive.created_at),
            verified_at=rfc3339(archive.verified_at),
            intact=archive.intact,
            problem=archive.problem,
        )


class ArchiveDetails(msgspec.Struct, frozen=True):
    """An archive with what its manifest says; that is as `manifest.toml` has it."""

    archive: ArchiveDocument
    manifest: Manifest | None = None
    files: tuple[str, ...] = ()


class FindingDocument(msgspec.Struct, frozen=True):
    """Something in an archive that is not as it was."""

    kind: str
    name: str
    why: str


class VerificationDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What verifying an archive found."""

    archive: str
    intact: bool
    files: int
    size: int
    at: str | None
    findings: tuple[FindingDocument, ...]

    @classmethod
    def of(cls, found: Verification) -> VerificationDocument:
        """Describe a verification."""
        findings = tuple(FindingDocument(one.kind.value, one.name, one.why) for one in found.findings)
        return cls(
            archive=found.archive,
            intact=found.intact,
            files=found.files,
            size=found.size,
            at=rfc3339(found.at),
            findings=findings,
        )


class ChangeDocument(msgspec.Struct, frozen=True):
    """A file or a row that differs."""

    what: str
    change: str


class ComparisonDocument(msgspec.Struct, frozen=True, kw_only=True):
    """An archive set against a living agent or another archive."""

    archive: str
    other: str
    same: bool
    config: str
    files: tuple[ChangeDocument, ...]
    rows: tuple[ChangeDocument, ...]
    same_files: int
    same_rows: int
    more_files: int
    more_rows: int
    not_compared: tuple[str, ...]

    @classmethod
    def of(cls, found: Comparison) -> ComparisonDocument:
        """Describe a comparison."""
        return cls(
            archive=found.archive,
            other=found.other,
            same=found.same,
            config=found.config,
            files=tuple(ChangeDocument(one.path, one.change.value) for one in found.files),
            rows=tuple(ChangeDocument(one.key, one.change.value) for one in found.rows),
            same_files=found.same_files,
            same_rows=found.same_rows,
            more_files=found.more_files,
            more_rows=found.more_rows,
            not_compared=(*(f"{one.name}: {one.reason.value}" for one in found.refused), *found.omitted),
        )
