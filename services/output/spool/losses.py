"""Says in words what could not be written, and why."""

from __future__ import annotations

import errno

UNKNOWN = "the output could not be written"

_REASONS = {errno.ENOSPC: "disk full", errno.EDQUOT: "disk quota reached", errno.EFBIG: "file size limit reached"}


def reason_of(error: OSError) -> str:
    """Why a file could not be written."""
    return _REASONS.get(error.errno or 0) or error.strerror or str(error)


def loss_text(lines: int, size: int, reason: str) -> str:
    """The remark that stands where output was lost."""
    return f"{lines:,} {'line' if lines == 1 else 'lines'} ({size:,} bytes) lost: {reason}"
