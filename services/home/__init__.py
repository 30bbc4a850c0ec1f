"""Where everything lies on disk: the home's layout, whole-file writes, locks, the database, blocking calls."""

from services.home.blocking import BlockingCalls
from services.home.database import Database, connect, next_revision
from services.home.files import MISSING, FileText, Stamp, read_file, write_whole
from services.home.locks import FileLock
from services.home.paths import Home

__all__ = [
    "MISSING",
    "BlockingCalls",
    "Database",
    "FileLock",
    "FileText",
    "Home",
    "Stamp",
    "connect",
    "next_revision",
    "read_file",
    "write_whole",
]
