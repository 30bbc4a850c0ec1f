"""Permissions, computed: what a sandbox sees and may use."""
