"""A session's output on disk: written as it comes, indexed, searched, followed by many readers at once."""

from services.output.demultiplexer import Demultiplexer
from services.output.model import Chunk, Cursor, Line, Position, Stream
from services.output.spool.reader import SpoolReader
from services.output.spool.writer import SpoolWriter

__all__ = ["Chunk", "Cursor", "Demultiplexer", "Line", "Position", "SpoolReader", "SpoolWriter", "Stream"]
