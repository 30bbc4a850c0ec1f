"""One measured figure beside its baseline, and the target it is held against."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

PREFIX = "pinfold-bench "


@dataclass(frozen=True)
class Result:
    """One row.

    Attributes:
        row: What was measured, without spaces.
        unit: Of `value` and `baseline`.
        baseline: The other program, or the plain way, in the same run; 0 when there is none.
        target: What must hold, for people, without spaces; `-` when nothing is asked.
        holds: Whether it does.
    """

    row: str
    value: float
    unit: str
    baseline: float
    target: str = "-"
    holds: bool = True

    @property
    def ratio(self) -> float:
        """Value over baseline; 0 without a baseline."""
        return self.value / self.baseline if self.baseline else 0.0

    def line(self) -> str:
        """The row as a program reads it."""
        verdict = "holds" if self.holds else "misses"
        figures = f"{self.value:.6g} {self.unit} {self.baseline:.6g} {self.ratio:.4g}"
        return f"{PREFIX}{self.row} {figures} {self.target} {verdict}"

    @classmethod
    def parse(cls, line: str) -> Result:
        """Read back what `line` wrote."""
        row, value, unit, baseline, _ratio, target, verdict = line.removeprefix(PREFIX).split()
        return cls(row, float(value), unit, float(baseline), target, verdict == "holds")


def table(results: Iterable[Result]) -> str:
    """The rows as people read them."""
    head = ("what", "value", "unit", "baseline", "ratio", "target", "")
    rows = [head] + [
        (
            result.row,
            f"{result.value:,.4g}",
            result.unit,
            f"{result.baseline:,.4g}" if result.baseline else "–",
            f"{result.ratio:.3g}" if result.baseline else "–",
            result.target,
            "holds" if result.holds else "MISSES",
        )
        for result in results
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    aligned = [
        "  ".join(
            cell.ljust(width) if column in (0, 2, 5, 6) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(aligned)
