"""What in a program's output acts on a terminal."""

from __future__ import annotations

import re
from collections import Counter

_CONTROL = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    rb"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC, DCS, SOS, PM, APC with what they carry
    rb"|\x1b[^\[\]PX^_]?"  # any other escape
    rb"|\xc2[\x80-\x9f]"  # C1 in UTF-8
    rb"|[\x00-\x1f\x7f]"
)


def strange_controls(output: bytes, known: frozenset[bytes] = frozenset()) -> list[bytes]:
    """Everything in a program's output that acts on a terminal and is neither colour nor known.

    Args:
        output: What the program wrote.
        known: Shapes of controls (see `control_shapes`) that are fine, as those of an empty Textual app.
    """
    return sorted(shape for shape in control_shapes(output) if shape not in known and shape != b"\x1b[#m")


def control_shapes(output: bytes) -> Counter[bytes]:
    """Count the controls in a program's output by shape.

    A shape is the control with numbers replaced by `#`, but for private modes, whose number is what they do. Controls
    are escape sequences, bytes under 0x20, DEL, C1 characters in UTF-8, and bytes that are no UTF-8.
    """
    shapes: Counter[bytes] = Counter()
    for match in _CONTROL.finditer(output):
        control = match[0]
        if control.startswith(b"\x1b[?"):
            shapes[control] += 1
        else:
            shapes[re.sub(rb"[0-9][0-9;]*", b"#", control) if control.startswith(b"\x1b[") else control] += 1
    text = _CONTROL.sub(b"", output)
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        shapes[text[error.start : error.end]] += 1
    return Counter({b"\x1b[#m" if shape == b"\x1b[m" else shape: count for shape, count in shapes.items()})
