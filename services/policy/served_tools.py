"""The names of the tools that Pinfold itself serves to agents; rules about these are enforced, call by call."""

from __future__ import annotations

SERVED_TOOLS = frozenset(
    {
        *("memory_store", "memory_recall", "memory_get", "memory_list", "memory_count", "memory_forget"),
        *("core_memory_append", "core_memory_replace", "rethink", "core_memory_read"),
        *("archival_memory_insert", "archival_memory_search", "archival_memory_delete", "recall_memory_search"),
        *("namespace_get", "namespace_set", "namespace_delete", "namespace_keys", "namespace_incr"),
        *("namespace_push", "namespace_add_to_set", "namespace_pop", "namespace_pull", "namespace_items"),
        "file_write",
    }
)
