"""Editing a value: typed, checked, compared, saved, and held against what others changed meanwhile."""
