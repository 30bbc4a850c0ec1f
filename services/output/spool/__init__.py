"""The spool: one directory a session that holds its output, an index over it and its figures.

layout      names of the files, and what a record of the index and the figures look like
blocks      cuts what came into blocks, one record each
held        keeps back lines that have not ended
writer      appends, keeps to the limit, survives a full disk
repair      makes a spool whole again that a crash cut short
segment     one file of output with its index, for reading
segments    all of them as one run
reader      lines, raw bytes and times out of them
"""
