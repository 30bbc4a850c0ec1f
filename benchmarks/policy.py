"""Time decisions about paths and commands, many rules, and rebuilding two hundred policies after a profile change.

Each beside the least that could be done instead: resolving the path, splitting the line into words, parsing the TOML.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import statistics
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.result import Result
from services.home import Home
from services.pinfold import Pinfold
from services.policy import Policies, Policy

AGENTS = 200
RULES = 10_000
TIMES = 3000

PATHS = ("src/main.py", "README.md", "docs/guide/start.md", "/etc/passwd", "~/.ssh/id_rsa", "../researcher/x")
COMMANDS = (
    "git status",
    "ls -la src",
    "git commit -m 'Fix the parser'",
    "cat README.md | grep -n usage",
    "cd src && git diff --stat > /dev/null 2>&1",
    "rm -rf build",
)


def main() -> int:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="pinfold-benchmark-") as place:
        for result in asyncio.run(_measure(Home(Path(place) / "home"))):
            print(result.line())
    return 0


async def _measure(home: Home) -> list[Result]:
    _write_home(home, rules=0)
    async with Pinfold.open(home, supervise=False) as pinfold:
        policy = pinfold.policies.of("agent_0")
        results = [
            _path_row("policy-path", policy, "<=50us", 50.0),
            _row(
                "policy-command",
                [partial(policy.command, line) for line in COMMANDS],
                [partial(shlex.split, line) for line in COMMANDS],
                "<=100us",
                100.0,
            ),
        ]
        results.append(await _rebuilding(home, pinfold))
    _write_home(home, rules=RULES)
    async with Pinfold.open(home, supervise=False) as pinfold:
        started = time.perf_counter()
        policy = pinfold.policies.of("agent_0")
        built = (time.perf_counter() - started) * 1000
        results.append(Result("policy-build-10000-rules", built, "ms", 0.0))
        results.append(_path_row("policy-path-10000-rules", policy, "<=50us", 50.0))
    return results


def _path_row(name: str, policy: Policy, target: str, limit: float) -> Result:
    workspace = str(policy.paths.workspace)
    return _row(
        name,
        [partial(policy.read, path) for path in PATHS],
        [partial(os.path.realpath, f"{workspace}/{path}") for path in PATHS],
        target,
        limit,
    )


def _row(
    name: str, asked: list[Callable[[], object]], plain: list[Callable[[], object]], target: str, limit: float
) -> Result:
    value, baseline = _median(asked), _median(plain)
    return Result(name, value, "us", baseline, target, value <= limit)


def _median(calls: list[Callable[[], object]]) -> float:
    """Microseconds a call, the median over all calls."""
    taken: list[float] = []
    for number in range(TIMES):
        call = calls[number % len(calls)]
        started = time.perf_counter()
        call()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken) * 1e6


async def _rebuilding(home: Home, pinfold: Pinfold) -> Result:
    """Change the profile and compute every policy anew."""
    text = home.config_file.read_text()
    home.config_file.write_text(text.replace('"git"', '"git", "hg"'))
    started = time.perf_counter()
    await pinfold.agents.load()
    _all(pinfold.policies)
    taken = (time.perf_counter() - started) * 1000
    files = [home.agent_file(f"agent_{number}") for number in range(AGENTS)]
    started = time.perf_counter()
    for file in files:
        tomllib.loads(file.read_text())
    baseline = (time.perf_counter() - started) * 1000
    return Result("policy-rebuild-200-agents", taken, "ms", baseline, "<=100ms", taken <= 100.0)


def _all(policies: Policies) -> None:
    for number in range(AGENTS):
        policies.of(f"agent_{number}")


def _write_home(home: Home, rules: int) -> None:
    home.root.mkdir(exist_ok=True)
    roots = "".join(f'  "/srv/data/{number}",\n' for number in range(rules))
    home.config_file.write_text(
        "[risk_profiles.hardened]\n"
        'allowed_commands = ["git", "ls", "cat", "grep", "cd", "rm"]\n'
        f'forbidden_paths = ["~/.ssh", "~/.aws", "/etc", "secret"]\nallowed_roots = [\n{roots}]\n'
        '\n[defaults.sandbox]\nrunner = "command"\n'
    )
    for number in range(AGENTS):
        alias = f"agent_{number}"
        (home.default_workspace(alias) / "src").mkdir(parents=True, exist_ok=True)
        home.agent_file(alias).write_text(
            '[agent]\nrisk_profile = "hardened"\ndescription = "Reviews pull requests"\n\n'
            '[permissions]\nallowed_domains = ["docs.example.org", "*.example.com"]\n\n'
            f'[workspace.access]\nagent_{(number + 1) % AGENTS} = "read"\n'
        )


if __name__ == "__main__":
    sys.exit(main())
