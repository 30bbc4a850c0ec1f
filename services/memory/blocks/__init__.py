"""What an agent always sees (core blocks), what it put away (its archive), and whose these are (tenants)."""

from services.memory.blocks.archive import Archive
from services.memory.blocks.core_blocks import CoreBlocks
from services.memory.blocks.core_memory import CoreMemory
from services.memory.blocks.letta import LettaTools, rendered
from services.memory.blocks.model import ENTRY_LIMIT, ArchiveEntry, Block, BlockText, HistoryEntry, Tenant
from services.memory.blocks.tenants import Tenants, derived_id

__all__ = [
    "ENTRY_LIMIT",
    "Archive",
    "ArchiveEntry",
    "Block",
    "BlockText",
    "CoreBlocks",
    "CoreMemory",
    "HistoryEntry",
    "LettaTools",
    "Tenant",
    "Tenants",
    "derived_id",
    "rendered",
]
