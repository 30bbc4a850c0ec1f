"""Finding lines in a spool: off the event loop, while it grows, in memory of one bit a line.

query           what to look for, and which lines to show
line_set        a set of line numbers with ranks
stretches       reads a spool in stretches of lines
matchers        tells which lines of a stretch match
regex_process   runs the operator's patterns in a process that can be ended
matching        goes through a spool once and keeps up with it
search          hits: count, next, ordinal
filtered        rows: only the lines that pass a filter
"""
