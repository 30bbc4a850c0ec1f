"""A session's output on the screen: followed live, searched, filtered, copied and saved.

pane        LogPane: what an operator may ask of it
searching   the part of it that searches, jumps and filters
following   the part of it that follows while it can be seen, and says how it stands
lines       the lines: follow or stay, scroll, select
canvas      draws the rows on screen, and the scroll bar
viewport    which rows are on screen, in plain numbers
rows        what is shown: all output, what passes a filter, one long line
sheet       rows near the screen, read and painted once
drawing     a row of the screen: gutter, line, what lies over it
painting    one line as strips, with colours, hits and wrapping
colours     an agent's colours made readable
gutter      signs of streams, and times
finding     one search: count, hits, which one this is
ask_bar     a line to type in, with choices
bars        what is asked: search, filter, save
info_line   the line below the output
copying     through the terminal, and what became of it
saving      to a file
"""

from tui.widgets.log_pane.pane import LogPane

__all__ = ["LogPane"]
