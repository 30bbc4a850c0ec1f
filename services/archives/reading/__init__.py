"""Reads archives; whatever is in one may be hostile."""
