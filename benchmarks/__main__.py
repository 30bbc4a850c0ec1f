"""Run the measurements and print one table; the last lines are machine readable.

python -m benchmarks            every row that can run on this machine
python -m benchmarks NAME …     only these; options behind the names are theirs: kills --count 1000
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from benchmarks.result import PREFIX, Result, table


@dataclass(frozen=True)
class Measurement:
    """One module of this folder.

    Attributes:
        engine: Whether it needs a Docker Engine.
    """

    name: str
    module: str
    engine: bool


MEASUREMENTS = (
    Measurement("first-frame", "benchmarks.first_frame", engine=False),
    Measurement("pane", "benchmarks.pane", engine=False),
    Measurement("spool", "benchmarks.spool", engine=False),
    Measurement("policy", "benchmarks.policy", engine=False),
    Measurement("namespaces", "benchmarks.namespaces", engine=False),
    Measurement("recall", "benchmarks.recall", engine=False),
    Measurement("archives", "benchmarks.archives", engine=False),
    Measurement("operations", "benchmarks.operations", engine=False),
    Measurement("operation-keys", "benchmarks.operation_keys", engine=False),
    Measurement("kills", "benchmarks.kills", engine=False),
    Measurement("one-container", "benchmarks.one_container", engine=True),
    Measurement("hundred-containers", "benchmarks.hundred_containers", engine=True),
)


def main(arguments: list[str]) -> int:
    """Run the named measurements, each in a process of its own so that none warms up another."""
    names = [*takewhile(lambda argument: not argument.startswith("-"), arguments)]
    options = arguments[len(names) :]
    known = {measurement.name: measurement for measurement in MEASUREMENTS}
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"unknown measurement {unknown[0]}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    results: list[Result] = []
    failed: list[str] = []
    for measurement in [known[name] for name in names] or MEASUREMENTS:
        print(f"== {measurement.name}", flush=True)
        found, status = _run(measurement, options)
        results.extend(found)
        if status:
            failed.append(f"{measurement.name} ended with status {status}")
    print()
    print(table(results))
    for problem in failed:
        print(f"not measured: {problem}")
    print()
    for result in results:
        print(result.line())
    return 1 if failed else 0


def _run(measurement: Measurement, options: Sequence[str]) -> tuple[list[Result], int]:
    results: list[Result] = []
    command = [sys.executable, "-m", measurement.module, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(PREFIX):
                results.append(Result.parse(line))
            else:
                print(line, end="", flush=True)
    return results, process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
