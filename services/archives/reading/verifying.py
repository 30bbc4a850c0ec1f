"""Every checksum of an archive recomputed."""

from __future__ import annotations

import os
import stat

from services.archives import layout
from services.archives.members import shown
from services.archives.reading.checksums import read_sums
from services.archives.reading.files import Folder
from services.archives.reading.model import Finding, FindingKind, Limits
from services.archives.working import Gauge
from services.archives.writing.files import sum_of


def verify(folder: Folder, expected: str, limits: Limits, gauge: Gauge) -> tuple[tuple[Finding, ...], int, int]:
    """Hash every file the archive names, and look for those it does not; blocks.

    Args:
        folder: The archive's.
        expected: SHA-256 of the manifest as the index has it; "" when it has none.
        limits: How large manifest and checksums may be.
        gauge: Told of files and bytes.

    Returns:
        What is not as it was, by name; how many files were read; their bytes.

    Raises:
        OSError: The archive's folders cannot be read.
    """
    sums = read_sums(folder, expected, limits)
    findings = list(sums.findings)
    there = {shown(name): (name, facts) for name, facts in folder.walk()}
    gauge.begin("verifying", total_items=len(there), total_size=sum(facts.st_size for _, facts in there.values()))
    for name, (raw, facts) in there.items():
        gauge.doing = name
        if name in layout.NOT_SUMMED:
            gauge.advance(items=1, size=facts.st_size)
        elif (expected_sum := sums.by_name.get(name)) is not None:
            findings.extend(_differences(folder, name, raw, expected_sum, gauge))
        else:
            what = "no checksum names it" if stat.S_ISREG(facts.st_mode) else "it is no file"
            findings.append(Finding(FindingKind.EXTRA, name, what))
    gone = sums.by_name.keys() - there.keys()
    findings.extend(Finding(FindingKind.MISSING, name, "it is named and not there") for name in gone)
    return tuple(sorted(findings, key=lambda finding: finding.name)), gauge.items, gauge.size


def _differences(folder: Folder, name: str, raw: str, expected: str, gauge: Gauge) -> list[Finding]:
    try:
        descriptor = folder.descriptor_of(raw)
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_SEQUENTIAL)
            found, _ = sum_of(descriptor, gauge)
        finally:
            os.close(descriptor)
    except OSError as error:
        return [Finding(FindingKind.UNREADABLE, name, error.strerror or str(error))]
    gauge.advance(items=1)
    return [] if found == expected else [Finding(FindingKind.DIFFERS, name, "its bytes are not those that were sealed")]
