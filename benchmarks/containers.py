"""A throw-away home whose agent runs a container that counts lines; shared by the measurements on a real engine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from services.home import Home
from services.output import SpoolReader

ROOT = Path(__file__).resolve().parent.parent
IMAGE_BUILDER = ROOT / "tests" / "engine" / "build-test-image"
COMMAND = (sys.executable, "-c", "from tui.cli import main; main()")
"""`pinfold` of this checkout."""

_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
LINE = re.compile(rb"(?:^|\W)L(\d{8}) (\d+\.\d\d) ")
"""A line's number, and the uptime of the machine when it was written, seconds."""

# 120 bytes a line; every 20 ms as many as are due by the clock, so that the rate holds whatever the machine does.
_AT_A_RATE = """
BEGIN {
    getline < "/proc/uptime"; start = $1; close("/proc/uptime")
    pad = sprintf("%101s", ""); gsub(/ /, ".", pad)
    while (1) {
        getline < "/proc/uptime"; now = $1; close("/proc/uptime")
        due = (now - start) * RATE
        while (n < due) printf "L%08d %.2f %s\\n", n++, now, pad
        fflush(); system("usleep PAUSE")
    }
}
"""


def counting_command(rate: int, pause: float) -> list[str]:
    """The argv that prints numbered lines.

    Args:
        rate: Lines a second.
        pause: Seconds between two bursts.
    """
    program = _AT_A_RATE.replace("RATE", str(rate)).replace("PAUSE", str(int(pause * 1_000_000)))
    return ["awk", program]


@contextmanager
def counting_home(rate: int, pause: float) -> Iterator[Home]:
    """A home with one agent, `counter`, that prints numbered lines; its sandboxes are removed at the end."""
    image = subprocess.run([IMAGE_BUILDER], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory(prefix="pinfold-benchmark-") as place:
        home = Home(Path(place) / "home")
        folder = home.agent_dir("counter")
        (folder / "workspace").mkdir(parents=True)
        home.config_file.write_text('[risk_profiles.hardened]\nlevel = "supervised"\n')
        command = ", ".join(f"'''{word}'''" for word in counting_command(rate, pause))
        home.agent_file("counter").write_text(
            '[agent]\nrisk_profile = "hardened"\n\n[sandbox]\nrunner = "command"\nengine = "docker"\n'
            f'image = "{image}"\nlifecycle = "session"\noutput_limit = "4g"\ncommand = [{command}]\n'
        )
        try:
            yield home
        finally:
            for session in sorted(place.name for place in home.sessions_dir.glob("*")):
                pinfold(home, "sessions", "rm", "--force", session, check=False)


def pinfold(home: Home, *arguments: str, check: bool = True) -> str:
    """Run the command on a home and return what it printed."""
    command = [*COMMAND, "--home", str(home.root), *arguments]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=check).stdout.strip()


def cpu_seconds(process: int) -> float:
    """Processor time a process has used, its ended children included."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _CLOCK_TICKS


def resident_bytes(process: int) -> int:
    """Memory a process holds."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def uptime() -> float:
    """Seconds since the machine started, as the containers see them."""
    return float(Path("/proc/uptime").read_text().split()[0])


def lines_missing(home: Home, session: str) -> tuple[int, int]:
    """Count a session's lines, and those that are not where their number says."""
    reader = SpoolReader.open(home.session_dir(session) / "output")
    try:
        wrong = 0
        expected = 0
        rest = b""
        for piece in reader.raw():
            whole, newline, rest = (rest + piece).rpartition(b"\n")
            for line in whole.split(b"\n") if newline else ():
                wrong += int(line[1:9]) != expected
                expected += 1
        return expected, wrong
    finally:
        reader.close()
