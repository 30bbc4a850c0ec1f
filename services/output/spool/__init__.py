"""The spool: one directory a session that holds its output, an index over it and its figures.

layout          names of the files, and what a record of the index looks like
figures         what was dropped and lost, and whether all output is there
blocks          cuts what came into blocks, one record each
held            keeps back lines that have not ended
segment_writer  the segment that grows
losses          says what could not be written
retention       keeps to the limit
repair          makes a spool whole again that a crash cut short
writer          appends, and survives a full disk

segment         one file of output with its index, for reading
segments        all of them as one run
stretch         neighbouring blocks read at once
reader          lines, raw bytes and times out of them
"""
