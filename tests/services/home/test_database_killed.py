"""What was acknowledged stays, whenever the process is killed."""

from __future__ import annotations

import signal

import pytest

from services.home import Home, connect
from tests.services.home.processes import SECONDS, start

WRITE = """
import asyncio, sys
from pathlib import Path
from services.home import Database, next_revision

async def main():
    async with Database(Path(sys.argv[1])) as database:
        async def draw():
            while True:
                drawn = await database.write(next_revision)
                print(drawn, flush=True)
        await asyncio.gather(*(draw() for _ in range(8)))

asyncio.run(main())
"""


@pytest.mark.parametrize("acknowledged", [1, 7, 64, 500])
def test_no_acknowledged_row_is_lost(home: Home, acknowledged: int) -> None:
    process = start(WRITE, home.database_file)
    assert process.stdout is not None
    for _ in range(acknowledged):
        assert process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    out, _ = process.communicate(timeout=SECONDS)
    told = [int(line) for line in out.split()[:-1]]  # the last line may be cut
    connection = connect(home.database_file)
    (value,) = connection.execute("SELECT value FROM counter").fetchone()
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    assert value >= max([acknowledged, *told])
