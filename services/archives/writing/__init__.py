"""Writes archives, part by part."""
