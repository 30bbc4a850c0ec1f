"""Who vouches for what: the index for the manifest, that for the checksums, those for every other file."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from services.archives import layout
from services.archives.manifest import Manifest, decoded
from services.archives.reading.files import Folder, fault_of_name
from services.archives.reading.model import Finding, FindingKind, Limits
from services.errors import ArchiveDamaged

_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


@dataclass(frozen=True)
class Sums:
    """What an archive says its files are.

    Attributes:
        by_name: SHA-256 by the file's path; empty when the list is not the one the manifest vouches for.
        findings: What is wrong with manifest and list.
        manifest: None when it cannot be read.
    """

    by_name: dict[str, str]
    findings: tuple[Finding, ...]
    manifest: Manifest | None


def read_sums(folder: Folder, expected: str, limits: Limits) -> Sums:
    """Read manifest and checksums; blocks.

    Args:
        folder: The archive's.
        expected: SHA-256 of the manifest as the index has it; "" when it has none.
        limits: How large both may be.
    """
    findings: list[Finding] = []
    try:
        data = folder.read(layout.MANIFEST, limits.small_file)
    except ArchiveDamaged as error:
        return Sums({}, (_unread(folder, layout.MANIFEST, error),), None)
    if not expected:
        findings.append(Finding(FindingKind.UNPROVEN, layout.MANIFEST, "nothing in the index vouches for it"))
    elif hashlib.sha256(data).hexdigest() != expected:
        findings.append(Finding(FindingKind.DIFFERS, layout.MANIFEST, "it is not the one that was sealed"))
    try:
        manifest = decoded(data)
    except ArchiveDamaged as error:
        findings.append(Finding(FindingKind.DIFFERS, layout.MANIFEST, error.why))
        return Sums({}, tuple(findings), None)
    try:
        lines = folder.read(layout.CHECKSUMS, limits.small_file)
    except ArchiveDamaged as error:
        return Sums({}, (*findings, _unread(folder, layout.CHECKSUMS, error)), manifest)
    if hashlib.sha256(lines).hexdigest() != manifest.checksums:
        findings.append(Finding(FindingKind.DIFFERS, layout.CHECKSUMS, "it is not the one the manifest names"))
    return Sums(_parsed(lines, findings), tuple(findings), manifest)


def _unread(folder: Folder, name: str, error: ArchiveDamaged) -> Finding:
    kind = FindingKind.UNREADABLE if folder.has(name) else FindingKind.MISSING
    return Finding(kind, name, error.why)


def _parsed(lines: bytes, findings: list[Finding]) -> dict[str, str]:
    sums: dict[str, str] = {}
    for number, line in enumerate(lines.decode("utf-8", errors="backslashreplace").split("\n"), start=1):
        if not line:
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            findings.append(Finding(FindingKind.REFUSED, layout.CHECKSUMS, f"line {number:,} is no checksum"))
        elif fault := fault_of_name(found[2]):
            findings.append(Finding(FindingKind.REFUSED, found[2], fault))
        elif found[2] in sums or found[2] in layout.NOT_SUMMED:
            findings.append(Finding(FindingKind.REFUSED, found[2], f"line {number:,} names it once too often"))
        else:
            sums[found[2]] = found[1]
    return sums
