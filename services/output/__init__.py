"""A session's output on disk: written as it comes, indexed, searched, followed by many readers at once."""

from services.output.ansi import LineCleaner, Span, cell_width, clean_text
from services.output.demultiplexer import Demultiplexer
from services.output.levels import Level, level_of
from services.output.model import Chunk, Cursor, Line, Position, Stream
from services.output.search.filtered import FilteredLines
from services.output.search.matching import MatchProgress
from services.output.search.query import Filter, Query
from services.output.search.search import Search
from services.output.sgr import PLAIN, Color, TextStyle
from services.output.spool.reader import SpoolReader
from services.output.spool.writer import SpoolWriter

__all__ = [
    "PLAIN",
    "Chunk",
    "Color",
    "Cursor",
    "Demultiplexer",
    "Filter",
    "FilteredLines",
    "Level",
    "Line",
    "LineCleaner",
    "MatchProgress",
    "Position",
    "Query",
    "Search",
    "Span",
    "SpoolReader",
    "SpoolWriter",
    "Stream",
    "TextStyle",
    "cell_width",
    "clean_text",
    "level_of",
]
