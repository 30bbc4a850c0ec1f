"""The small process that runs one sandbox's command, takes in its output, and outlives the screens.

A program of its own: it imports the standard library, `services.output`, and its own files by relative names only,
so that `supervise.py` can load it without the rest of Pinfold. The engine reads what it leaves through this package.
"""

from .orders import Answer, Command, Order
from .processes import Consumption, Process, consumption, identify, is_alive, open_process, send
from .record import RECORD_FILE, Record, RecordDamaged, read_record, write_record

__all__ = [
    "RECORD_FILE",
    "Answer",
    "Command",
    "Consumption",
    "Order",
    "Process",
    "Record",
    "RecordDamaged",
    "consumption",
    "identify",
    "is_alive",
    "open_process",
    "read_record",
    "send",
    "write_record",
]
