"""Where everything lies on disk: the home's layout, whole-file writes, locks, the database, blocking calls."""

from services.home.blocking import BlockingCalls
from services.home.condition import HomeCondition, examine
from services.home.database import Database, next_revision
from services.home.files import MISSING, FileText, Stamp, make_directory, read_file, write_whole
from services.home.locks import FileLock
from services.home.paths import Home
from services.home.sqlite import connect

__all__ = [
    "MISSING",
    "BlockingCalls",
    "Database",
    "FileLock",
    "FileText",
    "Home",
    "HomeCondition",
    "Stamp",
    "connect",
    "examine",
    "make_directory",
    "next_revision",
    "read_file",
    "write_whole",
]
