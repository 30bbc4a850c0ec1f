"""Kills renames and deletes with SIGKILL and counts what is lost: `python -m benchmarks kills --count 1000`.

Every kill is followed by a retry, and for a delete by a restore, in another process; then files, rows, references and
archives are compared with what they were.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.result import Result
from tests.support.kills import in_memory, killed

COUNT = 100


def main() -> int:
    """Kill, print what became of it, and exit with 1 when anything was lost."""
    options = argparse.ArgumentParser(prog="python -m benchmarks kills")
    options.add_argument("--count", type=int, default=COUNT, help="how many kills")
    options.add_argument("--seed", type=int, default=1, help="of the random moments")
    chosen = options.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pinfold-kills-", dir=in_memory()) as place:
        report = killed(Path(place), chosen.count, chosen.seed)
    seconds = time.monotonic() - began
    print(f"{report.kills} kills in {seconds:.0f} s, {len(report.losses)} losses")
    for outcome, number in report.outcomes.most_common():
        print(f"{number:>6}  {outcome}")
    for loss in report.losses:
        print(loss)
    lost = len(report.losses)
    print(Result("operations-killed", report.kills, "kills", 0).line())
    print(Result("operations-lost", lost, "losses", 0, "none", lost == 0).line())
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
