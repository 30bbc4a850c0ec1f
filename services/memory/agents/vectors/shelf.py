"""The vectors of one agent kept at hand between recalls; imported only where numpy is installed.

All of it happens on the database's reading thread, inside the caller's snapshot.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from services.memory.agents.vectors import rows
from services.memory.agents.vectors.rows import Coverage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from services.memory.agents.vectors.model import Vectors

PAGE = 2048
_MOST_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Scores:
    """How alike rows are to a query, in no order.

    Attributes:
        memories: The numbers of the rows.
        versions: The numbers of their vectors; a row whose vector has another by now was changed meanwhile.
        likeness: The cosine of the angle, from -1 to 1.
    """

    memories: NDArray[np.int64]
    versions: NDArray[np.int64]
    likeness: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Page:
    memories: NDArray[np.int64]
    versions: NDArray[np.int64]
    vectors: Vectors

    def __len__(self) -> int:
        return len(self.memories)


class Shelf:
    """The vectors of an agent in one space, as far as they were read; later ones are read when they are asked for.

    Args:
        agent: Its id.
        space: The number of the space.
        dimensions: How many numbers a vector has.
    """

    def __init__(self, agent: str, space: int, dimensions: int) -> None:
        self._agent = agent
        self._space = space
        self._dimensions = dimensions
        self._pages: list[_Page] = []
        self._read_to = 0

    def __len__(self) -> int:
        return sum(map(len, self._pages))

    @property
    def size(self) -> int:
        """Bytes of the vectors at hand."""
        return len(self) * self._dimensions * 4

    def fill(self, connection: sqlite3.Connection) -> bool:
        """Read one page more; tell whether there may be another."""
        read = rows.vectors_after(connection, self._agent, self._space, self._read_to, PAGE)
        if read:
            self._read_to = read[-1][0]
            self._keep(self._page_of(read))
        return len(read) == PAGE

    def tidy(self, live: int) -> None:
        """Begin anew when most of what is at hand is of rows that are gone or changed.

        Args:
            live: How many vectors there are.
        """
        if len(self) > 2 * live + PAGE:
            self._pages.clear()
            self._read_to = 0

    def scores(self, connection: sqlite3.Connection, query: Vectors) -> Scores:
        """Compare a vector with all there are; those that are not at hand are read and let go again."""
        memories, versions = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        likeness = [np.empty(0, np.float32)]
        for page in itertools.chain(self._pages, self._rest(connection)):
            memories.append(page.memories)
            versions.append(page.versions)
            likeness.append(np.einsum("ij,j->i", page.vectors, query))  # by no threads that wait for one another
        return Scores(np.concatenate(memories), np.concatenate(versions), np.concatenate(likeness))

    def _rest(self, connection: sqlite3.Connection) -> Iterator[_Page]:
        after = self._read_to
        while read := rows.vectors_after(connection, self._agent, self._space, after, PAGE):
            after = read[-1][0]
            yield self._page_of(read)

    def _page_of(self, read: rows.Numbered) -> _Page:
        whole = [one for one in read if len(one[2]) == 4 * self._dimensions]
        vectors = np.frombuffer(b"".join(one[2] for one in whole), dtype="<f4").reshape(len(whole), self._dimensions)
        return _Page(
            np.array([one[1] for one in whole], np.int64), np.array([one[0] for one in whole], np.int64), vectors
        )

    def _keep(self, page: _Page) -> None:
        """Put a page at the end, together with the last one as long as both are small."""
        if self._pages and len(self._pages[-1]) + len(page) <= PAGE:
            last = self._pages.pop()
            page = _Page(
                np.concatenate([last.memories, page.memories]),
                np.concatenate([last.versions, page.versions]),
                np.concatenate([last.vectors, page.vectors]),
            )
        if len(page):
            self._pages.append(page)


class Shelves:
    """The shelves used last.

    Args:
        most_bytes: So large all may be together; a shelf that has no room is read anew for every recall.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._shelves: OrderedDict[tuple[str, int], Shelf] = OrderedDict()
        self._counted: dict[tuple[str, int], tuple[int, Coverage]] = {}

    def coverage(self, connection: sqlite3.Connection, agent: str, space: int) -> Coverage:
        """Count the vectors of an agent, anew only where anybody has committed anything since."""
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        counted, found = self._counted.get((agent, space), (None, None))
        if found is None or counted != version:
            found = rows.coverage(connection, agent, space)
            self._counted[agent, space] = (version, found)
        return found

    def of(self, agent: str, space: int, dimensions: int) -> Shelf:
        """The shelf of an agent."""
        shelf = self._shelves.pop((agent, space), None) or Shelf(agent, space, dimensions)
        self._shelves[agent, space] = shelf
        return shelf

    def has_room(self, shelf: Shelf) -> bool:
        """Make room for another page of a shelf, by emptying those that were not used for longest."""
        while len(self._shelves) > 1 and self._size >= self._most_bytes:
            oldest = next(iter(self._shelves))
            if self._shelves[oldest] is shelf:
                break
            del self._shelves[oldest]
        return self._size < self._most_bytes

    @property
    def _size(self) -> int:
        return sum(shelf.size for shelf in self._shelves.values())
