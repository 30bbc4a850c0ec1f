"""Follow a hundred containers at 20 lines a second each, beside a hundred `docker logs -f`."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import time

from benchmarks.containers import counting_home, cpu_seconds, lines_missing
from benchmarks.result import Result
from services.home import Home
from services.pinfold import Pinfold
from services.sandbox import StartRequest

CONTAINERS = 100
RATE = 20
SECONDS = 20.0
_AT_ONCE = 4
_SETTLE = 5.0


def main() -> int:
    """Measure and print."""
    if sys.argv[1:2] == ["follow"]:
        asyncio.run(_follow(Home.locate(sys.argv[2])))
        return 0
    with counting_home(RATE, 0.5) as home:
        print(f"starting {CONTAINERS} containers")
        sessions = asyncio.run(_start_all(home))
        share = _share_of([sys.executable, "-m", "benchmarks.hundred_containers", "follow", str(home.root)])
        docker = shutil.which("docker")
        baseline = _share_of_docker(docker, home) if docker else 0.0
        asyncio.run(_kill_all(home, sessions))
        counted = [lines_missing(home, session) for session in sessions]
    lines, wrong = sum(count for count, _ in counted), sum(wrong for _, wrong in counted)
    fewest = min(count for count, _ in counted)
    print(f"{lines:,} lines in {CONTAINERS} spools, {wrong} out of place, at least {fewest:,} in each")
    print(Result("hundred-containers-cpu", share, "cores", baseline, "<=0.15", share <= 0.15).line())
    print(Result("hundred-containers-lines-missing", wrong, "lines", float(lines), "0", wrong == 0).line())
    return 0


async def _start_all(home: Home) -> list[str]:
    room = asyncio.Semaphore(_AT_ONCE)

    async def start(pinfold: Pinfold) -> str:
        async with room:
            session = ""
            async for progress in pinfold.sandboxes.start(StartRequest("counter")):
                session = progress.session.id
            return session

    async with Pinfold.open(home, supervise=False) as pinfold:
        await pinfold.sandboxes.check_engines()
        return await asyncio.gather(*(start(pinfold) for _ in range(CONTAINERS)))


async def _kill_all(home: Home, sessions: list[str]) -> None:
    async with Pinfold.open(home) as pinfold:
        await pinfold.sandboxes.check_engines()
        for session in sessions:
            await pinfold.sandboxes.kill(session)
        for session in sessions:
            await pinfold.sandboxes.wait(session)


async def _follow(home: Home) -> None:
    async with Pinfold.open(home):
        await asyncio.Event().wait()


def _share_of(command: list[str]) -> float:
    with subprocess.Popen(command) as process:
        time.sleep(_SETTLE)
        started, used = time.monotonic(), cpu_seconds(process.pid)
        time.sleep(SECONDS)
        share = (cpu_seconds(process.pid) - used) / (time.monotonic() - started)
        process.terminate()
    return share


def _share_of_docker(docker: str, home: Home) -> float:
    label = f"label=pinfold.home={home.identity()}"
    found = subprocess.run([docker, "ps", "-q", "--filter", label], stdout=subprocess.PIPE, text=True, check=True)
    processes = [
        subprocess.Popen(
            [docker, "logs", "-f", "--tail", "1", container], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for container in found.stdout.split()
    ]
    try:
        time.sleep(_SETTLE)
        started, used = time.monotonic(), sum(cpu_seconds(process.pid) for process in processes)
        time.sleep(SECONDS / 2)
        return (sum(cpu_seconds(process.pid) for process in processes) - used) / (time.monotonic() - started)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
